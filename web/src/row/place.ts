/** One query of one head, and its arrays. */

import type { Input, Problem } from "../types";

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
    /** Keys that the query sees: the first so many. */
    seen: number;
    keys: number;
    dim: number;
    valueDim: number;
    /** null: the backend's default. */
    scale: number | null;
}

export function headArrays(input: Input, problem: Problem, place: Place): HeadArrays {
    const { heads, kvHeads, queries, keys, dim, valueDim } = input.shape;
    const row = (place.batch * heads + place.head) * queries + place.query;
    const kvHead = place.batch * kvHeads + Math.floor(place.head / (heads / kvHeads));
    return {
        query: input.query.subarray(row * dim, (row + 1) * dim),
        key: input.key.subarray(kvHead * keys * dim, (kvHead + 1) * keys * dim),
        value: input.value.subarray(kvHead * keys * valueDim, (kvHead + 1) * keys * valueDim),
        seen: seenKeys(input, problem.causal, place),
        ...{ keys, dim, valueDim, scale: problem.scale },
    };
}

/** The first so many keys. */
function seenKeys({ shape }: Input, causal: boolean, { query }: Place): number {
    return causal ? Math.min(shape.keys, query + 1) : shape.keys;
}

/** Pairs of a query and a key that it sees, all heads together. */
export function seenPairs({ shape }: Input, causal: boolean): number {
    const { batch, heads, queries, keys } = shape;
    const early = causal ? Math.min(queries, keys) : 0; // query i sees i + 1 keys, and later ones all
    return batch * heads * ((early * (early + 1)) / 2 + (queries - early) * keys);
}

/** Of all heads of the place's batch: its query, and the keys that it sees. */
export function seenArrays(input: Input, causal: boolean, place: Place) {
    const { heads, kvHeads, queries, keys, dim, valueDim } = input.shape;
    const seen = seenKeys(input, causal, place);
    const { batch, query } = place;
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

/** Exact attention's weights: softmax over the keys that are seen. */
export function exactWeights(dots: Float64Array, { seen, dim, scale }: HeadArrays): Float64Array {
    const factor = scale ?? 1 / Math.sqrt(dim);
    const logits = dots.subarray(0, seen).map((dot) => factor * dot);
    const largest = logits.reduce((most, logit) => Math.max(most, logit), -Infinity);
    const weights = new Float64Array(dots.length);
    weights.set(logits.map((logit) => Math.exp(logit - largest)));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return weights.map((weight) => weight / sum);
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
