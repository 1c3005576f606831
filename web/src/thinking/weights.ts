/** Weights as small pictures without axes. */

import { colorize, type Theme } from "../map/colors";
import type { Matrix, Table } from "../take/menu";
import type { Grid } from "../state/types";

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

/** Weights of all heads, (layer, head, query, key), with layers and heads numbered as pages say them: from 1. */
export function tableOfHeads(
    { numbers, shape }: Matrix,
    tokens: readonly string[],
): Pick<Table, "columns" | "rows"> {
    const [, heads = 1, queries = 1, keys = 1] = shape;
    const rows = Array.from(numbers, (weight, i) => {
        const [query, key] = [Math.floor(i / keys) % queries, i % keys];
        const place = Math.floor(i / keys / queries);
        const [layer, head] = [Math.floor(place / heads) + 1, (place % heads) + 1];
        return [layer, head, query, key, tokens[query] ?? "", tokens[key] ?? "", weight];
    });
    const names = ["query token", "key token"];
    return { columns: ["layer", "head", "query", "key", ...names, "weight"], rows };
}
