/** The heads that the page opens with, as its build has kept them. */

import { opening } from "#opening";
import type { Input } from "../state/types";

export function openingInput(): Input {
    const [batch, heads, rows, dim] = opening.shape;
    const numbers = floats(opening.planes.map(bytesOf));
    const size = batch * heads * rows * dim;
    const [query, key, value] = [0, 1, 2].map((array) =>
        numbers.slice(array * size, (array + 1) * size),
    ) as [Float32Array, Float32Array, Float32Array];
    const shape = { batch, heads, kvHeads: heads, queries: rows, keys: rows, dim, valueDim: dim };
    return { query, key, value, nonfinite: 0, tokens: opening.tokens, shape };
}

function bytesOf(text: string): Uint8Array {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** Of their first bytes, their second ones and so on. */
function floats(planes: readonly Uint8Array[]): Float32Array {
    const bytes = new Uint8Array(planes.length * (planes[0]?.length ?? 0));
    planes.forEach((plane, place) =>
        plane.forEach((byte, i) => (bytes[planes.length * i + place] = byte)),
    );
    return new Float32Array(bytes.buffer);
}
