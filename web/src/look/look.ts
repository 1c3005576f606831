/** A head looked at closely: rows of its weights and its output beside the exact ones. */

import { accuracyOf, rowErrors } from "../engine/accuracy";
import { droppedWeight, entropy, mean, meanDistance, topRecall } from "./measures";

/** Rows of a head. */
export interface HeadRows {
    queries: readonly number[];
    /** Of all keys, row by row. */
    weights: Float32Array;
    out: Float32Array | Float64Array;
}

/** What there is to know of a head; NaN: it has no such number. */
export interface Look {
    queries: readonly number[];
    /** Of all queries there are so many. */
    total: number;
    /** Of each row that was looked at; null: it has no size. */
    errors: (number | null)[];
    error: number;
    /** Means of the rows. */
    recall: number;
    dropped: number;
    entropy: number;
    distance: number;
}

/** `pairs`: of a query and a key, that are looked at at most. */
export function queriesToSee(queries: number, keys: number, pairs: number): number[] {
    const most = Math.max(8, Math.floor(pairs / keys));
    const step = Math.ceil(queries / most);
    const count = Math.ceil(queries / step);
    return Array.from({ length: count }, (_, i) => Math.min(queries - 1, i * step + (step >> 1)));
}

export function lookAt({ queries, weights, out }: HeadRows, exact: HeadRows, total: number): Look {
    const [keys, width] = [weights.length, out.length].map((size) => size / queries.length);
    const rows = queries.map((query, i) => {
        const [from, to] = [i * (keys ?? NaN), (i + 1) * (keys ?? NaN)];
        return { query, row: weights.subarray(from, to), truth: exact.weights.subarray(from, to) };
    });
    const [found, truth] = [Float32Array.from(out), Float64Array.from(exact.out)];
    return {
        ...{ queries, total, errors: rowErrors(found, truth, width ?? NaN) },
        error: accuracyOf(found, truth, width ?? NaN, total).error,
        recall: mean(rows.map(({ row, truth }) => topRecall(row, truth))),
        dropped: mean(rows.map(({ row, truth }) => droppedWeight(row, truth))),
        entropy: mean(rows.map(({ row }) => entropy(row))),
        distance: mean(rows.map(({ row, query }) => meanDistance(row, query))),
    };
}
