/** The legend of a figure as a part of its picture. */

import { svg } from "../dom/dom";

export interface Entry {
    mark: "line" | "points" | "bound" | "faint" | "area";
    label: string;
    /** As a style sheet has it. */
    color: string;
    hasBand?: boolean;
}

// In pixels.
const lineHeight = 17;
const [left, swatchWidth, gap, right] = [16, 24, 8, 16];
const fontSize = 12;
const letterWidth = 6.5; // at most on the whole

/** Below what ends at `top`, as wide as that; `height`: of the legend. */
export function legendBelow(
    entries: readonly Entry[],
    top: number,
    width: number,
): { group: SVGElement; height: number } {
    const group = svg("g", { "font-size": fontSize, "text-anchor": "start", fill: "var(--ink)" });
    const x = left + swatchWidth + gap;
    let y = top + lineHeight / 2;
    for (const entry of entries) {
        group.append(...swatch(entry, y));
        for (const line of linesOf(entry.label, (width - x - right) / letterWidth)) {
            const text = svg("text", { x, y, dy: "0.35em" });
            text.textContent = line;
            group.append(text);
            y += lineHeight;
        }
    }
    return { group, height: entries.length > 0 ? y - top : 0 };
}

function swatch({ mark, color, hasBand }: Entry, y: number): SVGElement[] {
    const area = { x: left, y: y - 6, width: swatchWidth, height: 12 };
    if (mark === "area") return [svg("rect", { ...area, fill: color, stroke: "var(--line)" })];
    const band = hasBand ? [svg("rect", { ...area, fill: color, "fill-opacity": 0.16 })] : [];
    if (mark === "points")
        return [...band, svg("circle", { cx: left + swatchWidth / 2, cy: y, r: 3, fill: color })];
    const line = svg("line", { x1: left, x2: left + swatchWidth, y1: y, y2: y, stroke: color });
    line.setAttribute("stroke-width", mark === "faint" ? "1" : "2");
    if (mark === "bound") line.setAttribute("stroke-dasharray", "6 4");
    return [...band, line];
}

/** Words in lines of so many letters, as far as they fit. */
function linesOf(text: string, most: number): string[] {
    const lines: string[] = [];
    for (const word of text.split(" ")) {
        const longer = `${lines.at(-1) ?? ""} ${word}`;
        if (lines.length > 0 && longer.length <= most) lines[lines.length - 1] = longer;
        else lines.push(word);
    }
    return lines;
}
