/** Gives the reader files. */

import { element } from "../dom/dom";
import { float32Npy } from "../source/npy";
import type { Input } from "../state/types";

export type Arrays = Pick<Input, "query" | "key" | "value" | "shape">;

/** Q, K and V as .npy files: (batch, heads, rows, columns). */
export function saveArrays({ query, key, value, shape }: Arrays): void {
    const { batch, heads, kvHeads, queries, keys, dim, valueDim } = shape;
    saveArray("q.npy", query, [batch, heads, queries, dim]);
    saveArray("k.npy", key, [batch, kvHeads, keys, dim]);
    saveArray("v.npy", value, [batch, kvHeads, keys, valueDim]);
}

function saveArray(name: string, array: Float32Array, shape: readonly number[]): void {
    save(name, float32Npy(array, shape), "application/octet-stream");
}

export function save(name: string, data: BlobPart, type: string): void {
    const url = URL.createObjectURL(new Blob([data], { type }));
    element("a", { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), patience);
}

const patience = 10_000; // milliseconds that a browser has to begin with a file
