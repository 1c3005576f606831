/** Q, K and V of a text. */

import { embed } from "libattn/data";
import type { Input, Shape } from "../state/types";

export async function inputFromText(text: string, dim: number): Promise<Input> {
    const { x, tokens, rows } = await embed(text, dim);
    if (rows === 0) throw new Error("the text has no word in it");
    const shape: Shape = {
        batch: 1,
        heads: 1,
        kvHeads: 1,
        queries: rows,
        keys: rows,
        dim,
        valueDim: dim,
    };
    return { query: x, key: x, value: x, shape, tokens, nonfinite: countNonfinite(x) };
}

export function countNonfinite(array: Float32Array): number {
    let count = 0;
    for (const element of array) if (!Number.isFinite(element)) count++;
    return count;
}
