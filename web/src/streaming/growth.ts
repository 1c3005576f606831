/** Bytes that backends keep, by the tokens that have come. */

import { svg } from "../dom/dom";
import { bytes } from "../dom/format";
import type { Kept } from "./player";
import { words } from "../words/words";

const { streaming: told } = words;
const height = 160;
const margin = { left: 8, right: 80, top: 14, bottom: 20 };
const lineHeight = 14;
const usual = ["softmax", "linear", "sparse", "sketch"];

/** What backends keep, as far as a picture of it goes. */
export type Size = Pick<Kept, "backend" | "bytes"> & Partial<Pick<Kept, "state">>;

/** `played[t]`: after t tokens, where that is known; `marked`: the number of tokens that a line stands at. */
export function growth(
    played: readonly Size[][],
    total: number,
    width: number,
    marked: number | null = null,
): SVGElement {
    const known = played.flatMap((kept, token) => kept.map((each) => ({ ...each, token })));
    const most = Math.max(1, ...known.map((each) => each.bytes ?? 0));
    const x = (token: number) =>
        margin.left + ((width - margin.left - margin.right) * token) / total;
    const y = (size: number) =>
        height - margin.bottom - ((height - margin.top - margin.bottom) * size) / most;
    const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", class: "growth" });
    picture.ariaLabel = told.picture(bytes(most), total);
    picture.append(svg("line", { x1: x(0), x2: x(total), y1: y(0), y2: y(0) }));
    if (marked !== null)
        picture.append(svg("line", { x1: x(marked), x2: x(marked), y1: y(0), y2: margin.top }));
    const backends = [...new Set(known.map(({ backend }) => backend))].sort(byPlace);
    const names: { name: SVGElement; x: number; y: number }[] = [];
    backends.forEach((backend, i) => {
        const own = known.filter((each) => each.backend === backend && each.bytes !== null);
        const last = own.at(-1);
        if (!last) return;
        const line = (sizes: At[], name: string) => {
            const className = `${name} series-${i % 6}`;
            for (const run of neighbours(sizes)) {
                const points = run.map(({ token, size }) => `${x(token)},${y(size)}`).join(" ");
                const [{ token, size } = { token: 0, size: 0 }] = run;
                const dot = { cx: x(token), cy: y(size), r: 2, class: className };
                const isAlone = run.length === 1;
                picture.append(
                    isAlone ? svg("circle", dot) : svg("polyline", { points, class: className }),
                );
            }
        };
        line(
            own.map(({ token, bytes }) => ({ token, size: bytes ?? 0 })),
            "all",
        );
        const ofState = own.map(({ token, state = 0 }) => ({ token, size: state }));
        line(
            ofState.filter(({ size }) => size > 0),
            "state",
        );
        const end = { x: x(last.token), y: y(last.bytes ?? 0) };
        picture.append(svg("circle", { cx: end.x, cy: end.y, r: 3, class: `series-${i % 6}` }));
        const name = svg("text", {});
        name.textContent = backend;
        names.push({ name, x: end.x + 4, y: end.y + 4 });
        picture.append(name);
    });
    names.sort((a, b) => b.y - a.y);
    let free = height; // names make room for those below them
    for (const name of names) name.y = free = Math.min(name.y, free - lineHeight);
    free = 0; // and where that is none of the picture any more, for those above
    for (const name of names.toReversed()) name.y = free = Math.max(name.y, free + lineHeight);
    for (const { name, x, y } of names) {
        name.setAttribute("x", String(x));
        name.setAttribute("y", String(y));
    }
    const line = svg("text", { x: x(0), y: height - 5 });
    const dashed = known.some(({ state = 0 }) => state > 0) ? told.dashed : "";
    line.textContent = told.axes(total, bytes(most)) + dashed;
    picture.append(line);
    return picture;
}

/** In the order that panels have, by which colours go; those of plugins come last. */
function byPlace(one: string, other: string): number {
    const [a, b] = [one, other].map((id) => usual.indexOf(id) >>> 0);
    return (a ?? 0) - (b ?? 0);
}

interface At {
    token: number;
    size: number;
}

/** What came one after the other: between others nobody knows. */
function neighbours(sizes: readonly At[]): At[][] {
    const runs: At[][] = [];
    for (const each of sizes) {
        const run = runs.at(-1);
        if (run?.at(-1)?.token === each.token - 1) run.push(each);
        else runs.push([each]);
    }
    return runs;
}
