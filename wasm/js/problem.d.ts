/* What is to be solved: sizes, rules, element types and the settings of a backend. */
import type { Dtype, InputName, OutDtype } from "./arrays.js";

/** All sizes of a problem, each an integer of at least 1; `heads` is a multiple of `kvHeads`. */
export interface Sizes {
    readonly batch: number;
    readonly heads: number;
    readonly kvHeads: number;
    readonly queries: number;
    readonly keys: number;
    readonly dim: number;
    readonly valueDim: number;
}

/**
 * Which keys a query sees. `false` or "none": all. `true` or "top-left": query i sees keys j <= i.
 * "bottom-right": query i sees keys j <= i + keys - queries, so that the last query sees all.
 */
export type Causal = boolean | "none" | "top-left" | "bottom-right";

/**
 * What is to be solved, beside the sizes. Query i stands at key position p = past + i, or, where
 * causal is "bottom-right", at p = i + keys - queries (with key lengths: i + length - queries). Its
 * logits are S = softcap(scale * q.k_j) + bias_j - slope |p - j|, with softcap(x) = c tanh(x / c).
 */
export interface Rules {
    /** Id of a backend; "softmax", which does all of these, by default. */
    backend?: string | null | undefined;
    /** `false` by default. */
    causal?: Causal | null | undefined;
    /** Factor of the logits, finite; by default the backend's, 1/sqrt(dim) for softmax. */
    scale?: number | null | undefined;
    /** Keys before the first query, or, below 0, queries before the first key; 0 by default, and where causal is
     * "bottom-right". */
    past?: number | null | undefined;
    /** Keys seen to each side of a query's position; -1: all. All by default. */
    window?: readonly [left: number, right: number] | null | undefined;
    /** c of the logits' soft cap; 0, the default: none. */
    softcap?: number | null | undefined;
}

/** Element types: f16 and bf16 with softmax, linear and sparse, i8 with softmax and sparse. */
export interface Dtypes<D extends OutDtype = OutDtype, K extends Dtype = Dtype> {
    /** Of query and out; "f32" by default. */
    dtype?: D | null | undefined;
    /** Of key and value; `dtype` by default. */
    kvDtype?: K | null | undefined;
}

/** Parameters of a backend by name, as {@link Attn.backends} declares them. null: the default. */
export type Params = Readonly<Record<string, number | string | boolean | null | undefined>>;

/** Rules and the settings of a backend. */
export interface Settings extends Rules {
    /** Values outside their declared range are refused, never clamped. */
    params?: Params | null | undefined;
}

/**
 * Which logits or weights `scores` are: scale * q.k, the same after softcap, after bias and masks
 * (-Infinity where a key is not seen), or after softmax.
 */
export type ScoresMode = "raw" | "capped" | "masked" | "weights";

/** Options of {@link Attn.plan}. */
export interface PlanOptions<D extends OutDtype = OutDtype, K extends Dtype = Dtype>
    extends Settings, Dtypes<D, K> {
    /** 1 by default. */
    batch?: number | null | undefined;
    /** 1 by default. */
    heads?: number | null | undefined;
    /** `heads` by default; fewer: heads share keys and values (grouped-query attention). */
    kvHeads?: number | null | undefined;
    queries: number;
    /** `queries` by default (self-attention). */
    keys?: number | null | undefined;
    dim: number;
    /** `dim` by default. */
    valueDim?: number | null | undefined;
    /** The arrays that each run brings; none by default. */
    inputs?: readonly InputName[] | null | undefined;
    /** What {@link RunOptions.scores} gives; "raw" by default. */
    scoresMode?: ScoresMode | null | undefined;
}
