import type { Elements, Floats, Halves, Layout } from "./arrays.js";
import type { Dtypes, Rules, Sizes } from "./problem.js";

/** Options of {@link Attn.stream}. Of the windows, those that need no causal have 0 to the right. */
export interface StreamOptions extends Omit<Rules, "past">, Dtypes {
    /** 1 by default. */
    batch?: number | undefined;
    /** 1 by default. */
    heads?: number | undefined;
    /** `heads` by default. */
    kvHeads?: number | undefined;
    dim: number;
    /** `dim` by default. */
    valueDim?: number | undefined;
    /** How many tokens it may hold; memory grows with those that it does hold. */
    maxKeys: number;
}

/** Options of {@link Stream.append}. */
export interface AppendOptions {
    /** Of key and value; "bhnd" by default. */
    layout?: Layout | undefined;
    /** Of tokens in i8, in the order (batch, kvHead, token), and needed then. */
    keyScales?: Floats | undefined;
    valueScales?: Floats | undefined;
}

/** What {@link Stream.query} computed. The arrays are the caller's. */
export interface StreamResult<Out = Float32Array> {
    /** As {@link RunResult.out}. */
    out: Out;
    /** As {@link RunResult.lse}. */
    lse: Float32Array;
}

/**
 * Keys and values of tokens that arrive, kept in the module (a KV cache) until dispose(); any use
 * after that throws an AttnError "ATTN_ERROR_DISPOSED". A call that throws changes nothing.
 */
export interface Stream<Out = Float32Array> {
    /** The backend's id. */
    readonly backend: string;
    readonly sizes: Readonly<Omit<Sizes, "queries" | "keys"> & { maxKeys: number }>;
    /** How many tokens it holds. */
    readonly length: number;
    /** Of tokens, scratch memory and all. */
    readonly memoryBytes: number;

    /**
     * Append tokens, as many as the arrays have: batch * kvHeads * tokens * dim and batch * kvHeads *
     * tokens * valueDim elements. More than `maxKeys` in all are refused.
     */
    append(key: Elements, value: Elements, options?: AppendOptions): this;

    /**
     * Answer the queries of the last tokens, as many as the array has: batch * heads * queries * dim
     * elements. Each stands at its token's position, where causal, window or not. An empty stream
     * gives zeros and an lse of -Infinity.
     */
    query(
        query: Floats | Halves,
        options?: { out?: Floats | Halves | undefined; layout?: Layout | undefined },
    ): StreamResult<Out>;

    /** An independent copy, to be disposed by itself. */
    fork(): Stream<Out>;

    /** Forget all tokens from number `length` on. */
    truncate(length: number): this;

    /** The tokens as bytes. */
    save(): Uint8Array;

    /** Replace the tokens by those that a stream of the same sizes saved. */
    restore(bytes: ArrayBuffer | ArrayBufferView): this;

    /** Give the memory back. A second call does nothing. */
    dispose(): void;
    [Symbol.dispose](): void;
}
