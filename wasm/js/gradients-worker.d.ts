/**
 * libattn/gradients/worker: libattn/gradients in a web worker or a worker thread, as libattn/worker is libattn there.
 *
 * ```js
 * import { init } from "libattn/gradients/worker";
 * const attn = await init();
 * const gradients = await attn.gradients(q, k, v, outGradient, { heads: 8, dim: 64 });
 * attn.dispose();
 * ```
 */
import type * as full from "./gradients.js";
import type { Attn, Elements, Plan, Sent, SentBut, WorkerOptions } from "./worker.js";

export { AttnError } from "./index.js";
export type * from "./worker.js";
export type { GradientName, GradientTypes, Gradients } from "./gradients.js";

type Arrays = "query" | "key" | "value" | "out" | "outGradient";

/** The arrays that have the types of a problem. */
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
> = SentBut<full.GradientsOptions<"f32", "f32", By>, Arrays> & BackwardArrays<D, K> & WorkerOptions;

/** As {@link full.GradientsCall}. */
export type GradientsCall<
    D extends full.OutDtype,
    K extends full.Dtype,
    By extends full.GradientName,
> = GradientsOptions<D, K, By> &
    full.Settings &
    full.Dtypes<D, K> & { [Name in keyof full.Sizes]?: Sent<full.Sizes[Name]> | null | undefined };

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

/** The library with gradients in a worker. */
export interface GradientsAttn extends Omit<Attn, "plan"> {
    plan<D extends full.OutDtype = "f32", K extends full.Dtype = D>(
        options: full.GradientsPlanOptions<D, K>,
    ): Promise<GradientsPlan<D, K>>;
    plan<D extends full.OutDtype = "f32", K extends full.Dtype = D>(
        options: full.PlanOptions<D, K> & { gradients?: false | null | undefined },
    ): Promise<Plan<D, K>>;

    /** As {@link full.WithGradients.gradients}. */
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
    [Symbol.dispose](): void;
}

/** Start a worker. */
export function init(options?: Parameters<typeof full.init>[0]): Promise<GradientsAttn>;
