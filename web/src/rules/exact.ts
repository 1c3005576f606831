/** The rules of a problem by their formulas, in double precision: what exact attention goes by. */

import type { Problem, Shape } from "../state/types";
import { fits, rowOf } from "./mask";
import { visibleBytes } from "./arguments";
import { slopeOf } from "./rules";

/** Those of one head. Numbers that the library has as floats are floats here, too. */
export class Ruling {
    readonly scale: number;
    readonly softcap: number | null;
    readonly slope: number;
    /** A logit more in each sum; -Infinity: none. */
    readonly sink: number;
    #keys: number;
    #sides: readonly [left: number, right: number];
    /** Of each key; null: all are seen. */
    #seen: Uint8Array | null;
    /** null: there is none. */
    #mask: ((query: number, key: number) => boolean) | null = null;

    /** `head`: counted over all batches. */
    constructor(problem: Problem, shape: Shape, head: number) {
        const { causal, scale, window = [-1, -1], softcap, alibi, sink, length, hidden } = problem;
        const { keys, dim, heads } = shape;
        this.scale = scale === null ? 1 / Math.sqrt(dim) : Math.fround(scale);
        this.softcap = Math.fround(softcap ?? 0) || null; // one too small for a float is none
        this.slope = alibi === undefined ? 0 : Math.fround(slopeOf(alibi, head % heads));
        this.sink = sink === undefined ? -Infinity : Math.fround(sink);
        this.#keys = Math.min(keys, length ?? keys);
        const [left, right] = window.map((side) => (side < 0 ? Infinity : side));
        this.#sides = [left ?? Infinity, causal ? 0 : (right ?? Infinity)];
        this.#seen = hidden ? visibleBytes(hidden, keys) : null;
        const { mask } = problem;
        if (!mask || !fits(mask, shape)) return;
        const { seen } = mask;
        this.#mask = (query, key) => seen[rowOf(mask, shape, head, query) + key] !== 0;
    }

    /** Keys that a query sees are from the first of these to before the last, but for those hidden among them. */
    range(query: number): [from: number, to: number] {
        const [left, right] = this.#sides;
        const to = Math.min(this.#keys, query + right + 1);
        return [Math.min(to, Math.max(0, query - left)), to];
    }

    /** Of the keys in the query's range. */
    hides(query: number, key: number): boolean {
        return this.#seen?.[key] === 0 || this.#mask?.(query, key) === false;
    }

    sees(query: number, key: number): boolean {
        const [from, to] = this.range(query);
        return key >= from && key < to && !this.hides(query, key);
    }

    /** Of q.k, where the query sees the key. */
    logit(query: number, key: number, dot: number): number {
        return this.capped(this.scale * dot) - this.slope * Math.abs(query - key);
    }

    capped(logit: number): number {
        return this.softcap === null ? logit : this.softcap * Math.tanh(logit / this.softcap);
    }

    /** What the sink adds to a sum of exponentials of logits less the largest. */
    sinkPart(largest: number): number {
        return this.sink === -Infinity ? 0 : Math.exp(this.sink - largest);
    }

    /** Does a query see the first keys and no others? */
    get isPrefix(): boolean {
        return this.#sides[0] === Infinity && !this.#seen && !this.#mask;
    }

    /** Keys in the ranges of so many queries, all together. */
    pairs(queries: number): number {
        let pairs = 0;
        for (let query = 0; query < queries; query++) {
            const [from, to] = this.range(query);
            pairs += to - from;
        }
        return pairs;
    }
}

/** Shares of the sum of exponentials, of which the sink has one; zeros where there is no key. */
export function softmax(logits: Float64Array, ruling: Ruling): Float64Array {
    const largest = logits.reduce((most, logit) => Math.max(most, logit), ruling.sink);
    if (largest === -Infinity) return new Float64Array(logits.length);
    const parts = logits.map((logit) => Math.exp(logit - largest));
    const sum = parts.reduce((total, part) => total + part, ruling.sinkPart(largest));
    return parts.map((part) => part / sum);
}
