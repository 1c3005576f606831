/**
 * The papers' experiments: data, figures' declarations, and one function that runs a panel of a figure in
 * workers. The numbers are those of `attn lab run` with the same seed.
 */

import type { Param, SourceOptions } from "libattn";

export { AttnError } from "libattn";
export type { AttnErrorCode, Param } from "libattn";

/**
 * How a column is drawn: "low" and "high" are the band of the last "line" or "points" before them,
 * "bound" is what a theorem promises, "faint" is detail, "hidden" is for tables only.
 */
export type LabMark = "hidden" | "line" | "points" | "low" | "high" | "bound" | "faint";

export interface LabColumn {
    /** As in {@link LabResult.columns}; the first one is "x". */
    readonly name: string;
    /** For people; may be empty for a band's edges. */
    readonly label: string;
    readonly mark: LabMark;
    /** Counts and flags about a point, which no CSV file has. */
    readonly aside: boolean;
}

export interface LabAxis {
    readonly label: string;
    /** "" for none. */
    readonly unit: string;
    /** Logarithmic; what is not above 0 is then left out. */
    readonly log: boolean;
    /** Its ends; null: as the data are. */
    readonly low: number | null;
    readonly high: number | null;
}

/** A panel of an experiment's figure. */
export interface LabPanel {
    readonly id: string;
    readonly title: string;
    /** The claim in everyday words. */
    readonly plain: string;
    /** What is tested: the paper's statement and where it stands. */
    readonly claim: string;
    /** The paper's statements that it is about, with "; " between them. */
    readonly states: string | null;
    /** At which settings the claim is judged, and why there. */
    readonly where: string | null;
    /** When the points count for the claim, and when against it. */
    readonly criterion: string;
    /** What the library claims beyond the paper; no part of the verdict. */
    readonly ours: string | null;
    /** The parameter that x is, if it is one. */
    readonly x_param: string | null;
    /** Values of x. */
    readonly grid: readonly number[];
    /** What the panel sets; params may set it to something else. */
    readonly fixed: Readonly<Record<string, number | string>>;
    /** Parameters that make no difference to this panel: they are not taken. */
    readonly idle: readonly string[];
    readonly x: LabAxis;
    readonly y: LabAxis;
    /** The claim is the library's own: no paper states it. */
    readonly own: boolean;
    /** It measures time: one worker, whatever `workers` says. */
    readonly serial: boolean;
    /** Between which x the paper defines the experiment; null: everywhere. */
    readonly defined: readonly [number, number] | null;
    readonly columns: readonly LabColumn[];
}

export interface Lab {
    readonly name: string;
    readonly title: string;
    /** Paper and section. */
    readonly reference: string;
    /** What is computed, and what the paper says of it. */
    readonly summary: string;
    readonly params: readonly Param[];
    readonly panels: readonly LabPanel[];
}

/** A finished point. */
export interface LabProgress {
    /** Of the point in the grid: points finish in any order. */
    readonly index: number;
    /** As a row of {@link LabResult.rows}. */
    readonly row: readonly number[];
    /** Points finished, this one counted, and all of them. */
    readonly done: number;
    readonly total: number;
    /** How much of the work is done: 1 with the last point. */
    readonly fraction: number;
    /** Since the first point began, and about how many more it takes. */
    readonly seconds: number;
    readonly secondsLeft: number;
}

export interface LabOptions {
    /** The panel's id; the first one by default. */
    panel?: string | undefined;
    /** All randomness comes from it: an integer from 0 to 2^64 - 1; 1 by default. */
    seed?: number | bigint | undefined;
    /** Points instead of the panel's own. What is computed at one does not depend on the others. */
    xs?: ArrayLike<number> | Iterable<number> | undefined;
    /** How many share the points: 1 by default. The numbers do not depend on it. */
    workers?: number | undefined;
    /** Stops it: the promise is rejected with the signal's reason at once. Rows had come by onProgress. */
    signal?: AbortSignalLike | undefined;
    /** Called with each finished point. */
    onProgress?: ((progress: LabProgress) => void) | undefined;
}

/** What the points say about a panel's claim, by its criterion; an illustration is judged by none. */
export type LabVerdict = "undecided" | "holds" | "fails" | "illustration";

export interface LabResult {
    readonly lab: string;
    readonly panel: string;
    readonly seed: number | bigint;
    /** The parameters' values, but for the one that is x and those that are idle. */
    readonly params: Readonly<Record<string, number | string>>;
    readonly columns: readonly string[];
    /** One for each point, in the order of the points: a number for each column, NaN where there is none. */
    readonly rows: readonly (readonly number[])[];
    /** A line for the caption: what was fitted, what is to be known; "" for nothing. */
    readonly note: string;
    readonly verdict: LabVerdict;
    /** How sure the verdict is: points for and against, intervals. */
    readonly sure: string;
    /** What was found, in a sentence. */
    readonly found: string;
    /** For each row, whether it is within the premises of the panel's claim; only those are judged. */
    readonly within: readonly boolean[];
    readonly seconds: number;
}

/* Structural, as in index.d.ts. */
interface AbortSignalLike {
    readonly aborted: boolean;
    throwIfAborted(): void;
}

/** All experiments, as the library declares them. */
export function labs(): Promise<Lab[]>;

/**
 * Compute a panel of an experiment, point by point, in workers that end with it. A parameter's value may
 * be text, as a person writes it. Rejected with an {@link AttnError} for a name there is not
 * ("ATTN_ERROR_NOT_FOUND") and a value that cannot be ("ATTN_ERROR_RANGE", "ATTN_ERROR_ARGUMENT").
 */
export function lab(
    name: string,
    params?: Readonly<Record<string, number | string | boolean>>,
    options?: LabOptions,
): Promise<LabResult>;

/**
 * Load the module now, or another one than the package's file, for the calls that follow: `libattn-labs/labs.wasm` from the
 * same kinds of source as libattn's init(). Hosts that compile nothing, such as Cloudflare Workers, need it. Gives the
 * functions of this entry. Rejects with an AttnError "ATTN_ERROR_LOAD" where it is no such module, which changes nothing.
 */
export function init(options?: SourceOptions | null | undefined): Promise<{
    readonly labs: typeof labs;
    readonly lab: typeof lab;
}>;
