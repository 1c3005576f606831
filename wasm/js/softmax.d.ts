/**
 * libattn/softmax: exact attention alone, in a third of the download. The same interface as libattn,
 * in f32, without other backends, streams, scores and weights; a few queries at a time take the same way as
 * many. Needs WebAssembly SIMD128, which all current engines have.
 *
 * ```js
 * import { init } from "libattn/softmax";
 * const attn = await init();
 * const out = attn.attention(q, k, v, { heads: 8, dim: 64, causal: true });
 * ```
 */
import type * as full from "./index.js";

export { AttnError } from "./index.js";
export type {
    AttnErrorCode,
    Causal,
    InputArrays,
    Layout,
    MaskArray,
    Rules,
    Shaped,
    Sizes,
    Source,
    SourceOptions,
    Stride,
    Strides,
} from "./index.js";

type Data = Float32Array | full.Shaped<Float32Array>;
type Inputs = "keyScales" | "valueScales" | "bias" | "sinks" | "slopes" | keyof full.OwnInputs;
type Own = Partial<Record<"bias" | "sinks" | "slopes" | "out", Data | null | undefined>>;
type Arrays = Record<"query" | "key" | "value", Data>;

/** How the rows' log-sum-exp is asked for: `true`, or an array to write it to. */
export type Asking = boolean | Data;

export type PlanOptions = Omit<
    full.PlanOptions,
    "backend" | "params" | "scoresMode" | "dtype" | "kvDtype" | "inputs"
> & { inputs?: readonly InputName[] | null | undefined };
/** The name of an array that runs bring beside query, key and value. */
export type InputName = Exclude<full.InputName, keyof full.OwnInputs>;
export type AttentionOptions = Omit<
    full.AttentionOptions,
    "backend" | "params" | "out" | "dtype" | "kvDtype" | Inputs
> &
    Own;
export type RunOptions<Lse extends Asking = Asking> = Omit<
    full.RunOptions,
    "scores" | "lse" | "out" | keyof Arrays | Inputs | keyof full.OwnOutputs
> &
    Own &
    Arrays & { lse?: Lse | null | undefined };
/** Attention by one object: its options and its arrays. */
export type AttentionCall<Lse extends Asking = Asking> = AttentionOptions & RunOptions<Lse>;
export type RunResult<Lse = Float32Array | null> = Omit<
    full.RunResult<Float32Array, Lse>,
    "scores" | keyof full.OwnOutputs
>;

export interface Plan extends Pick<full.Plan, "sizes" | "inputs" | "dispose"> {
    /** Solve the problem on these arrays. */
    run<Lse extends Asking = Asking>(options: RunOptions<Lse>): RunResult<full.Asked<Lse>>;
    [Symbol.dispose](): void;
}

export interface Attn extends Pick<full.Attn, "version" | "tier" | "dispose"> {
    readonly build: "simd";

    /** Prepare to solve a problem often. */
    plan(options: PlanOptions): Plan;

    /** Attention in one call, as {@link full.Attn.attention}. */
    attention<Lse extends Asking = Asking>(call: AttentionCall<Lse>): RunResult<full.Asked<Lse>>;
    attention(
        query: Data,
        key: Data,
        value: Data,
        options?: AttentionOptions | null | undefined,
    ): Float32Array;

    [Symbol.dispose](): void;
}

/** Load the module and start the library in it; see libattn's init(). */
export function init(options?: full.SourceOptions | null | undefined): Promise<Attn>;
