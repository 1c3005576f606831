/// <reference lib="esnext.disposable" />

/**
 * libattn: attention in WebAssembly, on the CPU, in kilobytes.
 *
 * ```js
 * import { init } from "libattn";
 * const attn = await init();
 * const out = attn.attention(q, k, v, { heads: 8, dim: 64, causal: true });
 * ```
 *
 * Sizes: `batch` B, `heads` H, `kvHeads` Hkv, `queries` n, `keys` m, `dim` d, `valueDim` dv.
 * Query head h reads key/value head floor(h / (H / Hkv)).
 *
 * Arrays of numbers are Float32Arrays, or of another {@link Dtype} where that is said. In the layout
 * "bhnd" element (b, h, i, c) of the query is at ((b*H + h)*n + i)*d + c; in "bnhd" it is at
 * ((b*n + i)*H + h)*d + c; with {@link Strides} at b*s[0] + h*s[1] + i*s[2] + c*s[3]; key, value and
 * output likewise. Arrays are copied into the module and back: they stay the caller's, may be of shared
 * memory, and an output may be the same array as an input. A {@link Tensor} is where the module
 * computes and not copied; nothing else hands out views of the module's memory.
 *
 * Errors: {@link AttnError} for what the library refuses, and TypeError for values of a wrong
 * JavaScript type and for options with an unknown name. Both are one line that names the value.
 * NaN and infinities in the inputs are no error: they are computed with as IEEE 754 says.
 */

/** The order of the axes in memory: (batch, head, row, column) or (batch, row, head, column). */
export type Layout = "bhnd" | "bnhd";

/**
 * Where element (b, h, i, c) of an array is: at b*s[0] + h*s[1] + i*s[2] + c*s[3]. Integers of at least
 * 0; 0 is the same for all (of inputs). The array may be longer than that reaches.
 */
export type Stride = readonly [batch: number, head: number, row: number, column: number];

/** The strides of arrays that are not as the layout says. `out` needs an array to write to. */
export interface Strides {
    query?: Stride | undefined;
    key?: Stride | undefined;
    value?: Stride | undefined;
    out?: Stride | undefined;
}

/** An element type of 16 bits: IEEE 754 binary16, or the upper half of a float32. */
export type HalfDtype = "f16" | "bf16";

/**
 * How numbers are stored: all is computed in f32. f16 is a Uint16Array of its bits, or a Float16Array
 * where there is one; bf16 a Uint16Array of its bits; i8 an Int8Array with a scale for each token.
 */
export type Dtype = "f32" | HalfDtype | "i8";

/** A Float16Array, which not every program has the type of. */
export interface Float16ArrayLike extends ArrayBufferView {
    readonly [Symbol.toStringTag]: "Float16Array";
    readonly BYTES_PER_ELEMENT: number;
    readonly length: number;
    [index: number]: number;
}

/** Elements of 16 bits. */
export type Halves = Uint16Array | Float16ArrayLike;

/** The arrays that a {@link Dtype} is in. */
export type Elements = Floats | Halves | Int8Array;

/**
 * Floats in the module's memory, which runs read and write in place: for keys and values that stay,
 * and for outputs that are used in place. Made by {@link Attn.tensor}, takes memory until disposed.
 */
export interface Tensor {
    readonly length: number;
    /**
     * The floats as an array. Get it anew for each use: an array that was got earlier is detached (its
     * length is 0) once the module's memory has grown.
     */
    readonly data: Float32Array;
    dispose(): void;
    [Symbol.dispose](): void;
}

/** Floats that are read or written; results that go to a Tensor are given as its `data`. */
export type Floats = Float32Array | Tensor;

/**
 * Which keys a query sees. `false` or "none": all. `true` or "top-left": query i sees keys j <= i.
 * "bottom-right": query i sees keys j <= i + keys - queries, so that the last query sees all.
 */
export type Causal = boolean | "none" | "top-left" | "bottom-right";

/**
 * Which module serves: with WebAssembly's relaxed SIMD (fused multiply-add), with SIMD128, with
 * neither, or with SIMD128 and threads.
 */
export type Build = "relaxed" | "simd" | "scalar" | "threads";

/** Parameters of a backend by name, as {@link Attn.backends} declares them. undefined: the default. */
export type Params = Readonly<Record<string, number | string | boolean | undefined>>;

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
 * What is to be solved, beside the sizes. Query i stands at key position p = past + i, or, where
 * causal is "bottom-right", at p = i + keys - queries (with key lengths: i + length - queries). Its
 * logits are S = softcap(scale * q.k_j) + bias_j - slope |p - j|, with softcap(x) = c tanh(x / c).
 */
export interface Rules {
    /** Id of a backend; "softmax", which does all of these, by default. */
    backend?: string | undefined;
    /** `false` by default. */
    causal?: Causal | undefined;
    /** Factor of the logits, finite; by default the backend's, 1/sqrt(dim) for softmax. */
    scale?: number | undefined;
    /** Keys before the first query; 0 by default, and where causal is "bottom-right". */
    past?: number | undefined;
    /** Keys seen to each side of a query's position; -1: all. All by default. */
    window?: readonly [left: number, right: number] | undefined;
    /** c of the logits' soft cap; 0, the default: none. */
    softcap?: number | undefined;
}

/** The name of an array that runs bring beside query, key and value: see {@link InputArrays}. */
export type InputName = "bias" | "mask" | "kvLengths" | "sinks" | "slopes";

/** An array in the order (batch, head, query, key); of the first three axes, 1 is the same for all. */
export interface Grid<Data> {
    data: Data;
    shape: readonly [batch: number, heads: number, queries: number, keys: number];
}

/**
 * Arrays that runs may bring, if the plan names them in {@link PlanOptions.inputs}, and then must.
 * Bias and mask without a shape have queries * keys elements, the same for all batches and heads, or
 * batch * heads * queries * keys.
 */
export interface InputArrays {
    /**
     * Of key in i8, and needed then: what each token's elements are times, above 0, in the order
     * (batch, kvHead, key).
     */
    keyScales?: Floats | undefined;
    /** The same for value. */
    valueScales?: Floats | undefined;
    /** Added to the logits; -Infinity masks. */
    bias?: Floats | Grid<Floats> | undefined;
    /** 0 masks, all else does not. */
    mask?: Uint8Array | Grid<Uint8Array> | undefined;
    /** How many keys of each batch count, from 0 to `keys`. */
    kvLengths?: readonly number[] | Int32Array | Uint32Array | undefined;
    /** For each head a logit more in the sum of weights, without a value. */
    sinks?: Floats | undefined;
    /** ALiBi's slope of each head. */
    slopes?: Floats | undefined;
}

/**
 * Which logits or weights `scores` are: scale * q.k, the same after softcap, after bias and masks
 * (-Infinity where a key is not seen), or after softmax.
 */
export type ScoresMode = "raw" | "capped" | "masked" | "weights";

/** Rules and the settings of a backend. */
export interface Settings extends Rules {
    /** Values outside their declared range are refused, never clamped. */
    params?: Params | undefined;
}

/** Element types; other than f32 with softmax alone. */
export interface Dtypes {
    /** Of query and out; "f32" by default. */
    dtype?: "f32" | HalfDtype | undefined;
    /** Of key and value; `dtype` by default. */
    kvDtype?: Dtype | undefined;
}

/** Those that have an output in 16 bits. */
interface HalfOut {
    dtype: HalfDtype;
}

/** Options of {@link Attn.plan}. */
export interface PlanOptions extends Settings, Dtypes {
    /** 1 by default. */
    batch?: number | undefined;
    /** 1 by default. */
    heads?: number | undefined;
    /** `heads` by default; fewer: heads share keys and values (grouped-query attention). */
    kvHeads?: number | undefined;
    queries: number;
    /** `queries` by default (self-attention). */
    keys?: number | undefined;
    dim: number;
    /** `dim` by default. */
    valueDim?: number | undefined;
    /** The arrays that each run brings; none by default. */
    inputs?: readonly InputName[] | undefined;
    /** What {@link RunOptions.scores} gives; "raw" by default. */
    scoresMode?: ScoresMode | undefined;
}

/**
 * Options of {@link Attn.attention}. One of `dim`, `queries` and `keys` is needed; the other sizes
 * follow from the lengths of the arrays. With `strides` it is as for {@link PlanOptions}.
 */
export interface AttentionOptions extends Settings, InputArrays, Dtypes {
    /** 1 by default. */
    batch?: number | undefined;
    /** 1 by default. */
    heads?: number | undefined;
    /** `heads` by default. */
    kvHeads?: number | undefined;
    queries?: number | undefined;
    keys?: number | undefined;
    dim?: number | undefined;
    valueDim?: number | undefined;
    /** Of q, k, v and the result; "bhnd" by default. */
    layout?: Layout | undefined;
    /** Of those that are not in the layout. */
    strides?: Strides | undefined;
    /** Written and returned instead of a new array; batch * heads * queries * valueDim elements. */
    out?: Floats | Halves | undefined;
}

/** The arrays of {@link Plan.run}. */
export interface RunOptions extends InputArrays {
    /** batch * heads * queries * dim elements. */
    query: Floats | Halves;
    /** batch * kvHeads * keys * dim elements. */
    key: Elements;
    /** batch * kvHeads * keys * valueDim elements. */
    value: Elements;
    /** Written and returned instead of a new array; batch * heads * queries * valueDim elements. */
    out?: Floats | Halves | undefined;
    /** `true`: return the rows' log-sum-exp; an array: write them there. See {@link RunResult.lse}. */
    lse?: boolean | Floats | undefined;
    /** The same for the scores; see {@link RunResult.scores}. */
    scores?: boolean | Floats | undefined;
    /** Of query, key, value and out; "bhnd" by default. */
    layout?: Layout | undefined;
    /** Of those that are not in the layout. */
    strides?: Strides | undefined;
}

/** An AbortSignal. */
interface SignalLike {
    readonly aborted: boolean;
    throwIfAborted(): void;
    addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
    removeEventListener(type: "abort", listener: () => void): void;
}

/** Options of {@link Plan.runAsync}. */
export interface AsyncOptions {
    /** Rejects with the signal's reason, and stops computing before the run's next task. */
    signal?: SignalLike | undefined;
}

/** What {@link Plan.run} computed. The arrays are the caller's. */
export interface RunResult<Out = Float32Array> {
    /** Of the plan's `dtype`; for f16 a Float16Array where the query is one. */
    out: Out;
    /**
     * log sum_j exp(S_ij) in the order (batch, head, query), whatever the layout: batch * heads *
     * queries elements; -Infinity for a row without keys. `null` when it was not asked for.
     */
    lse: Float32Array | null;
    /**
     * Logits or weights at the plan's `scoresMode` in the order (batch, head, query, key): batch *
     * heads * queries * keys elements. `null` when they were not asked for.
     */
    scores: Float32Array | null;
    /** Rows whose normaliser was 0 or drowned in rounding: do not trust them (linear `lin`). */
    degenerateRows: number;
}

/** Which weights {@link Plan.weights} is to compute. */
export interface WeightsOptions extends InputArrays {
    query: Floats | Halves;
    key: Elements;
    /** Of query and key; "bhnd" by default. */
    layout?: Layout | undefined;
    /** Of those that are not in the layout. */
    strides?: Strides | undefined;
    /** 0 by default. */
    batch?: number | undefined;
    /** Of the query; 0 by default. */
    head?: number | undefined;
    /** First query; 0 by default. */
    first?: number | undefined;
    /** How many queries; all from `first` on by default. */
    count?: number | undefined;
}

/** The arrays of {@link Plan.error}. */
export interface ErrorOptions extends InputArrays {
    query: Floats | Halves;
    key: Elements;
    value: Elements;
    /** The result that is to be judged. */
    out: Floats | Halves;
    /** Of all four; "bhnd" by default. */
    layout?: Layout | undefined;
    /** Of those that are not in the layout. */
    strides?: Strides | undefined;
}

/** How much work one run of a plan is. */
export interface PlanCost {
    /** Additions and multiplications that the result needs; exp is not counted. */
    readonly flops: number;
    /** Read and written at least once: inputs and output. */
    readonly bytes: number;
    /** (query, key) pairs with a weight, all heads together. */
    readonly pairs: number;
    /** Asymptotic form for one head, e.g. "n m (d + dv)". */
    readonly form: string;
}

/** One thing a plan chose by itself or guarantees, e.g. the sketch size. */
export interface PlanFact {
    /** Machine-readable. */
    readonly name: string;
    /** For people. */
    readonly label: string;
    /** `null`: a number that is not finite. */
    readonly value: number | string | null;
}

/**
 * A problem and the backend that solves it, prepared: run it as often as wanted. It holds memory in
 * the module until dispose(); any use after that throws an AttnError "ATTN_ERROR_DISPOSED".
 */
export interface Plan<Out = Float32Array> {
    /** The backend's id. */
    readonly backend: string;
    readonly sizes: Sizes;
    /** The arrays that each run brings beside query, key and value. */
    readonly inputs: readonly InputName[];
    /** Which code runs, e.g. "wasm128 4x8". */
    readonly kernel: string;
    /** Scratch memory that each run takes and gives back, in bytes. */
    readonly workspaceBytes: number;
    /** `null` when the backend does not say. */
    readonly cost: PlanCost | null;
    readonly facts: readonly PlanFact[];

    /** Solve the problem on these arrays. */
    run(arrays: RunOptions): RunResult<Out>;

    /**
     * The same beside this thread where there is the addon (libattn/native): until the promise is
     * settled the arrays must stay as they are, and dispose() waits. In WebAssembly there is no
     * other thread: it has run when this returns.
     */
    runAsync(arrays: RunOptions, options?: AsyncOptions): Promise<RunResult<Out>>;

    /**
     * The effective attention weights of queries [first, first + count) of one batch and head, such
     * that out = weights * value: row r, key j is at r * keys + j. For every backend, also where it
     * never forms them.
     */
    weights(options: WeightsOptions): Float32Array;

    /**
     * How far `out` is from exact attention, computed in double precision: the relative error in the
     * Frobenius norm over every `stride`-th query (1, all, by default). Costs queries * keys / stride.
     * NaN when `out` has a NaN where exact attention has not.
     */
    error(arrays: ErrorOptions, stride?: number): number;

    /** Give the memory back. A second call does nothing. */
    dispose(): void;
    [Symbol.dispose](): void;
}

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

interface ParamBase {
    /** The key in {@link Params}. */
    readonly name: string;
    /** For people. */
    readonly label: string;
    /** One line. */
    readonly help: string;
    /** E.g. "keys"; "" for none. */
    readonly unit: string;
    /** Bounds, inclusive. For booleans 0 and 1, for choices 0 and the last index. */
    readonly min: number;
    readonly max: number;
    /** What the value 0 means, e.g. "2^floor(log2 sqrt m)"; `null` when 0 means nothing special. */
    readonly automatic: string | null;
}

/** A number; "integer": whole numbers only. */
export interface NumberParam extends ParamBase {
    readonly type: "integer" | "number";
    readonly default: number;
    readonly choices: null;
}

export interface BooleanParam extends ParamBase {
    readonly type: "boolean";
    readonly default: boolean;
    readonly choices: null;
}

/** One of `choices`, by name. */
export interface ChoiceParam extends ParamBase {
    readonly type: "choice";
    readonly default: string;
    readonly choices: readonly string[];
}

/** A parameter as its backend declares it: enough to make a form or a slider of it. */
export type Param = NumberParam | BooleanParam | ChoiceParam;

/** A way to compute attention. */
export interface Backend {
    readonly id: string;
    /** For people. */
    readonly name: string;
    readonly version: string;
    /** One sentence. */
    readonly description: string;
    /** Paper and equation, or a URL. */
    readonly reference: string;
    /** "built-in", or where the backend was loaded from. */
    readonly origin: string;
    /** What it can do beyond the plain form, e.g. "causal", "grouped_heads", "lse". */
    readonly features: readonly string[];
    readonly params: readonly Param[];
}

/** Text as a matrix: what {@link Attn.embed} returns. */
export interface Embedding {
    /** rows * dim elements, one row for each token. */
    x: Float32Array;
    /** The text of each row. */
    tokens: string[];
    rows: number;
    dim: number;
}

/** A .npy file: what {@link Attn.readNpy} returns. */
export interface NpyArray {
    /** In C order (last axis fastest), whatever the order in the file. */
    data: Float32Array;
    shape: number[];
}

/** A plugin that is loaded: what {@link Attn.loadPlugin} returns. */
export interface Plugin {
    /** What errors and {@link Backend.origin} call it. */
    readonly name: string;
    /** The ids of its backends. */
    readonly backends: readonly string[];

    /**
     * Take its backends away. "ATTN_ERROR_PLUGIN" while there are plans or streams of them: dispose
     * those first. A second call does nothing, and neither does one after the library's dispose().
     */
    unload(): void;
    [Symbol.dispose](): void;
}

/** The library in one instance of its module. Independent of every other instance. */
export interface Attn {
    /** Of the C library: "major.minor.patch". */
    readonly version: string;
    /** "native": the addon (libattn/native). */
    readonly build: Build | "native";
    /** The instruction set its kernels use: "wasmrelaxed", "wasm128" or "scalar"; natively "avx2" etc. */
    readonly tier: string;
    /** How many threads share the work of a run, this one included. */
    readonly threads: number;

    /** All backends with their parameters. */
    backends(): Backend[];

    /** Floats in the module's memory: `length` zeros, or a copy of `floats`. */
    tensor(lengthOrFloats: number | Float32Array): Tensor;

    /**
     * Load a plugin: a side module of WebAssembly, as plugins/template shows how to build one. Its
     * backends are then like the built-in ones; all of them come in or, on an error, none. "ATTN_ERROR_PLUGIN"
     * and "ATTN_ERROR_ABI" say what is wrong with it. Builds with threads and the addon cannot load
     * plugins: "ATTN_ERROR_UNSUPPORTED".
     *
     * A plugin shares the library's memory: load only what you trust as much as the library. Where its
     * code traps, the call throws "ATTN_ERROR_TRAP"; README.md says what then still holds.
     *
     * @param source its bytes, a URL, a response with it, or itself, compiled.
     * @param options `name`: what to call it; by default its URL, or "plugin.wasm".
     */
    loadPlugin(source: Source, options?: { name?: string | undefined }): Promise<Plugin>;

    /** Prepare to solve a problem often. */
    plan(options: PlanOptions & HalfOut): Plan<Halves>;
    plan(options: PlanOptions): Plan;

    /**
     * Attention in one call. For many calls of one shape, make a plan.
     * @returns batch * heads * queries * valueDim elements: `options.out`, or a new array.
     */
    attention(
        query: Halves,
        key: Elements,
        value: Elements,
        options: AttentionOptions & HalfOut,
    ): Halves;
    attention(
        query: Floats,
        key: Elements,
        value: Elements,
        options: AttentionOptions,
    ): Float32Array;

    /** The same as {@link Plan.runAsync} is to {@link Plan.run}. */
    attentionAsync(
        query: Halves,
        key: Elements,
        value: Elements,
        options: AttentionOptions & AsyncOptions & HalfOut,
    ): Promise<Halves>;
    attentionAsync(
        query: Floats,
        key: Elements,
        value: Elements,
        options: AttentionOptions & AsyncOptions,
    ): Promise<Float32Array>;

    /** Make an empty stream, for tokens that arrive one by one. Needs the softmax backend. */
    stream(options: StreamOptions & HalfOut): Stream<Halves>;
    stream(options: StreamOptions): Stream;

    /**
     * Text as input for attention: hashed character n-grams plus sinusoidal positions, the same as
     * `attn embed` computes.
     */
    embed(text: string, dim: number): Embedding;

    /** Read a .npy file: float32 or float64, rank 2 to 4, C or Fortran order. */
    readNpy(bytes: ArrayBuffer | ArrayBufferView): NpyArray;

    /** How many elements are NaN or infinite. */
    countNonfinite(array: Floats): number;

    /** Dispose all plans, streams and the context. Any use after that throws "ATTN_ERROR_DISPOSED". */
    dispose(): void;
    [Symbol.dispose](): void;
}

/** The status of the C library, by name, and three codes of this package's own, the last ones. */
export type AttnErrorCode =
    | "ATTN_ERROR_ARGUMENT"
    | "ATTN_ERROR_SHAPE"
    | "ATTN_ERROR_DTYPE"
    | "ATTN_ERROR_UNSUPPORTED"
    | "ATTN_ERROR_NOT_FOUND"
    | "ATTN_ERROR_RANGE"
    | "ATTN_ERROR_PLUGIN"
    | "ATTN_ERROR_ABI"
    | "ATTN_ERROR_MEMORY"
    | "ATTN_ERROR_WORKSPACE"
    /** A plan, a stream or the library was used after dispose(). */
    | "ATTN_ERROR_DISPOSED"
    /** What init() was given, or found, is not this package's module. */
    | "ATTN_ERROR_LOAD"
    /** The code of a plugin did what ends a program: memory out of bounds, unreachable code, ... */
    | "ATTN_ERROR_TRAP";

/** What the library refuses. `message` is one line that names what was wrong. */
export class AttnError extends Error {
    constructor(code: AttnErrorCode, message: string, options?: { cause?: unknown });
    readonly name: "AttnError";
    readonly code: AttnErrorCode;
}

/* Structural, so that programs without TypeScript's DOM library can use the types too. */
interface UrlLike {
    readonly href: string;
    readonly protocol: string;
}
interface ResponseLike {
    readonly ok: boolean;
    readonly status: number;
    arrayBuffer(): Promise<ArrayBuffer>;
}
/** A WebAssembly.Module, which has no members of its own. */
interface ModuleLike {
    readonly [Symbol.toStringTag]?: string;
}

/** Where the module comes from: its bytes, a URL, a response with it, or itself, compiled. */
export type Source =
    | ArrayBuffer
    | ArrayBufferView
    | string
    | UrlLike
    | ResponseLike
    | ModuleLike
    | Promise<ResponseLike>;

/** Options of {@link init}. */
export interface InitOptions {
    /** Take this build; a source that is another build, or an engine that has it not, is an error. */
    build?: Build | undefined;
    /**
     * Share the work of each run between so many threads, from 1 (the default) to 256; more than 1 take
     * the build "threads". In a browser the page must be cross-origin isolated (COOP and COEP headers):
     * else an AttnError "ATTN_ERROR_UNSUPPORTED". A call still returns when all is done: it works along,
     * and in a window, which may not sleep, it spins for the last task. Threads end with dispose(), and
     * keep no process of Node's alive. Results do not depend on how many there are.
     */
    threads?: number | undefined;
}

/**
 * Load the module and start the library in it. Without a source it takes the file of this package:
 * the best build that the engine can run, which `build` of the result names. In Node files are read
 * from disk, in a browser with fetch().
 *
 * @param source a string is a URL; a relative one counts from the page.
 */
export function init(source?: Source | undefined | null, options?: InitOptions): Promise<Attn>;
