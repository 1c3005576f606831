/** Exact attention in double precision, straight from its formula: what errors are measured against. */

import type { HeadRows } from "../look/look";
import { nameOf } from "../rules/mask";
import { Ruling, softmax } from "../rules/exact";
import type { Input, Problem, Shape } from "../state/types";

/**
 * The output of these rows, one after the other; row (b * heads + h) * queries + i is query i of head h
 * in batch b.
 */
export function exactRows(input: Input, problem: Problem, rows: readonly number[]): Float64Array {
    const { shape } = input;
    const { batch, heads, queries, valueDim } = shape;
    const all = Array.from({ length: batch * heads }, (_, head) => head);
    const rulings = all.map((head) => new Ruling(problem, shape, head));
    const out = new Float64Array(rows.length * valueDim);
    rows.forEach((row, i) => {
        const ruling = rulings[Math.floor(row / queries)];
        if (!ruling) return;
        average(input, ruling, row, weigh(input, ruling, row), out.subarray(i * valueDim));
    });
    return out;
}

/** Weights and output of some queries of a head, which is counted over all batches. */
function exactHead(
    input: Input,
    problem: Problem,
    head: number,
    queries: readonly number[],
): HeadRows {
    const { queries: perHead, keys, valueDim } = input.shape;
    const ruling = new Ruling(problem, input.shape, head);
    const weights = new Float32Array(queries.length * keys);
    const out = new Float64Array(queries.length * valueDim);
    queries.forEach((query, i) => {
        const row = head * perHead + query;
        const found = weigh(input, ruling, row);
        const [from] = ruling.range(query);
        weights.set(found, i * keys + from);
        average(input, ruling, row, found, out.subarray(i * valueDim));
    });
    return { queries, weights, out };
}

/** Exact rows of the heads of an input, by what they are of: panels ask for the same ones. */
const exactOnes = new WeakMap<Input, Map<string, HeadRows>>();
const mostExact = 64; // that are kept

export function exactOnce(
    input: Input,
    problem: Problem,
    head: number,
    queries: readonly number[],
): HeadRows {
    const name = [nameOf(problem), head, queries.length].join(); // so many are always the same
    let heads = exactOnes.get(input);
    if (!heads || heads.size >= mostExact) exactOnes.set(input, (heads = new Map()));
    const exact = heads.get(name) ?? exactHead(input, problem, head, queries);
    heads.set(name, exact);
    return exact;
}

/** Of the keys in the ruling's range. */
function weigh({ query, key, shape }: Input, ruling: Ruling, row: number): Float64Array {
    const { queries, dim } = shape;
    const place = row % queries;
    const [from, to] = ruling.range(place);
    const first = firstKey(shape, row);
    const logits = Float64Array.from({ length: to - from }, (_, j) => {
        if (ruling.hides(place, from + j)) return -Infinity;
        let dot = 0;
        for (let c = 0, q = row * dim, k = (first + from + j) * dim; c < dim; c++) {
            dot += (query[q + c] ?? NaN) * (key[k + c] ?? NaN);
        }
        return ruling.logit(place, from + j, dot);
    });
    return softmax(logits, ruling);
}

/** The values' mean by the weights, added to `out`. What is hidden is not seen, even where it is not finite. */
function average(
    { value, shape }: Input,
    ruling: Ruling,
    row: number,
    weights: Float64Array,
    out: Float64Array,
): void {
    const { queries, valueDim } = shape;
    const query = row % queries;
    const [from] = ruling.range(query);
    const first = firstKey(shape, row) + from;
    weights.forEach((weight, j) => {
        if (ruling.hides(query, from + j)) return;
        for (let c = 0, v = (first + j) * valueDim; c < valueDim; c++) {
            out[c] = (out[c] ?? 0) + weight * (value[v + c] ?? NaN);
        }
    });
}

/** Where the keys of a row's head begin, counted from the first of all batches and heads. */
function firstKey({ heads, kvHeads, queries, keys }: Shape, row: number): number {
    const head = Math.floor(row / queries); // of all batches
    const kvHead = Math.floor((head % heads) / (heads / kvHeads));
    return (Math.floor(head / heads) * kvHeads + kvHead) * keys;
}
