import type {
    Dtype,
    Elements,
    Floats,
    Layout,
    NewTypes,
    OutDtype,
    Output,
    OwnInputArrays,
    OwnInputs,
    OwnOutputArrays,
    OwnResults,
    Written,
} from "./arrays.js";
import type { Dtypes, Params, Rules, Sizes } from "./problem.js";

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
    /** How many tokens it may get. */
    maxKeys: number;
    /** As a plan's; what is automatic by the number of keys takes `maxKeys` for that. */
    params?: Params | null | undefined;
    /**
     * Which arrays its calls bring: sinks, slopes (with causal or a window), and of the backend's own ({@link OwnInputs}); none by default. Those
     * with an axis of keys come with append(), all others with query().
     */
    inputs?: readonly ("sinks" | "slopes" | keyof OwnInputs)[] | null | undefined;
}

/** Of {@link StreamOptions} those whose backend has an lse for sure. */
export interface HasLse {
    backend?: "softmax" | "sparse" | "sketch" | null | undefined;
}

/** Options of {@link Stream.append}. */
export interface AppendOptions extends OwnInputArrays {
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
export interface QueryOptions<Out = unknown> extends OwnInputArrays, OwnOutputArrays {
    /** Written and returned instead of a new array; batch * heads * queries * valueDim elements. */
    out?: Out | null | undefined;
    /** Of query and out; "bhnd" by default. */
    layout?: Layout | null | undefined;
    /** For each head a logit more in the sum of weights, without a value; -Infinity: none. */
    sinks?: Floats | null | undefined;
    /** ALiBi's slope of each head. */
    slopes?: Floats | null | undefined;
}

/** The queries of {@link Stream.query}, and its options. */
export interface QueryCall<D extends OutDtype = "f32", Out = unknown> extends QueryOptions<Out> {
    /** batch * heads * queries * dim elements. */
    query: Elements<D>;
}

/** What {@link Stream.query} computed. The arrays are the caller's. */
export interface StreamResult<
    Out = Float32Array,
    Lse = Float32Array<ArrayBuffer>,
> extends OwnResults {
    /** As {@link RunResult.out}. */
    out: Out;
    /** As {@link RunResult.lse}; `null` with a backend that has none (linear). */
    lse: Lse;
    /** As {@link RunResult.degenerateRows}. */
    degenerateRows: number;
}

/**
 * What a backend keeps of tokens that arrive: a KV cache, which grows with them; with a window to the left
 * one that does not; linear a sum and the last append; sketch sketched keys. In the module until
 * dispose(), or as a {@link Plan} until it is dropped; any use after that throws an AttnError
 * "ATTN_ERROR_DISPOSED". A call that throws changes nothing.
 */
export interface Stream<
    D extends OutDtype = "f32",
    K extends Dtype = D,
    Lse = Float32Array<ArrayBuffer>,
> {
    /** The backend's id. */
    readonly backend: string;
    readonly sizes: Readonly<Omit<Sizes, "queries" | "keys"> & { maxKeys: number }>;
    /** How many tokens came, those that are no longer kept counted. */
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
     * is no error. An empty stream gives the same to all. Where tokens are no longer kept, as many
     * queries as the last append() had tokens are always answered, and those that see what is gone
     * are refused ("ATTN_ERROR_UNSUPPORTED").
     */
    query<Out extends Output<D> = NewTypes[D]>(
        call: QueryCall<D, Out>,
    ): StreamResult<Written<Out>, Lse>;
    query<Out extends Output<D> = NewTypes[D]>(
        query: Elements<D>,
        options?: QueryOptions<Out> | null | undefined,
    ): StreamResult<Written<Out>, Lse>;

    /** An independent copy, to be disposed by itself. */
    fork(): Stream<D, K, Lse>;

    /**
     * Forget all tokens from number `length` on. Where tokens are no longer kept: to 0, or as far back as what
     * the next one sees is kept, with linear to the last append (else "ATTN_ERROR_UNSUPPORTED").
     */
    truncate(length: number): this;

    /** The tokens as bytes. */
    save(): Uint8Array<ArrayBuffer>;

    /** Replace the tokens by those that a stream of the same sizes, backend and method saved. */
    restore(bytes: ArrayBuffer | ArrayBufferView): this;

    /** Give the memory back. A second call does nothing. */
    dispose(): void;
    [Symbol.dispose](): void;
}
