/** The colour scale of the heatmaps, drawn with its values. */

import { colorize, valueAt, type ColourLaw, type Theme } from "./colors";
import { element, find } from "../dom/dom";
import { percent, short } from "../dom/format";
import { Drawn } from "./frame";

const steps = 256;
const stops = [0, 0.25, 0.5, 0.75, 1];
const signs = ["< 0", "0", "> 0"];

export interface LegendScale {
    max: number;
    /** From -max on, else from 0. */
    signed: boolean;
    law: ColourLaw;
    /** There are values beyond the scale. */
    clipped: boolean;
}

const drawn = new WeakMap<HTMLElement, Drawn>(); // by figure

export function drawLegend(figure: HTMLElement, scale: LegendScale, theme: Theme): void {
    const { signed, clipped, law } = scale;
    const before = drawn.get(figure) ?? new Drawn();
    drawn.set(figure, before);
    if (!before.changes(scale.max, signed, clipped, law, theme)) return;
    const max = law === "own" ? 1 : scale.max; // of each its own: they have no number in common
    const canvas = find(figure, "canvas", HTMLCanvasElement);
    const from = signed ? -1 : 0;
    const places = Array.from({ length: steps }, (_, i) => from + ((1 - from) * i) / (steps - 1));
    const isKept = law === "kept"; // three colours, or two
    const middles = signed ? [-2 / 3, 0, 2 / 3] : [0.25, 0.75];
    const signAt = (place: number) => Math.round((place * middles.length) / 2);
    const values = Float32Array.from(places, (place) =>
        isKept ? signAt(place) : valueAt(place, 1, law),
    ); // equal steps of colour
    canvas.width = steps;
    canvas.height = 1;
    const image = new ImageData(steps, 1);
    colorize(values, 1, law, theme.palette, image.data);
    canvas.getContext("2d")?.putImageData(image, 0, 0);

    figure.querySelector(".ticks")?.remove();
    const textOf = (place: number) => {
        if (isKept) return signs[1 + signAt(place)] ?? "";
        const value = valueAt(place, max, law);
        const beyond = clipped && Math.abs(place) === 1 ? (place < 0 ? "≤ " : "≥ ") : "";
        return beyond + (law === "own" ? percent(value) : short(value, 2));
    };
    const all = isKept ? middles : signed ? [-1, -0.5, 0, 0.5, 1] : stops;
    const marks = haveRoom(all.map(textOf)) ? all : all.filter((_, i) => i % 2 === 0);
    const labels = marks.map((place) => {
        const label = element("span", {}, textOf(place));
        label.style.left = `${(100 * (place - from)) / (1 - from)}%`;
        return label;
    });
    figure.append(element("div", { className: "ticks" }, ...labels));
}

const mostLetters = 34; // of all labels beside each other

function haveRoom(texts: readonly string[]): boolean {
    return texts.reduce((sum, text) => sum + text.length + 1, 0) <= mostLetters;
}
