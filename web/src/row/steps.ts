/** One row of a backend, step by step: numbers of every key, and what they add up to. */

import type { Input, Problem } from "../state/types";
import type { Ruling } from "../rules/exact";
import { distance, dotProducts, exactLogits, exactWeights, headArrays, mix } from "./place";
import type { HeadArrays, Place } from "./place";
import { isExact, logitsOf } from "./logits";
import type { Probe, State } from "./probe";

/** The numbers of one key, in the order in which they are computed. */
export interface KeySteps {
    key: number;
    /** q.k */
    dot: number;
    /** Does the backend's pattern keep it? null: it does not tell. */
    isKept: boolean | null;
    /** The backend's own logit; null: it has none, or the weight is 0 and does not tell it. */
    logit: number | null;
    /** What is divided by its sum: exp of the logit less the largest, or phi(q).phi(k); null: not told. */
    part: number | null;
    weight: number;
}

export interface Steps {
    place: Place;
    /** How the parts come about. */
    kind: "exponentials" | "products" | "weights";
    /** Of all keys that the query sees. */
    keys: KeySteps[];
    total: number;
    /** Largest logit, where there are some. */
    largest: number | null;
    /** Sum of the parts. */
    sum: number;
    ruling: Ruling;
    /** Of the key whose numbers are written out. */
    value: Float32Array;
    out: Float64Array;
    exact: Float64Array;
    exactWeights: Float64Array;
    /** How far `out` is from `exact`. */
    error: number;
    states: State[];
    /** What each feature of query and key adds to the key's logit or product; null: it is not told. */
    features: Float64Array | null;
}

export function stepsOf(input: Input, problem: Problem, place: Place, probe: Probe): Steps {
    const arrays = headArrays(input, problem, place);
    const { ruling, keys: total, value, valueDim } = arrays;
    const { weights, kept, lse, products, states } = probe;
    const dots = dotProducts(arrays);
    const exactOnes = exactWeights(dots, arrays);
    const out = mix(weights, arrays);
    const exact = mix(exactOnes, arrays);
    const logits = lse === null ? null : logitsOf(weights, lse, arrays, exactLogits(dots, arrays));
    const largest = logits && logits.reduce((most, logit) => Math.max(most, logit), ruling.sink);
    const all = Array.from({ length: total }, (_, key) => key);
    const keys = all
        .filter((key) => ruling.sees(place.query, key))
        .map((key): KeySteps => {
            const [weight = NaN, isKept = null] = [weights[key], kept?.[key]];
            const logit = logits?.[key] ?? null;
            const exponential =
                logit === null || largest === null ? null : Math.exp(logit - largest);
            return {
                ...{ key, dot: dots[key] ?? NaN, weight, isKept },
                logit: weight === 0 && isKept !== false ? null : logit,
                part: exponential ?? products?.[key] ?? null,
            };
        });
    const chosen = keys.find(({ key }) => key === place.key);
    const sink = logits ? ruling.sinkPart(largest ?? NaN) : 0;
    return {
        ...{ place, keys, total, largest, out, exact, states },
        kind: logits ? "exponentials" : products ? "products" : "weights",
        sum: keys.reduce((sum, { part }) => sum + (part ?? NaN), sink),
        ruling,
        value: value.subarray(place.key * valueDim, (place.key + 1) * valueDim),
        exactWeights: exactOnes,
        error: distance(out, exact),
        features: chosen ? (probe.features ?? logitParts(arrays, place.key, chosen)) : null,
    };
}

/** Of a logit that is the exact one: scale q_c k_c by columns c; null: the backend has another, or the rules add to it. */
function logitParts(
    { query, key, dim, ruling }: HeadArrays,
    place: number,
    { dot, logit }: KeySteps,
): Float64Array | null {
    const whole = ruling.scale * dot;
    if (logit === null || !isExact(logit, whole)) return null;
    return Float64Array.from({ length: dim }, (_, c) => {
        return ruling.scale * (query[c] ?? NaN) * (key[place * dim + c] ?? NaN);
    });
}

/** Keys as runs: [0, 3] are the first four. */
export function runsOf(keys: readonly KeySteps[]): [first: number, last: number][] {
    const runs: [number, number][] = [];
    for (const { key } of keys) {
        const run = runs.at(-1);
        if (run?.[1] === key - 1) run[1] = key;
        else runs.push([key, key]);
    }
    return runs;
}
