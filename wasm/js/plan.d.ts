import type {
    Dtype,
    Elements,
    Floats,
    InputArrays,
    InputName,
    Layout,
    NewTypes,
    OutDtype,
    Output,
    OwnOutputArrays,
    OwnResults,
    Strides,
    Written,
} from "./arrays.js";
import type { Sizes } from "./problem.js";

/** What a run takes beside query, key and value. */
export interface RunArrays<Out = unknown> extends InputArrays {
    /** Written and returned instead of a new array; batch * heads * queries * valueDim elements. */
    out?: Out | null | undefined;
    /** Of query, key, value and out; "bhnd" by default. */
    layout?: Layout | null | undefined;
    /** Of those that are not in the layout. */
    strides?: Strides | null | undefined;
}

/** How a result beside `out` is asked for: `true`, or an array to write it to. */
export type Asking = boolean | Floats;

/** What is returned for it: `null` where it was not asked for. */
export type Asked<Ask> = Ask extends false | null | undefined ? null : Float32Array;

/** The arrays of {@link Plan.run}. `D`: of query and out, `K`: of key and value. */
export interface RunOptions<
    D extends OutDtype = "f32",
    K extends Dtype = D,
    Out extends Output<D> = Output<D>,
    Lse extends Asking = Asking,
    Scores extends Asking = Asking,
>
    extends RunArrays<Out>, OwnOutputArrays {
    /** batch * heads * queries * dim elements. */
    query: Elements<D>;
    /** batch * kvHeads * keys * dim elements. */
    key: Elements<K>;
    /** batch * kvHeads * keys * valueDim elements. */
    value: Elements<K>;
    /** `true`: return the rows' log-sum-exp; an array: write them there. See {@link RunResult.lse}. */
    lse?: Lse | null | undefined;
    /** The same for the scores; see {@link RunResult.scores}. */
    scores?: Scores | null | undefined;
}

/** {@link RunOptions} where inputs of the plan stand for query and key: {@link ArrayInfo.replaces}. */
export interface StandInOptions<
    K extends Dtype = "f32",
    Out extends Output<OutDtype> = Output<OutDtype>,
    Lse extends Asking = Asking,
    Scores extends Asking = Asking,
>
    extends RunArrays<Out>, OwnOutputArrays {
    query?: null | undefined;
    key?: null | undefined;
    /** batch * kvHeads * keys * valueDim elements. */
    value: Elements<K>;
    lse?: Lse | null | undefined;
    scores?: Scores | null | undefined;
}

/** An AbortSignal; structural, because not every program has the DOM's types. */
export interface SignalLike {
    readonly aborted: boolean;
    throwIfAborted(): void;
    addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
    removeEventListener(type: "abort", listener: () => void): void;
}

/** Options of {@link Plan.runAsync}. */
export interface AsyncOptions {
    /** Rejects with the signal's reason, and stops computing before the run's next task. */
    signal?: SignalLike | null | undefined;
}

/** What {@link Plan.run} computed. The arrays are the caller's. */
export interface RunResult<
    Out = Float32Array,
    Lse = Float32Array | null,
    Scores = Float32Array | null,
> extends OwnResults {
    /** Of the plan's `dtype`; for f16 a Float16Array where the query is one. */
    out: Out;
    /**
     * log sum_j exp(S_ij) in the order (batch, head, query), whatever the layout: batch * heads *
     * queries elements; -Infinity for a row without keys or a sink. `null` when it was not asked for.
     */
    lse: Lse;
    /**
     * Logits or weights at the plan's `scoresMode` in the order (batch, head, query, key): batch *
     * heads * queries * keys elements. `null` when they were not asked for.
     */
    scores: Scores;
    /** Of linear: rows that are not finite, or whose normaliser was 0 or drowned in rounding: do not trust them. */
    degenerateRows: number;
}

/** Which weights {@link Plan.weights} is to compute. */
export interface WeightsOptions<
    D extends OutDtype = "f32",
    K extends Dtype = D,
> extends InputArrays {
    query: Elements<D>;
    key: Elements<K>;
    /** Of query and key; "bhnd" by default. */
    layout?: Layout | null | undefined;
    /** Of those that are not in the layout. */
    strides?: Strides | null | undefined;
    /** 0 by default. */
    batch?: number | null | undefined;
    /** Of the query; 0 by default. */
    head?: number | null | undefined;
    /** First query; 0 by default. */
    first?: number | null | undefined;
    /** How many queries; all from `first` on by default. */
    count?: number | null | undefined;
}

/** The arrays of {@link Plan.error}. */
export interface ErrorOptions<D extends OutDtype = "f32", K extends Dtype = D> extends InputArrays {
    query: Elements<D>;
    key: Elements<K>;
    value: Elements<K>;
    /** The result that is to be judged. */
    out: Elements<D>;
    /** Of all four; "bhnd" by default. */
    layout?: Layout | null | undefined;
    /** Of those that are not in the layout. */
    strides?: Strides | null | undefined;
    /** Look at every so-manieth query: 1, all, by default. */
    stride?: number | null | undefined;
}

/** How much work one run of a plan is. */
export interface PlanCost {
    /** Additions and multiplications that the result needs; exp is not counted. */
    readonly flops: number | null;
    /**
     * Read and written at least once: queries, the keys that some query sees by position, their values,
     * and the output.
     */
    readonly bytes: number;
    /**
     * (query, key) pairs with a weight, all heads together; null, like flops and computed, where a run's
     * arrays decide or there are too many to count.
     */
    readonly pairs: number | null;
    /** Pairs of the blocks that are computed for those; 0 where the backend does not say. */
    readonly computed: number | null;
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
 * the module until dispose(); any use after that throws an AttnError "ATTN_ERROR_DISPOSED". One that is
 * dropped without dispose() is freed when JavaScript's garbage is collected, which knows nothing of
 * the module's memory and may come late: where `process.env.NODE_ENV` is "development" a warning says so,
 * once for each kind.
 */
export interface Plan<D extends OutDtype = "f32", K extends Dtype = D> {
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
    run<
        Out extends Output<D> = NewTypes[D],
        Lse extends Asking = Asking,
        Scores extends Asking = Asking,
    >(
        options: RunOptions<D, K, Out, Lse, Scores> | StandInOptions<K, Out, Lse, Scores>,
    ): RunResult<Written<Out>, Asked<Lse>, Asked<Scores>>;

    /**
     * The same beside this thread where there is the addon (libattn/native): arrays are read as they
     * are now, tensors and shared memory until the promise is settled, and dispose() waits. In
     * WebAssembly there is no other thread: this blocks, and has run when it returns
     * ({@link Attn.blocking}); libattn/worker has one.
     */
    runAsync<
        Out extends Output<D> = NewTypes[D],
        Lse extends Asking = Asking,
        Scores extends Asking = Asking,
    >(
        options: (RunOptions<D, K, Out, Lse, Scores> | StandInOptions<K, Out, Lse, Scores>) &
            AsyncOptions,
    ): Promise<RunResult<Written<Out>, Asked<Lse>, Asked<Scores>>>;
    /**
     * The effective attention weights of queries [first, first + count) of one batch and head, such
     * that out = weights * value (and what linear's `state` adds): row r, key j is at r * keys + j. For every
     * backend, also where it never forms them.
     */
    weights(
        options: WeightsOptions<D, K> | Omit<WeightsOptions<D, K>, "query" | "key">,
    ): Float32Array<ArrayBuffer>;

    /**
     * How far `out` is from exact attention, computed in double precision: the relative error in the
     * Frobenius norm over every `stride`-th query. Costs queries * keys / stride. NaN when `out` has a
     * NaN where exact attention does not have one.
     */
    error(options: ErrorOptions<D, K>): number;

    /** Give the memory back. A second call does nothing. */
    dispose(): void;
    [Symbol.dispose](): void;
}
