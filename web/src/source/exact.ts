/** Exact attention in double precision, straight from its formula: what errors are measured against. */

import type { Input, Problem } from "../types";

/**
 * The output of these rows, one after the other; row (b * heads + h) * queries + i is query i of head h
 * in batch b.
 */
export function exactRows(input: Input, problem: Problem, rows: readonly number[]): Float64Array {
    const { keys, valueDim } = input.shape;
    const out = new Float64Array(rows.length * valueDim);
    const weights = new Float64Array(keys);
    rows.forEach((row, i) => {
        const { first, last } = weigh(input, problem, row, weights);
        average(input, first, weights.subarray(0, last), out.subarray(i * valueDim));
    });
    return out;
}

/** Softmax over the keys that a row sees, `last` of them; its head's keys begin at key `first`. */
function weigh({ query, key, shape }: Input, problem: Problem, row: number, weights: Float64Array) {
    const { heads, kvHeads, queries, keys, dim } = shape;
    const scale = problem.scale === null ? 1 / Math.sqrt(dim) : Math.fround(problem.scale);
    const head = Math.floor(row / queries); // of all batches
    const kvHead =
        Math.floor(head / heads) * kvHeads + Math.floor((head % heads) / (heads / kvHeads));
    const first = kvHead * keys;
    const last = problem.causal ? Math.min(keys, (row % queries) + 1) : keys;

    let maximum = -Infinity;
    for (let j = 0; j < last; j++) {
        let dot = 0;
        for (let c = 0, q = row * dim, k = (first + j) * dim; c < dim; c++) {
            dot += (query[q + c] ?? NaN) * (key[k + c] ?? NaN);
        }
        weights[j] = scale * dot;
        if (scale * dot > maximum) maximum = scale * dot;
    }
    let sum = 0;
    for (let j = 0; j < last; j++) sum += weights[j] = Math.exp((weights[j] ?? NaN) - maximum);
    for (let j = 0; j < last; j++) weights[j] = (weights[j] ?? NaN) / sum;
    return { first, last };
}

/** The values' mean by the weights, added to `out`. */
function average({ value, shape }: Input, first: number, weights: Float64Array, out: Float64Array) {
    const { valueDim } = shape;
    weights.forEach((weight, j) => {
        for (let c = 0, v = (first + j) * valueDim; c < valueDim; c++) {
            out[c] = (out[c] ?? 0) + weight * (value[v + c] ?? NaN);
        }
    });
}
