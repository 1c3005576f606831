/** A small picture of a head's weights. */

import { colorize, type Theme } from "../colors";
import type { HeadRows } from "./look";

const side = 48; // cells at most

/** On a scale of its own; each cell is a mean. */
export function thumbnail({ queries, weights }: HeadRows, theme: Theme): HTMLCanvasElement {
    const keys = weights.length / queries.length;
    const [perRow, perColumn] = [queries.length, keys].map((size) => Math.ceil(size / side));
    const [rows, columns] = [queries.length / (perRow ?? 1), keys / (perColumn ?? 1)].map(
        Math.ceil,
    );
    const canvas = document.createElement("canvas");
    canvas.width = columns ?? 1;
    canvas.height = rows ?? 1;
    const sums = new Float32Array(canvas.width * canvas.height);
    const counts = new Float32Array(sums.length);
    weights.forEach((weight, i) => {
        const row = Math.floor(Math.floor(i / keys) / (perRow ?? 1));
        const cell = row * canvas.width + Math.floor((i % keys) / (perColumn ?? 1));
        sums[cell] = (sums[cell] ?? 0) + weight;
        counts[cell] = (counts[cell] ?? 0) + 1;
    });
    const means = sums.map((sum, cell) => sum / (counts[cell] ?? 1));
    const most = means.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0);
    const image = new ImageData(canvas.width, canvas.height);
    colorize(means, most || 1, "own", theme.palette, image.data);
    canvas.getContext("2d")?.putImageData(image, 0, 0);
    return canvas;
}
