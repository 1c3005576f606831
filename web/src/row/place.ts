/** One query of one head, and its arrays. */

import { Ruling, softmax } from "../rules/exact";
import type { Input, Problem } from "../state/types";

/** A query that is looked at closely, and the key whose numbers are written out. */
export interface Pin {
    query: number;
    key: number;
}

export interface Place extends Pin {
    batch: number;
    head: number;
}

/** Arrays of the place's head, which the input's are looked into for. */
export interface HeadArrays {
    /** Of the one query. */
    query: Float32Array;
    key: Float32Array;
    value: Float32Array;
    keys: number;
    dim: number;
    valueDim: number;
    ruling: Ruling;
    /** The query's place. */
    at: number;
}

export function headArrays(input: Input, problem: Problem, place: Place): HeadArrays {
    const { heads, kvHeads, queries, keys, dim, valueDim } = input.shape;
    const row = (place.batch * heads + place.head) * queries + place.query;
    const kvHead = place.batch * kvHeads + Math.floor(place.head / (heads / kvHeads));
    return {
        query: input.query.subarray(row * dim, (row + 1) * dim),
        key: input.key.subarray(kvHead * keys * dim, (kvHead + 1) * keys * dim),
        value: input.value.subarray(kvHead * keys * valueDim, (kvHead + 1) * keys * valueDim),
        ...{ keys, dim, valueDim, at: place.query },
        ruling: new Ruling(problem, input.shape, place.batch * heads + place.head),
    };
}

/** Pairs of a query and a key that it sees, all heads together; as plans count, which know no array's numbers. */
export function seenPairs({ shape }: Input, { causal, scale, window }: Problem): number {
    const ruling = new Ruling({ causal, scale, ...(window && { window }) }, shape, 0);
    return shape.batch * shape.heads * ruling.pairs(shape.queries);
}

/** Of all heads of the place's batch: its query, and the first keys, which it sees; null: it sees others. */
export function seenArrays(input: Input, problem: Problem, place: Place) {
    const { heads, kvHeads, queries, keys, dim, valueDim } = input.shape;
    const { batch, head, query } = place;
    const ruling = new Ruling(problem, input.shape, batch * heads + head);
    const [, seen] = ruling.range(query);
    if (!ruling.isPrefix || seen === 0) return null;
    const ofQueries = { heads, perHead: queries, first: batch * heads * queries + query, count: 1 };
    const ofKeys = { heads: kvHeads, perHead: keys, first: batch * kvHeads * keys, count: seen };
    return {
        query: gather(input.query, dim, ofQueries),
        key: gather(input.key, dim, ofKeys),
        value: gather(input.value, valueDim, ofKeys),
        seen,
    };
}

/** `count` rows from `first` on, and as many of each further head. */
interface Rows {
    heads: number;
    perHead: number;
    first: number;
    count: number;
}

function gather(array: Float32Array, width: number, { heads, perHead, first, count }: Rows) {
    const gathered = new Float32Array(heads * count * width);
    for (let head = 0; head < heads; head++) {
        const start = (first + head * perHead) * width;
        gathered.set(array.subarray(start, start + count * width), head * count * width);
    }
    return gathered;
}

/** q.k of all keys, in double precision. */
export function dotProducts({ query, key, keys, dim }: HeadArrays): Float64Array {
    return Float64Array.from({ length: keys }, (_, j) => {
        let dot = 0;
        for (let c = 0; c < dim; c++) dot += (query[c] ?? NaN) * (key[j * dim + c] ?? NaN);
        return dot;
    });
}

/** The logits of the keys, -Infinity of those that are not seen. */
export function exactLogits(dots: Float64Array, { ruling, at }: HeadArrays): Float64Array {
    return dots.map((dot, key) => (ruling.sees(at, key) ? ruling.logit(at, key, dot) : -Infinity));
}

/** Exact attention's weights, of all keys. */
export function exactWeights(dots: Float64Array, arrays: HeadArrays): Float64Array {
    return softmax(exactLogits(dots, arrays), arrays.ruling);
}

/** The values' sum by weights. */
export function mix(weights: ArrayLike<number>, { value, keys, valueDim }: HeadArrays) {
    const out = new Float64Array(valueDim);
    for (let j = 0; j < keys; j++) {
        const weight = weights[j] ?? NaN;
        if (weight === 0) continue; // a value that is not finite is not seen
        for (let c = 0; c < valueDim; c++)
            out[c] = (out[c] ?? 0) + weight * (value[j * valueDim + c] ?? NaN);
    }
    return out;
}

/** How far `out` is from `exact`, relative to that. */
export function distance(out: Float64Array, exact: Float64Array): number {
    const difference = out.map((number, c) => number - (exact[c] ?? NaN));
    return Math.hypot(...difference) / Math.hypot(...exact);
}
