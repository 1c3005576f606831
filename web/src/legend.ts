/** The colour scale that all heatmaps share, drawn with its values. */

import { colorize, type Theme } from "./colors";
import { element, find } from "./dom";
import { short } from "./format";

const steps = 256;
const stops = [0, 0.25, 0.5, 0.75, 1];

export interface LegendScale {
    max: number;
    /** From -max on, else from 0. */
    signed: boolean;
    /** There are values beyond the scale. */
    clipped: boolean;
}

export function drawLegend(figure: HTMLElement, scale: LegendScale, theme: Theme): void {
    const { max, signed, clipped } = scale;
    const canvas = find(figure, "canvas", HTMLCanvasElement);
    const from = signed ? -1 : 0;
    // Equal steps of colour: their values are squares, as shade() takes the root.
    const places = Array.from({ length: steps }, (_, i) => from + ((1 - from) * i) / (steps - 1));
    const values = Float32Array.from(places, (place) => Math.sign(place) * place * place);
    canvas.width = steps;
    canvas.height = 1;
    const image = new ImageData(steps, 1);
    colorize(values, 1, theme.palette, image.data);
    canvas.getContext("2d")?.putImageData(image, 0, 0);

    figure.querySelector(".ticks")?.remove();
    const labels = (signed ? [-1, -0.5, 0, 0.5, 1] : stops).map((place) => {
        const value = Math.sign(place) * place * place * max;
        const beyond = clipped && Math.abs(place) === 1 ? (place < 0 ? "≤ " : "≥ ") : "";
        const label = element("span", {}, beyond + short(value, 2));
        label.style.left = `${(100 * (place - from)) / (1 - from)}%`;
        return label;
    });
    figure.append(element("div", { className: "ticks" }, ...labels));
}
