/** The few lines that stand in for a framework. */

import { reasonOf } from "../engine/reason";
import { words } from "../words/words";

export function find<T extends Element>(root: ParentNode, selector: string, type: new () => T): T {
    const found = root.querySelector(selector);
    if (!(found instanceof type)) throw new Error(`the page has no ${type.name} at ${selector}`);
    return found;
}

export function element<Tag extends keyof HTMLElementTagNameMap>(
    tag: Tag,
    properties: Partial<HTMLElementTagNameMap[Tag]> = {},
    ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
}

/** The same of a picture. */
export function svg(tag: string, attributes: Record<string, string | number>): SVGElement {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag) as SVGElement;
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
    return made;
}

/** The page changes around what the reader looks at, which stays where it is. */
export function keepPlace(anchor: Element, change: () => void): void {
    const { top } = anchor.getBoundingClientRect();
    change();
    scrollBy({ top: anchor.getBoundingClientRect().top - top, behavior: "instant" });
}

/** A line of trouble: shown with its text, or hidden with none. */
export function showLine(line: HTMLElement, text: string | null): void {
    setText(line, text ?? "");
    line.hidden = !text;
}

/** The same text again is no change, for which a browser would lay out the page. */
export function setText(node: HTMLElement, text: string): void {
    if (node.textContent !== text) node.textContent = text;
}

/** A size that is set again is a new canvas to the browser. Is it one? */
export function resize(canvas: HTMLCanvasElement, width: number, height: number): boolean {
    if (canvas.width === width && canvas.height === height) return false;
    canvas.width = width;
    canvas.height = height;
    return true;
}

/** In the page's language, where the page has words for it. */
export function message(error: unknown): string {
    return words.ofLibrary(reasonOf(error));
}

/** Is it of something that is stale? */
export function isAbort(error: unknown): boolean {
    return error instanceof DOMException && error.name === "AbortError";
}
