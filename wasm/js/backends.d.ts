/* Backends and their parameters, and plugins that bring more of them. */

interface ParamBase {
    /** The key in {@link Params}. */
    readonly name: string;
    /** For people. */
    readonly label: string;
    /** One line. */
    readonly help: string;
    /**
     * E.g. "keys"; "" for none. The name that one of {@link Backend.arrays} has in C, as "block_columns": its
     * elements, and where plans do not name that array the parameter changes nothing.
     */
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

/** What an axis of an array counts; "plan": what the plan says. */
export type Axis =
    "one" | "batch" | "heads" | "kvHeads" | "queries" | "keys" | "dim" | "valueDim" | "plan";

/** An array of runs as it is declared. */
export interface ArrayInfo {
    /** That of the option. */
    readonly name: string;
    readonly role: "input" | "output";
    /**
     * Which runs have it: all; those whose plan names it in `inputs`; those that ask for it; those with keys in
     * i8.
     */
    readonly presence: "required" | "named" | "optional" | "int8";
    /** "query": the plan's `dtype`; "key": its `kvDtype`. */
    readonly dtype: "query" | "key" | "f32" | "f64" | "f16" | "bf16" | "i8" | "bool" | "i64";
    /** (batch, head, row, column), or what stands there. Shapes of fewer than four axes leave out those that are "one". */
    readonly axes: readonly Axis[];
    /** Of each axis: may it also be 1, the same for all? */
    readonly broadcast: readonly boolean[];
    /** Is it the backend's own? Then it is not among the types, but for {@link OwnInputs}. */
    readonly own: boolean;
    /** Names of the library's arrays for which it stands: runs whose plan names it in `inputs` bring none of them. */
    readonly replaces: readonly string[];
    /** One line. */
    readonly help: string;
}

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
    /** What its runs may have: the library's, and then its own. */
    readonly arrays: readonly ArrayInfo[];
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
