/** The heads that the page opens with, as its build has kept them. */

import { opening } from "#opening";
import type { Input } from "../state/types";

export function openingInput(): Input {
    const [batch, heads, rows, dim] = opening.shape;
    const [query, key, value] = opening.arrays.map(floats) as [
        Float32Array,
        Float32Array,
        Float32Array,
    ];
    const shape = { batch, heads, kvHeads: heads, queries: rows, keys: rows, dim, valueDim: dim };
    return { query, key, value, nonfinite: 0, tokens: opening.tokens, shape };
}

function floats(text: string): Float32Array {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Float32Array(bytes.buffer);
}
