import type {
    Dtype,
    Elements,
    Floats,
    Layout,
    NewTypes,
    OutDtype,
    Output,
    Written,
} from "./arrays.js";
import type { Dtypes, Rules, Sizes } from "./problem.js";

/** Options of {@link Attn.stream}. Of the windows, those that need no causal have 0 to the right. */
export interface StreamOptions<D extends OutDtype = OutDtype, K extends Dtype = Dtype>
    extends Omit<Rules, "past">, Dtypes<D, K> {
    /** 1 by default. */
    batch?: number | null | undefined;
    /** 1 by default. */
    heads?: number | null | undefined;
    /** `heads` by default. */
    kvHeads?: number | null | undefined;
    dim: number;
    /** `dim` by default. */
    valueDim?: number | null | undefined;
    /** How many tokens it may hold; memory grows with those that it does hold. */
    maxKeys: number;
}

/** Options of {@link Stream.append}. */
export interface AppendOptions {
    /** Of key and value; "bhnd" by default. */
    layout?: Layout | null | undefined;
    /** Of tokens in i8, in the order (batch, kvHead, token), and needed then. */
    keyScales?: Floats | null | undefined;
    valueScales?: Floats | null | undefined;
}

/** The tokens of {@link Stream.append}, and its options. */
export interface AppendCall<K extends Dtype = "f32"> extends AppendOptions {
    /** batch * kvHeads * tokens * dim elements. */
    key: Elements<K>;
    /** batch * kvHeads * tokens * valueDim elements. */
    value: Elements<K>;
}

/** Options of {@link Stream.query}. */
export interface QueryOptions<Out = unknown> {
    /** Written and returned instead of a new array; batch * heads * queries * valueDim elements. */
    out?: Out | null | undefined;
    /** Of query and out; "bhnd" by default. */
    layout?: Layout | null | undefined;
}

/** The queries of {@link Stream.query}, and its options. */
export interface QueryCall<D extends OutDtype = "f32", Out = unknown> extends QueryOptions<Out> {
    /** batch * heads * queries * dim elements. */
    query: Elements<D>;
}

/** What {@link Stream.query} computed. The arrays are the caller's. */
export interface StreamResult<Out = Float32Array> {
    /** As {@link RunResult.out}. */
    out: Out;
    /** As {@link RunResult.lse}. */
    lse: Float32Array<ArrayBuffer>;
}

/**
 * Keys and values of tokens that arrive, kept in the module (a KV cache) until dispose(), or as a
 * {@link Plan} until it is dropped; any use after that throws an AttnError "ATTN_ERROR_DISPOSED". A call
 * that throws changes nothing.
 */
export interface Stream<D extends OutDtype = "f32", K extends Dtype = D> {
    /** The backend's id. */
    readonly backend: string;
    readonly sizes: Readonly<Omit<Sizes, "queries" | "keys"> & { maxKeys: number }>;
    /** How many tokens it holds. */
    readonly length: number;
    /** Of tokens, scratch memory and all. */
    readonly memoryBytes: number;

    /** Append tokens, as many as the arrays have. More than `maxKeys` in all are refused. */
    append(call: AppendCall<K>): this;
    append(key: Elements<K>, value: Elements<K>, options?: AppendOptions | null | undefined): this;

    /**
     * Answer the queries of the last tokens, as many as the array has. Each stands at its token's
     * position, where causal, window or not. Of more queries than tokens the first stand before the
     * first token: with causal or a window they see none, which gives zeros and an lse of -Infinity and
     * is no error. An empty stream gives the same to all.
     */
    query<Out extends Output<D> = NewTypes[D]>(call: QueryCall<D, Out>): StreamResult<Written<Out>>;
    query<Out extends Output<D> = NewTypes[D]>(
        query: Elements<D>,
        options?: QueryOptions<Out> | null | undefined,
    ): StreamResult<Written<Out>>;

    /** An independent copy, to be disposed by itself. */
    fork(): Stream<D, K>;

    /** Forget all tokens from number `length` on. */
    truncate(length: number): this;

    /** The tokens as bytes. */
    save(): Uint8Array<ArrayBuffer>;

    /** Replace the tokens by those that a stream of the same sizes saved. */
    restore(bytes: ArrayBuffer | ArrayBufferView): this;

    /** Give the memory back. A second call does nothing. */
    dispose(): void;
    [Symbol.dispose](): void;
}
