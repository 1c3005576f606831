/** Small pictures of heads' weights. */

import { colorize, type Theme } from "../map/colors";
import type { HeadRows } from "./look";

const side = 48; // cells at most

/** A head's weights as so many means. */
export interface Small {
    rows: number;
    columns: number;
    /** Rows and keys in a cell. */
    rowsPerCell: number;
    keysPerCell: number;
    means: Float32Array;
}

export function shrink({ queries, weights }: HeadRows): Small {
    const keys = weights.length / queries.length;
    const [rowsPerCell, keysPerCell] = [perCell(queries.length), perCell(keys)];
    const rows = Math.ceil(queries.length / rowsPerCell);
    const columns = Math.ceil(keys / keysPerCell);
    const sums = new Float32Array(rows * columns);
    const counts = new Float32Array(sums.length);
    weights.forEach((weight, i) => {
        const row = Math.floor(Math.floor(i / keys) / rowsPerCell);
        const cell = row * columns + Math.floor((i % keys) / keysPerCell);
        sums[cell] = (sums[cell] ?? 0) + weight;
        counts[cell] = (counts[cell] ?? 0) + 1;
    });
    const means = sums.map((sum, cell) => sum / (counts[cell] ?? 1));
    return { rows, columns, rowsPerCell, keysPerCell, means };
}

function perCell(size: number): number {
    return Math.ceil(size / side);
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
