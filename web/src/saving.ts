/** Gives the reader files. */

import { element } from "./dom";
import { writeNpy } from "./source/npy";
import type { Input } from "./types";

/** Q, K and V as .npy files: (batch, heads, rows, columns). */
export function saveArrays({ query, key, value, shape }: Input): void {
    const { batch, heads, kvHeads, queries, keys, dim, valueDim } = shape;
    save("q.npy", query, [batch, heads, queries, dim]);
    save("k.npy", key, [batch, kvHeads, keys, dim]);
    save("v.npy", value, [batch, kvHeads, keys, valueDim]);
}

function save(name: string, array: Float32Array, shape: number[]): void {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const url = URL.createObjectURL(new Blob([writeNpy("<f4", false, shape, bytes)]));
    element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), patience);
}

const patience = 10_000; // milliseconds that a browser has to begin with a file
