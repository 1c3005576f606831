/**
 * libattn/gradients: libattn with gradients of a loss through attention, as training needs them. A module of its
 * own, so that libattn stays small; the interface of libattn, and besides `gradients()`, and what libattn leaves out:
 * softmax's `precision`, and of backend "sketch" a sparse X and the methods "deterministic" and "approximate".
 * Needs WebAssembly SIMD128.
 *
 * ```js
 * import { init } from "libattn/gradients";
 * const attn = await init();
 * const plan = attn.plan({ heads: 8, queries: 128, dim: 64, causal: true, gradients: true });
 * const { out, lse } = plan.run({ query, key, value, lse: true });
 * const outGradient = lossGradient(out); // dL/dout, as long as out
 * const gradients = plan.gradients({ query, key, value, out, lse, outGradient });
 * gradients.query; // dL/dquery, as long as query
 * ```
 *
 * The gradient of an array is dL/darray: as many elements as that has, in the order of the layout, of its type, in a
 * new array that is the caller's. Where an array has an axis of 1 for all, so has its gradient, which is the
 * sum. What a mask, a window or key lengths hide gets 0, also where it is NaN. Weights are computed anew: memory
 * grows with `queries` + `keys`, not with their product. Results do not depend on threads.
 */
import type {
    Attn,
    Dtype,
    Elements,
    Floats,
    InitOptions,
    InputArrays,
    Layout,
    NewTypes,
    OutDtype,
    OwnInputs,
    Plan,
    PlanOptions,
    Settings,
    Dtypes,
    Sizes,
    Strides,
} from "./index.js";

export type * from "./index.js";
export { AttnError } from "./index.js";

/** Arrays that have gradients where their backend says so; `bias`, `sinks` and `slopes` with softmax and sparse. */
export type GradientName =
    "query" | "key" | "value" | "bias" | "sinks" | "slopes" | keyof OwnInputs;

/** The arrays of {@link GradientsPlan.gradients}. `D`: of query, out and outGradient, `K`: of key and value. */
export interface GradientsOptions<
    D extends OutDtype = "f32",
    K extends Dtype = D,
    By extends GradientName = "query" | "key" | "value",
> extends InputArrays {
    /** batch * heads * queries * dim elements. */
    query: Elements<D>;
    /** batch * kvHeads * keys * dim elements. */
    key: Elements<K>;
    /** batch * kvHeads * keys * valueDim elements. */
    value: Elements<K>;
    /** dL/dout, in the layout, whatever `strides.out` is: batch * heads * queries * valueDim elements. */
    outGradient: Elements<D>;
    /** What a run with these arrays computed. Where it, or `lse`, is not given, it is computed first. */
    out?: Elements<D> | null | undefined;
    /** The same; backends without it (linear) need none. */
    lse?: Floats | null | undefined;
    /** Of query, key, value, out, outGradient and the gradients; "bhnd" by default. */
    layout?: Layout | null | undefined;
    /** Of query, key, value and out where they are not in the layout. Gradients are. */
    strides?: Strides | null | undefined;
    /** Which gradients to compute; by default those of all given arrays that have one. */
    by?: readonly By[] | null | undefined;
}

/** Gradients by the names of their arrays: those that were asked for, and no others. */
export type Gradients<
    D extends OutDtype = "f32",
    K extends Dtype = D,
    By extends GradientName = "query" | "key" | "value",
> = {
    [Name in By]: GradientTypes<D, K>[Name];
} & Partial<GradientTypes<D, K>>;

/** Of which class the gradient of an array is. */
export type GradientTypes<D extends OutDtype, K extends Dtype> = {
    [Name in GradientName]: Name extends "query"
        ? NewTypes[D]
        : Name extends "key" | "value"
          ? K extends OutDtype
              ? NewTypes[K]
              : never
          : Float32Array<ArrayBuffer>;
};

/** Options of {@link GradientsAttn.plan} for a plan that has gradients. */
export type GradientsPlanOptions<D extends OutDtype, K extends Dtype> = PlanOptions<D, K> & {
    /** `true`: the plan has gradients. It takes more workspace then. */
    gradients: true;
};

/** A plan that has gradients. */
export interface GradientsPlan<D extends OutDtype = "f32", K extends Dtype = D> extends Plan<D, K> {
    /** Gradients of the loss whose gradient by `out` is `outGradient`. Inputs of the plan are brought as to a run. */
    gradients<By extends GradientName = "query" | "key" | "value">(
        options: GradientsOptions<D, K, By>,
    ): Gradients<D, K, By>;
}

/** {@link GradientsAttn.gradients} by one object: a problem, whose sizes may follow from shapes, and its arrays. */
export type GradientsCall<
    D extends OutDtype = "f32",
    K extends Dtype = D,
    By extends GradientName = "query" | "key" | "value",
> = GradientsOptions<D, K, By> &
    Settings &
    Dtypes<D, K> & { [Name in keyof Sizes]?: Sizes[Name] | null | undefined };

/** What gradients add to a library. */
export interface WithGradients {
    /** As {@link Attn.plan}; with `gradients: true` one that has gradients. */
    plan<D extends OutDtype = "f32", K extends Dtype = D>(
        options: GradientsPlanOptions<D, K>,
    ): GradientsPlan<D, K>;
    plan<D extends OutDtype = "f32", K extends Dtype = D>(
        options: PlanOptions<D, K> & { gradients?: false | null | undefined },
    ): Plan<D, K>;

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
}

/** The library with gradients. Independent of every other instance, and of libattn's own. */
export interface GradientsAttn extends Omit<Attn, "plan">, WithGradients {
    readonly build: "relaxed" | "simd";
    readonly blocking: true;
    [Symbol.dispose](): void;
}

/** Load the module and start the library in it; see libattn's init(). There is no build with threads. */
export function init(
    options?:
        | (Omit<InitOptions, "build" | "threads"> & {
              build?: "relaxed" | "simd" | null | undefined;
          })
        | null
        | undefined,
): Promise<GradientsAttn>;
