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
    Grid,
    InputArrays,
    InputName,
    Layout,
    Rules,
    Sizes,
    Source,
    Stride,
    Strides,
} from "./index.js";

type Types = "dtype" | "kvDtype";
type Scales = "keyScales" | "valueScales";
export type PlanOptions = Omit<full.PlanOptions, "backend" | "params" | "scoresMode" | Types>;
export type AttentionOptions = Omit<
    full.AttentionOptions,
    "backend" | "params" | "out" | Types | Scales
> & { out?: Float32Array | undefined };
type Arrays = "query" | "key" | "value";
export type RunOptions = Omit<full.RunOptions, "scores" | "out" | Arrays | Scales> &
    Record<Arrays, Float32Array> & { out?: Float32Array | undefined };
export type RunResult = Omit<full.RunResult, "scores">;

export interface Plan extends Pick<full.Plan, "sizes" | "inputs" | "dispose"> {
    /** Solve the problem on these arrays. */
    run(arrays: RunOptions): RunResult;
    [Symbol.dispose](): void;
}

export interface Attn extends Pick<full.Attn, "version" | "tier" | "dispose"> {
    readonly build: "simd";

    /** Prepare to solve a problem often. */
    plan(options: PlanOptions): Plan;

    /** Attention in one call, as {@link full.Attn.attention}. */
    attention(
        query: Float32Array,
        key: Float32Array,
        value: Float32Array,
        options: AttentionOptions,
    ): Float32Array;

    [Symbol.dispose](): void;
}

/** Load the module and start the library in it; see libattn's init(). */
export function init(source?: full.Source | undefined | null): Promise<Attn>;
