/** Weights as small pictures without axes. */

import { colorize, type Theme } from "../colors";
import type { Grid } from "../types";

/** Weights as bare pixels, on the scale from 0 to 1. */
export function paintWeights(
    canvas: HTMLCanvasElement,
    { rows, columns, cells }: Pick<Grid, "rows" | "columns" | "cells">,
    theme: Theme,
): void {
    canvas.width = columns;
    canvas.height = rows;
    const image = new ImageData(columns, rows);
    colorize(cells, 1, "shared", theme.palette, image.data);
    canvas.getContext("2d")?.putImageData(image, 0, 0);
}

/** The weights of the first so many queries, and nothing for the others. */
export function firstRows({ cells, columns }: Grid, rows: number): Float32Array {
    return cells.map((weight, i) => (i < rows * columns ? weight : 0));
}
