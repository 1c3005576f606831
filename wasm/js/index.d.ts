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
 * memory, and an output may be the same array as an input, but share none with another output. A
 * {@link Tensor} is where the module computes and not copied; nothing else hands out views of the
 * module's memory.
 *
 * An array may be given with its shape, {@link Shaped}: sizes then follow from it. In options `null`
 * and `undefined` are the same: not given. Each option is read once, before anything is computed.
 *
 * The gradient of an array is dL/darray: as many elements as that has, in the order of the layout, of its type, in a
 * new array that is the caller's. Where an array has an axis of 1 for all, so has its gradient, which is the
 * sum. What a mask, a window or key lengths hide gets 0, also where it is NaN. Weights are computed anew: memory
 * grows with `queries` + `keys`, not with their product. Results do not depend on threads.
 *
 * ```js
 * const plan = attn.plan({ heads: 8, queries: 128, dim: 64, causal: true, gradients: true });
 * const { out, lse } = plan.run({ query, key, value, lse: true });
 * const outGradient = lossGradient(out); // dL/dout, as long as out
 * const gradients = plan.gradients({ query, key, value, out, lse, outGradient });
 * gradients.query; // dL/dquery, as long as query
 * ```
 *
 * Errors: {@link AttnError} for what the library refuses, and TypeError for values of a wrong
 * JavaScript type and for options with an unknown name. Both are one line that names the value.
 * NaN and infinities in the inputs are no error: they are computed with as IEEE 754 says.
 */
import type {
    ArrayInput,
    ArrayTypes,
    Dtype,
    Elements,
    Floats,
    NewTypes,
    OutDtype,
    Output,
    OwnOutputArrays,
    Shaped,
    Tensor,
    Written,
} from "./arrays.js";
import type { Backend, Plugin } from "./backends.js";
import type {
    GradientName,
    Gradients,
    GradientsCall,
    GradientsPlan,
    GradientsPlanOptions,
} from "./gradients.js";
import type {
    Asked,
    Asking,
    AsyncOptions,
    Plan,
    RunArrays,
    RunOptions,
    RunResult,
} from "./plan.js";
import type { Dtypes, PlanOptions, ScoresMode, Settings } from "./problem.js";
import type { HasLse, Stream, StreamOptions } from "./stream.js";

export * from "./arrays.js";
export * from "./backends.js";
export * from "./gradients.js";
export * from "./plan.js";
export * from "./problem.js";
export * from "./stream.js";

/**
 * Which module serves: with WebAssembly's relaxed SIMD (fused multiply-add), with SIMD128, with
 * neither, or with SIMD128 and threads.
 */
export type Build = "relaxed" | "simd" | "scalar" | "threads";

/**
 * Options of {@link Attn.attention}. Sizes follow from the shapes of arrays. Arrays without a shape need one of
 * `dim`, `queries` and `keys`: the other two follow from the lengths. All other sizes are by default those of
 * {@link PlanOptions}, and so are these three with `strides`. An array of any other length is an AttnError
 * "ATTN_ERROR_SHAPE".
 */
export interface AttentionOptions<D extends OutDtype = "f32", K extends Dtype = D, Out = Output<D>>
    extends Settings, RunArrays<Out>, Dtypes<D, K> {
    /** 1 by default. */
    batch?: number | null | undefined;
    /** 1 by default. */
    heads?: number | null | undefined;
    /** `heads` by default. */
    kvHeads?: number | null | undefined;
    queries?: number | null | undefined;
    keys?: number | null | undefined;
    dim?: number | null | undefined;
    /** `dim` by default. */
    valueDim?: number | null | undefined;
}

/** {@link Attn.attention} by one object: its options, its arrays, and what it is to return. */
export interface AttentionCall<
    D extends OutDtype = "f32",
    K extends Dtype = D,
    Out extends Output<D> = Output<D>,
    Lse extends Asking = Asking,
    Scores extends Asking | ScoresMode = Asking | ScoresMode,
>
    extends
        AttentionOptions<D, K, Out>,
        OwnOutputArrays,
        Pick<RunOptions<D, K, Out, Lse>, "query" | "key" | "value" | "lse"> {
    /**
     * `true`, or an array to write to: return the scores that `scoresMode` says. The name of a mode:
     * return those. See {@link RunResult.scores}.
     */
    scores?: Scores | null | undefined;
    /** "raw" by default. */
    scoresMode?: ScoresMode | null | undefined;
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

    /**
     * Do runAsync() and attentionAsync() compute in this thread, which then waits? They do in
     * WebAssembly: there only their errors and results come by a promise. libattn/native has threads for
     * them, libattn/worker a worker.
     */
    readonly blocking: boolean;

    /** Elements in the module's memory: so many zeros, or a copy of an array of their type. */
    tensor(lengthOrData: number | Floats, dtype?: "f32" | null): Tensor;
    tensor<H extends "f16" | "bf16">(length: number, dtype: H): Tensor<Uint16Array>;
    tensor<Data extends ArrayTypes["f16"]>(
        data: Data | Tensor<Data> | Shaped<Data | Tensor<Data>>,
        dtype: "f16",
    ): Tensor<Data>;
    tensor(data: ArrayInput<Uint16Array>, dtype: "bf16"): Tensor<Uint16Array>;
    tensor(lengthOrData: number | ArrayInput<Int8Array>, dtype: "i8"): Tensor<Int8Array>;

    /**
     * Load a plugin: a side module of WebAssembly, as plugins/template shows how to build one. Its
     * backends are then like the built-in ones; all of them come in or, on an error, none. "ATTN_ERROR_PLUGIN"
     * and "ATTN_ERROR_ABI" say what is wrong with it. Builds with threads cannot load plugins:
     * "ATTN_ERROR_UNSUPPORTED". The addon (libattn/native) loads shared objects; its reference has them.
     *
     * A plugin shares the library's memory: load only what you trust as much as the library. Where its
     * code traps, the call throws "ATTN_ERROR_TRAP"; docs/plugins.md says what then still holds.
     *
     * @param source its bytes, a URL, a response with it, or itself, compiled.
     * @param options `name`: what to call it; by default its URL, or "plugin.wasm".
     */
    loadPlugin(
        source: Source,
        options?: { name?: string | null | undefined } | null | undefined,
    ): Promise<Plugin>;

    /** Prepare to solve a problem often; with `gradients: true` the plan also has gradients. */
    plan<D extends OutDtype = "f32", K extends Dtype = D>(
        options: GradientsPlanOptions<D, K>,
    ): GradientsPlan<D, K>;
    plan<D extends OutDtype = "f32", K extends Dtype = D>(
        options: PlanOptions<D, K> & { gradients?: false | null | undefined },
    ): Plan<D, K>;

    /**
     * Attention in one call. For many calls of one shape, make a plan.
     *
     * With all in one object it returns what a run of a plan does: `out`, and `lse` and `scores` where
     * they were asked for. With the arrays one after the other it returns `out` alone: batch * heads *
     * queries * valueDim elements, `options.out` or a new array.
     */
    attention<
        D extends OutDtype = "f32",
        K extends Dtype = D,
        Out extends Output<D> = NewTypes[D],
        Lse extends Asking = Asking,
        Scores extends Asking | ScoresMode = Asking,
    >(
        call: AttentionCall<D, K, Out, Lse, Scores>,
    ): RunResult<Written<Out>, Asked<Lse>, Asked<Scores>>;
    attention<D extends OutDtype = "f32", K extends Dtype = D, Out extends Output<D> = NewTypes[D]>(
        query: Elements<D>,
        key: Elements<K>,
        value: Elements<K>,
        options?: AttentionOptions<D, K, Out> | null | undefined,
    ): Written<Out>;

    /** The same as {@link Plan.runAsync} is to {@link Plan.run}. See {@link blocking}. */
    attentionAsync<
        D extends OutDtype = "f32",
        K extends Dtype = D,
        Out extends Output<D> = NewTypes[D],
        Lse extends Asking = Asking,
        Scores extends Asking | ScoresMode = Asking,
    >(
        call: AttentionCall<D, K, Out, Lse, Scores> & AsyncOptions,
    ): Promise<RunResult<Written<Out>, Asked<Lse>, Asked<Scores>>>;
    attentionAsync<
        D extends OutDtype = "f32",
        K extends Dtype = D,
        Out extends Output<D> = NewTypes[D],
    >(
        query: Elements<D>,
        key: Elements<K>,
        value: Elements<K>,
        options?: (AttentionOptions<D, K, Out> & AsyncOptions) | null | undefined,
    ): Promise<Written<Out>>;

    /**
     * Gradients in one call, which makes a plan for it. Sizes as for {@link Attn.attention}. A backend, a rule
     * or an element type that has no gradients (keys in i8) is an AttnError "ATTN_ERROR_UNSUPPORTED".
     */
    gradients<
        D extends OutDtype = "f32",
        K extends Dtype = D,
        By extends GradientName = "query" | "key" | "value",
    >(
        call: GradientsCall<D, K, By>,
    ): Gradients<D, K, By>;
    gradients<
        D extends OutDtype = "f32",
        K extends Dtype = D,
        By extends GradientName = "query" | "key" | "value",
    >(
        query: Elements<D>,
        key: Elements<K>,
        value: Elements<K>,
        outGradient: Elements<D>,
        options?:
            | Omit<GradientsCall<D, K, By>, "query" | "key" | "value" | "outGradient">
            | null
            | undefined,
    ): Gradients<D, K, By>;

    /** Make an empty stream, for tokens that arrive one by one. */
    stream<D extends OutDtype = "f32", K extends Dtype = D>(
        options: StreamOptions<D, K> & HasLse,
    ): Stream<D, K>;
    stream<D extends OutDtype = "f32", K extends Dtype = D>(
        options: StreamOptions<D, K>,
    ): Stream<D, K, Float32Array<ArrayBuffer> | null>;

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

/** A Blob or a File. */
interface BlobLike {
    readonly size: number;
    readonly type: string;
    arrayBuffer(): Promise<ArrayBuffer>;
}

/** Where the module comes from: its bytes, a URL, a response or a file with it, or itself, compiled. */
export type Source =
    | ArrayBuffer
    | ArrayBufferView
    | string
    | UrlLike
    | ResponseLike
    | BlobLike
    | ModuleLike
    | Promise<ArrayBuffer | ArrayBufferView | ResponseLike | BlobLike>;

/** Which module {@link init} takes. */
export interface SourceOptions {
    /**
     * The module, instead of this package's own file: the best build that the engine can run, which
     * `build` of the result names. A string is a URL; a relative one counts from the page.
     */
    source?: Source | null | undefined;
}

/** Options of {@link init}. */
export interface InitOptions extends SourceOptions {
    /** Take this build; a source that is another build, or an engine that does not have it, is an error. */
    build?: Build | null | undefined;
    /**
     * Share the work of each run between so many threads, from 1 (the default) to 256; more than 1 take
     * the build "threads". In a browser the page must be cross-origin isolated (COOP and COEP headers):
     * else an AttnError "ATTN_ERROR_UNSUPPORTED". A call still returns when all is done: it works along,
     * and in a window, which may not sleep, it spins for the last task. Threads end with dispose(), and
     * keep no process of Node's alive. Results do not depend on how many there are.
     */
    threads?: number | null | undefined;
}

/** The library in WebAssembly. */
export interface WasmAttn extends Attn {
    readonly build: Build;
    readonly blocking: true;
}

/**
 * Load the module and start the library in it. In Node files are read from disk, in a browser with
 * fetch().
 */
export function init(options?: InitOptions | null | undefined): Promise<WasmAttn>;
