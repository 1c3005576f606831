/** A mask from a file: of each query and key, whether the one sees the other. */

import type { Problem, Shape } from "../state/types";

export interface Mask {
    /** Of its own: what is computed by it is known by that, and links have it. */
    key: string;
    name: string;
    /** (batch, head, query, key) or the last of these; an axis of 1 is the same for all. */
    shape: number[];
    /** 0: hidden. */
    seen: Uint8Array;
    /** Does the browser keep it, under its key? */
    isKept?: boolean;
}

type Sizes = Pick<Shape, "batch" | "heads" | "queries" | "keys">;

/** Is it one of weights of these sizes? */
export function fits({ shape }: Mask, { batch, heads, queries, keys }: Sizes): boolean {
    if (shape.length < 1 || shape.length > 4 || shape.at(-1) !== keys) return false;
    const axes = [batch, heads, queries, keys].slice(-shape.length);
    return shape.every((size, i) => size === 1 || size === axes[i]);
}

/** Where the keys of a query begin; `head`: of all batches. */
export function rowOf({ shape }: Mask, { heads }: Sizes, head: number, query: number): number {
    const [keys = 0, queries = 1, ofHeads = 1, batches = 1] = shape.toReversed();
    const batch = batches === 1 ? 0 : Math.floor(head / heads);
    const ofHead = batch * ofHeads + (ofHeads === 1 ? 0 : head % heads);
    return (ofHead * queries + (queries === 1 ? 0 : query)) * keys;
}

/** The mask, without keys that are hidden from all. */
export function without({ shape, seen }: Mask, seenKeys: Uint8Array | null) {
    if (!seenKeys) return { data: seen, shape };
    const keys = seenKeys.length;
    return { data: seen.map((sees, i) => sees && (seenKeys[i % keys] ?? 0)), shape };
}

/** Problems with the same are the same. */
export function nameOf({ mask, ...rest }: Problem): string {
    return JSON.stringify([rest, mask?.key]);
}
