/** Small pictures of heads' weights. */

import { colorize, type Theme } from "../colors";
import type { HeadRows } from "./look";

const side = 48; // cells at most

/** A head's weights as so many means. */
export interface Small {
    rows: number;
    columns: number;
    means: Float32Array;
}

export function shrink({ queries, weights }: HeadRows): Small {
    const keys = weights.length / queries.length;
    const [perRow, perColumn] = [queries.length, keys].map((size) => Math.ceil(size / side));
    const rows = Math.ceil(queries.length / (perRow ?? 1));
    const columns = Math.ceil(keys / (perColumn ?? 1));
    const sums = new Float32Array(rows * columns);
    const counts = new Float32Array(sums.length);
    weights.forEach((weight, i) => {
        const row = Math.floor(Math.floor(i / keys) / (perRow ?? 1));
        const cell = row * columns + Math.floor((i % keys) / (perColumn ?? 1));
        sums[cell] = (sums[cell] ?? 0) + weight;
        counts[cell] = (counts[cell] ?? 0) + 1;
    });
    return { rows, columns, means: sums.map((sum, cell) => sum / (counts[cell] ?? 1)) };
}

/** On a scale of its own. */
export function paintSmall(canvas: HTMLCanvasElement, small: Small, theme: Theme): void {
    const { rows, columns, means } = small;
    canvas.width = columns;
    canvas.height = rows;
    const most = means.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0);
    const image = new ImageData(columns, rows);
    colorize(means, most || 1, "own", theme.palette, image.data);
    canvas.getContext("2d")?.putImageData(image, 0, 0);
}
