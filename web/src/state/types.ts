/** What the page computes on, and what it finds. */

import type { PlanFact } from "libattn";
import type { Rules } from "../rules/rules";
import type { Extent, Region } from "../zoom/region";

export type Value = string | number | boolean;
export type Values = Record<string, Value>;

export type Role = "query" | "key" | "value";

/** A file of arrays, or a plugin, as read from disk, not yet looked into. */
export interface ArrayFile {
    name: string;
    bytes: Uint8Array;
    /** Which one of its arrays is meant, where they have names. */
    tensor?: string | null;
    /** The order of its axes, where it has three or more: by default tokens come behind heads. */
    layout?: Layout;
}

/** Of (batch), head, token and column. */
export type Layout = "heads first" | "tokens first";

/** An array in a file. */
export interface TensorInfo {
    file: string;
    /** null: the file is the array. */
    tensor: string | null;
    dtype: string;
    shape: number[];
}

export interface Shape {
    batch: number;
    heads: number;
    kvHeads: number;
    queries: number;
    keys: number;
    dim: number;
    valueDim: number;
}

/** What there is to know of an input beside its arrays. */
export interface Summary {
    shape: Shape;
    /** The text's tokens, or null for arrays from files. */
    tokens: string[] | null;
    /** NaN and infinite elements of Q, K and V together. */
    nonfinite: number;
    /** Tokens before these, which a model does not see. */
    unread?: number;
}

/** Contiguous arrays in the order (batch, head, row, column). Those that are equal are one. */
export interface Input extends Summary {
    query: Float32Array;
    key: Float32Array;
    value: Float32Array;
}

/** The part of the problem that the page chooses. */
export interface Problem extends Rules {
    causal: boolean;
    /** null: the backend's default. */
    scale: number | null;
}

/** Of all heads: the row of the output that is farthest off, by its own size, and its largest key. */
export interface WorstRow {
    batch: number;
    head: number;
    query: number;
    key: number;
    error: number;
    /** So many rows were looked at; null: all. */
    some: number | null;
}

/** How far an output is from exact attention. */
export interface Accuracy {
    error: number;
    /** So many rows were looked at, of all there are. */
    rows: number;
    total: number;
    /** Where the error of all rows lies, in 95 of 100 samples. */
    low: number;
    high: number;
}

/** How long a run takes. */
export interface Timing {
    /** The median of so many timings. */
    milliseconds: number;
    timings: number;
    /** The least and the greatest of them. */
    low: number;
    high: number;
}

/** What a plan tells before it runs. */
export interface Numbers {
    /** null, like the next: the backend does not say what it costs. */
    flops: number | null;
    /** Of the input, of all batches. */
    heads: number;
    /** Share of the (query, key) pairs that have a weight. */
    kept: number | null;
    /** A run's arrays hide some of the pairs, which a plan does not know: it keeps as many at most. */
    isMost: boolean;
    /** Share of those that are computed for them; null where all are, or none knows. */
    computed: number | null;
    workspaceBytes: number;
    kernel: string;
    form: string | null;
    facts: readonly PlanFact[];
}

/** What there is to know of a run. */
export interface Run {
    degenerateRows: number;
    /** NaN and infinite elements of the output. */
    nonfinite: number;
    milliseconds: number;
}

/** What a cell of several weights has of them: their mean, or the largest by size. */
export const poolings = ["mean", "largest"] as const;
export type Pooling = (typeof poolings)[number];

/** One weight, and whose it is. */
export interface Weight {
    query: number;
    key: number;
    weight: number;
    /** Has its row another one that is not 0? */
    hasChoice: boolean;
}

/**
 * Weights of a region of one head, pooled to at most `cellLimit` cells a side: each cell is of its keys and
 * `sampledRows` of its queries.
 */
export interface Grid extends Region {
    rows: number;
    columns: number;
    /** What it is a region of. */
    of: Extent;
    pooling: Pooling;
    /** Of all that were pooled; null: none yet. */
    largest: Weight | null;
    /** Queries and keys in a cell; 1 when nothing was pooled. */
    rowsPerCell: number;
    columnsPerCell: number;
    sampledRows: number;
    cells: Float32Array;
}

export const cellLimit = 256;
