/** Rows of a head as they are looked at: their weights, and what a run has of them. */

import type { Shape } from "../state/types";
import { queriesToSee, type HeadRows } from "./look";

export const chunk = 1 << 19; // weights in a piece: some milliseconds

/** Rows of a head's weights. */
export interface Part {
    batch: number;
    head: number;
    first: number;
    count: number;
}

/** So many pairs of a query and a key at most. `out`: of all heads; `weigh`: gives a part's weights. */
export async function headRows(
    { heads, queries, keys, valueDim }: Shape,
    { batch, head }: Pick<Part, "batch" | "head">,
    pairs: number,
    out: Float32Array,
    weigh: (part: Part) => Promise<Float32Array> | Float32Array,
): Promise<HeadRows> {
    const seen = queriesToSee(queries, keys, pairs);
    const weights = new Float32Array(seen.length * keys);
    const isAll = seen.length === queries;
    const step = isAll ? Math.max(1, Math.floor(chunk / keys)) : 1;
    for (let i = 0; i < seen.length; i += step) {
        const count = Math.min(step, seen.length - i);
        weights.set(await weigh({ batch, head, first: seen[i] ?? 0, count }), i * keys);
    }
    const place = batch * heads + head;
    const at = seen.map((query) => place * queries + query);
    return { queries: seen, weights, out: gather(out, at, valueDim) };
}

/** Rows of so many numbers, one after the other. */
export function gather(out: Float32Array, rows: readonly number[], width: number): Float32Array {
    const gathered = new Float32Array(rows.length * width);
    rows.forEach((row, i) => gathered.set(out.subarray(row * width, (row + 1) * width), i * width));
    return gathered;
}
