import type {
    Dtype,
    Elements,
    Floats,
    InputArrays,
    Layout,
    NewTypes,
    OutDtype,
    OwnInputs,
    Strides,
} from "./arrays.js";
import type { Plan } from "./plan.js";
import type { Dtypes, PlanOptions, Settings, Sizes } from "./problem.js";

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

/** Options of {@link Attn.plan} for a plan that has gradients. */
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

/** {@link Attn.gradients} by one object: a problem, whose sizes may follow from shapes, and its arrays. */
export type GradientsCall<
    D extends OutDtype = "f32",
    K extends Dtype = D,
    By extends GradientName = "query" | "key" | "value",
> = GradientsOptions<D, K, By> &
    Settings &
    Dtypes<D, K> & { [Name in keyof Sizes]?: Sizes[Name] | null | undefined };
