/**
 * libattn/worker: the library in a web worker or a worker thread. Calls can be waited for, watched and
 * stopped, and nothing else stands still meanwhile.
 *
 * ```js
 * import { init } from "libattn/worker";
 * const attn = await init();
 * const stop = new AbortController();
 * const out = await attn.attention(q, k, v, {
 *     ...{ heads: 8, dim: 64, signal: stop.signal },
 *     onProgress: (done) => console.log(`${Math.round(100 * done)} %`),
 * });
 * attn.dispose();
 * ```
 *
 * It is the interface of libattn with promises. Calls run one after the other; for more at a time, make
 * more workers. Arrays are copied as a call is made, unless they are of shared memory, and results are
 * moved back. Plans, streams and {@link Tensor}s are held in the worker: until dispose(), or until garbage
 * is collected and nobody has them any more. What is wrong with arguments is the same error as without a
 * worker, and rejects.
 *
 * An aborted call rejects at once. Where nothing is held the worker ends with it, and the next call starts
 * another. Where something is held it stays as it is, and the next call begins when the aborted one has
 * finished, of attention() its next key/value head. A worker that ends by itself takes with it what it held:
 * that is "ATTN_ERROR_DISPOSED" from then on, and "ATTN_ERROR_LOAD" of the call that ran.
 */
import type * as full from "./index.js";

export { AttnError } from "./index.js";
export type * from "./index.js";

/** What calls in the worker can have besides. */
export interface WorkerOptions {
    /** Ends the call at once: it rejects with the signal's reason. */
    signal?: full.SignalLike | null | undefined;
}

/** The same of {@link Attn.attention}. */
export interface LongOptions extends WorkerOptions {
    /**
     * Called with the part that is done, up to 1: after each key/value head in the layout "bhnd", and
     * at the end alone where the heads cannot be told apart (the layout "bnhd", backend "sketch"). Where
     * it throws, the call ends and rejects with that.
     */
    onProgress?: ((done: number) => void) | null | undefined;
}

/** What {@link Plan.run} can have besides. */
export interface RepeatOptions extends WorkerOptions {
    /** Run so often; 1 by default. For {@link TimedResult.milliseconds}. */
    repeats?: number | null | undefined;
}

/** What {@link Plan.run} computed. */
export interface TimedResult<
    Out = Float32Array,
    Lse = Float32Array | null,
    Scores = Float32Array | null,
> extends full.RunResult<Out, Lse, Scores> {
    /** How long one run took in the worker. */
    milliseconds: number;
}

/** Elements in the worker's memory: calls are given its place, and no copy. */
export interface Tensor<Data = Float32Array>
    extends Disposable, Pick<full.Tensor, "dtype" | "length" | "shape"> {
    /** A copy of its elements. */
    read(): Promise<Data>;
    /** Replaces them by as many others. */
    write(elements: ArrayInput<Data>): Promise<void>;
}

/** As {@link full.Shaped}, and no tensor of another entry, which has its elements elsewhere. */
export type Shaped<Data> = full.Shaped<Data> & { readonly dispose?: never };

/** Elements of a class of arrays: to be copied, in the worker's memory, or with a shape. */
export type ArrayInput<Data> = Data | Tensor<Data> | Shaped<Data | Tensor<Data>>;

/** An array of a {@link Dtype} that is read or written. */
export type Elements<D extends full.Dtype = full.Dtype> = D extends full.Dtype
    ? ArrayInput<full.ArrayTypes[D]>
    : never;

/** An array that the results of a call are written to, or a new one. */
export type Output<D extends full.OutDtype> = ArrayInput<full.ArrayTypes[D]> | full.NewTypes[D];

/** What is returned for it: a tensor is itself. */
export type Written<Out> =
    Out extends Tensor<infer Data>
        ? Tensor<Data>
        : Out extends { readonly data: infer Data }
          ? Written<Data>
          : Out;

/** How a result beside `out` is asked for: `true`, or where to write it. */
export type Asking = boolean | ArrayInput<Float32Array>;

/** What is returned for it: `null` where it was not asked for, and a tensor is itself. */
export type Asked<Ask> = Ask extends false | null | undefined
    ? null
    : Ask extends boolean | string
      ? Float32Array
      : Written<Ask>;

/** What a call can be given for what the same call without a worker can: tensors are the worker's. */
export type Sent<T> =
    T extends full.Tensor<infer Data>
        ? Tensor<Data>
        : T extends full.Shaped<infer Data>
          ? Shaped<Sent<Data>>
          : T;

/** The same for all options of a call but for these. */
export type SentBut<Options, Names extends string> = {
    [Name in keyof Options as Exclude<Name, Names>]: Sent<Options[Name]>;
};

/** The arrays of each call, and where its result goes. */
export interface QueryArray<D extends full.OutDtype> {
    query: Elements<D>;
}
export interface KeyArray<K extends full.Dtype> {
    key: Elements<K>;
}
export interface ValueArray<K extends full.Dtype> {
    value: Elements<K>;
}
export interface OutArray<Out> {
    /** Written and returned instead of a new array. */
    out?: Out | null | undefined;
}
/** Results beside it. */
export interface AskedArrays<Lse, Scores> {
    /** `true`, or where to write it: return the rows' log-sum-exp. */
    lse?: Lse | null | undefined;
    /** The same for the scores. */
    scores?: Scores | null | undefined;
}

type Placed = "query" | "key" | "value" | "out" | "lse" | "scores";
type Settled = "dtype" | "kvDtype";

/** As {@link full.RunOptions}. */
export type RunOptions<
    D extends full.OutDtype,
    K extends full.Dtype,
    Out,
    Lse = Asking,
    Scores = Asking,
> = SentBut<full.RunOptions, Placed> &
    QueryArray<D> &
    KeyArray<K> &
    ValueArray<K> &
    OutArray<Out> &
    AskedArrays<Lse, Scores>;

/** As {@link full.AttentionOptions}. */
export type AttentionOptions<D extends full.OutDtype, K extends full.Dtype, Out> = SentBut<
    full.AttentionOptions,
    Placed | Settled
> &
    full.Dtypes<D, K> &
    OutArray<Out>;

/** As {@link full.AttentionCall}. */
export type AttentionCall<
    D extends full.OutDtype,
    K extends full.Dtype,
    Out,
    Lse = Asking,
    Scores = Asking | full.ScoresMode,
> = SentBut<full.AttentionCall, Placed | Settled> &
    full.Dtypes<D, K> &
    QueryArray<D> &
    KeyArray<K> &
    ValueArray<K> &
    OutArray<Out> &
    AskedArrays<Lse, Scores>;

type Differentiated = "query" | "key" | "value" | "out" | "outGradient";

/** The arrays of gradients() that have the types of a problem. */
export interface BackwardArrays<D extends full.OutDtype, K extends full.Dtype> {
    query: Elements<D>;
    key: Elements<K>;
    value: Elements<K>;
    outGradient: Elements<D>;
    out?: Elements<D> | null | undefined;
}

/** As {@link full.GradientsOptions}. */
export type GradientsOptions<
    D extends full.OutDtype,
    K extends full.Dtype,
    By extends full.GradientName,
> = SentBut<full.GradientsOptions<"f32", "f32", By>, Differentiated> &
    BackwardArrays<D, K> &
    WorkerOptions;

/** As {@link full.GradientsCall}. */
export type GradientsCall<
    D extends full.OutDtype,
    K extends full.Dtype,
    By extends full.GradientName,
> = GradientsOptions<D, K, By> &
    full.Settings &
    full.Dtypes<D, K> & { [Name in keyof full.Sizes]?: Sent<full.Sizes[Name]> | null | undefined };

/** The methods of `T` by these names, with promises. Their arguments are the same. */
export type Promised<T, Names extends keyof T> = {
    [Name in Names]: T[Name] extends (...args: infer Args) => infer Result
        ? (...args: { [Index in keyof Args]: Sent<Args[Index]> }) => Promise<Result>
        : never;
};

interface Disposable {
    /** Give the memory back, after the calls that there are already. A second call does nothing. */
    dispose(): void;
    [Symbol.dispose](): void;
}

/** A plan in the worker: as {@link full.Plan}, with promises. What describes it is there at once. */
export interface Plan<D extends full.OutDtype = "f32", K extends full.Dtype = D>
    extends
        Disposable,
        Pick<
            full.Plan,
            "backend" | "sizes" | "inputs" | "kernel" | "workspaceBytes" | "cost" | "facts"
        > {
    /** As {@link full.Plan.run}. A result that goes to a tensor is that tensor. */
    run<
        Out extends Output<D> = full.NewTypes[D],
        Lse extends Asking = boolean | Float32Array,
        Scores extends Asking = boolean | Float32Array,
    >(
        options: RunOptions<D, K, Out, Lse, Scores> & RepeatOptions,
    ): Promise<TimedResult<Written<Out>, Asked<Lse>, Asked<Scores>>>;
    weights(
        options: SentBut<full.WeightsOptions, Placed> & QueryArray<D> & KeyArray<K> & WorkerOptions,
    ): Promise<Float32Array<ArrayBuffer>>;
    error(
        options: SentBut<full.ErrorOptions, Placed> &
            QueryArray<D> &
            KeyArray<K> &
            ValueArray<K> & { out: Elements<D> } & WorkerOptions,
    ): Promise<number>;
}

/** A plan in the worker that has gradients. */
export interface GradientsPlan<
    D extends full.OutDtype = "f32",
    K extends full.Dtype = D,
> extends Plan<D, K> {
    /** As {@link full.GradientsPlan.gradients}. */
    gradients<By extends full.GradientName = "query" | "key" | "value">(
        options: GradientsOptions<D, K, By>,
    ): Promise<full.Gradients<D, K, By>>;
}

/** A stream in the worker: as {@link full.Stream}, with promises. */
export interface Stream<
    D extends full.OutDtype = "f32",
    K extends full.Dtype = D,
    Lse = Float32Array<ArrayBuffer>,
>
    extends
        Disposable,
        Pick<full.Stream, "backend" | "sizes">,
        Promised<full.Stream, "save" | "truncate" | "restore"> {
    /** As of the last call that has been answered. */
    readonly length: number;
    /** The same. */
    readonly memoryBytes: number;
    append(
        call: SentBut<full.AppendCall, Placed> & KeyArray<K> & ValueArray<K> & WorkerOptions,
    ): Promise<this>;
    append(
        key: Elements<K>,
        value: Elements<K>,
        options?: (SentBut<full.AppendOptions, Placed> & WorkerOptions) | null | undefined,
    ): Promise<this>;
    query<Out extends Output<D> = full.NewTypes[D]>(
        call: SentBut<full.QueryCall, Placed> & QueryArray<D> & OutArray<Out> & WorkerOptions,
    ): Promise<full.StreamResult<Written<Out>, Lse>>;
    query<Out extends Output<D> = full.NewTypes[D]>(
        query: Elements<D>,
        options?:
            (SentBut<full.QueryOptions, Placed> & OutArray<Out> & WorkerOptions) | null | undefined,
    ): Promise<full.StreamResult<Written<Out>, Lse>>;
    fork(): Promise<Stream<D, K, Lse>>;
}

/** A plugin in the worker. */
export interface Plugin
    extends Pick<full.Plugin, "name" | "backends">, Promised<full.Plugin, "unload"> {}

/** The library in a worker: as {@link full.Attn}, with promises. */
export interface Attn
    extends
        Pick<full.Attn, "version" | "build" | "tier" | "threads" | "backends">,
        Promised<full.Attn, "countNonfinite"> {
    /** As {@link full.Attn.attention}. A result that goes to a tensor is that tensor. */
    attention<
        D extends full.OutDtype = "f32",
        K extends full.Dtype = D,
        Out extends Output<D> = full.NewTypes[D],
        Lse extends Asking = boolean | Float32Array,
        Scores extends Asking | full.ScoresMode = boolean | Float32Array,
    >(
        call: AttentionCall<D, K, Out, Lse, Scores> & LongOptions,
    ): Promise<full.RunResult<Written<Out>, Asked<Lse>, Asked<Scores>>>;
    attention<
        D extends full.OutDtype = "f32",
        K extends full.Dtype = D,
        Out extends Output<D> = full.NewTypes[D],
    >(
        query: Elements<D>,
        key: Elements<K>,
        value: Elements<K>,
        options?: (AttentionOptions<D, K, Out> & LongOptions) | null | undefined,
    ): Promise<Written<Out>>;

    plan<D extends full.OutDtype = "f32", K extends full.Dtype = D>(
        options: full.GradientsPlanOptions<D, K>,
    ): Promise<GradientsPlan<D, K>>;
    plan<D extends full.OutDtype = "f32", K extends full.Dtype = D>(
        options: full.PlanOptions<D, K> & { gradients?: false | null | undefined },
    ): Promise<Plan<D, K>>;

    /** As {@link full.Attn.gradients}. */
    gradients<
        D extends full.OutDtype = "f32",
        K extends full.Dtype = D,
        By extends full.GradientName = "query" | "key" | "value",
    >(
        call: GradientsCall<D, K, By>,
    ): Promise<full.Gradients<D, K, By>>;
    gradients<
        D extends full.OutDtype = "f32",
        K extends full.Dtype = D,
        By extends full.GradientName = "query" | "key" | "value",
    >(
        query: Elements<D>,
        key: Elements<K>,
        value: Elements<K>,
        outGradient: Elements<D>,
        options?:
            | Omit<GradientsCall<D, K, By>, "query" | "key" | "value" | "outGradient">
            | null
            | undefined,
    ): Promise<full.Gradients<D, K, By>>;

    stream<D extends full.OutDtype = "f32", K extends full.Dtype = D>(
        options: full.StreamOptions<D, K> & full.HasLse,
    ): Promise<Stream<D, K>>;
    stream<D extends full.OutDtype = "f32", K extends full.Dtype = D>(
        options: full.StreamOptions<D, K>,
    ): Promise<Stream<D, K, Float32Array<ArrayBuffer> | null>>;

    /** As {@link full.Attn.tensor}, in the worker: made once, it is used by later calls without a copy. */
    tensor(lengthOrData: number | ArrayInput<Float32Array>, dtype?: "f32" | null): Promise<Tensor>;
    tensor<H extends "f16" | "bf16">(length: number, dtype: H): Promise<Tensor<Uint16Array>>;
    tensor<Data extends full.ArrayTypes["f16"]>(
        data: ArrayInput<Data>,
        dtype: "f16",
    ): Promise<Tensor<Data>>;
    tensor(data: ArrayInput<Uint16Array>, dtype: "bf16"): Promise<Tensor<Uint16Array>>;
    tensor(lengthOrData: number | ArrayInput<Int8Array>, dtype: "i8"): Promise<Tensor<Int8Array>>;

    /** As {@link full.Attn.loadPlugin}. It counts as held until it is unloaded. */
    loadPlugin(...args: Parameters<full.Attn["loadPlugin"]>): Promise<Plugin>;

    /** End the worker. Calls that wait or run reject with an AttnError "ATTN_ERROR_DISPOSED". */
    dispose(): void;
    [Symbol.dispose](): void;
}

/** Start a worker. */
export function init(options?: full.InitOptions | null | undefined): Promise<Attn>;
