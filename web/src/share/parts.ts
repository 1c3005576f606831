/** Parts of the page that an embedded one may be without. */

import { element, find } from "../dom/dom";
import { words } from "../words/words";

export const { parts } = words.share;
export type Part = keyof typeof parts;

export const allParts = Object.keys(parts) as Part[];

/** What an embedded page is without where its link says no more. */
export const usuallyWithout: readonly Part[] = ["header", "presets", "input", "more", "footer"];

/** One picture, and its colours. */
export const alone: readonly Part[] = allParts.filter((part) => part !== "legends");

/** null: the page is not embedded. */
export function readWithout(query: URLSearchParams): Part[] | null {
    if (query.has("view")) return [...alone];
    if ((query.get("embed") ?? "0") === "0") return null;
    const named = query.get("without")?.split(",") ?? usuallyWithout;
    return allParts.filter((part) => named.includes(part));
}

/** `enlarged`: the backend whose picture is large. */
export function writeWithout(
    query: URLSearchParams,
    without: readonly Part[] | null,
    enlarged: string,
): void {
    query.delete("embed");
    query.delete("without");
    query.delete("view");
    if (!without) return;
    if (without.join() === alone.join()) {
        query.delete("enlarged");
        return query.set("view", enlarged);
    }
    query.set("embed", "1");
    if (without.join() !== usuallyWithout.join()) query.set("without", without.join());
}

/** Folds that are closed as the page opens are what it has folded away. */
export function leaveOutFolds(): void {
    for (const fold of document.querySelectorAll<HTMLDetailsElement>("details.fold"))
        fold.classList.toggle("left-out", !fold.open);
}

/** Show the page without these, and a way to the whole of it. */
export function showWithout(without: readonly Part[] | null): void {
    for (const part of without ?? []) document.body.classList.add(`without-${part}`);
    document.body.classList.toggle("embedded", without !== null);
    if (without?.includes("header")) keepHeading();
    leaveOutFolds();
}

/** The header had it, and those who cannot see the frame jump to it. */
function keepHeading(): void {
    const heading = element("h1", { className: "hidden" }, document.title);
    find(document, "main", HTMLElement).prepend(heading);
}
