/** Words of a backend's panel: numbers, picture, what both are in words. */

import type { Noun } from "../words";

export const nouns: Record<NounName, Noun> = {
    cell: ["cell", "cells"],
    column: ["column", "columns"],
    element: ["element", "elements"],
    head: ["head", "heads"],
    key: ["key", "keys"],
    letter: ["letter", "letters"],
    output: ["output", "outputs"],
    query: ["query", "queries"],
    row: ["row", "rows"],
    setting: ["setting", "settings"],
    token: ["token", "tokens"],
};
type NounName =
    | ("cell" | "column" | "element" | "head" | "key")
    | ("letter" | "output" | "query" | "row" | "setting" | "token");

export const panel = {
    exact: "exact",
    off: (share: string) => `${share}% off`,
    useless: "no number",
    copy: "Copy",
    copied: "Copied",
    selected: "Selected",
    auto: "auto",
    automatic: (what: string) => `automatic: ${what}`,
    slider: (label: string) => `${label}, slider`,
    further: (count: number, changed: number) =>
        `${count} more parameters${changed > 0 ? `, ${changed} changed` : ""}`,
    /** `some`: so many rows were looked at; null: all. */
    worst: (query: string, some: number | null) =>
        `Worst ${some === null ? "row" : `of ${some} rows`}: ${query}, error `,
    stopped: "stopped before all was computed",
    tooMuch: (what: "run" | "exact", gigaFlops: number) =>
        `${what === "run" ? "a run" : "exact attention"} takes ${gigaFlops} GFLOP, which is too long for a page: the command line has no limit`,
};

export const numbers = {
    decimalPoint: ".",
    error: "Error against exact",
    errorOver: (rows: number, queries: string, seed: number) =>
        `Error over ${rows} of ${queries}, seed ${seed}`,
    ofAllHeads: ", all heads",
    ofThisHead: ", this head",
    interval: "Of all, with 95 %",
    range: (low: string, high: string) => `${low} to ${high}`,
    recall: (top: number) => `Top-${top} recall`,
    dropped: "Weight dropped",
    ofRows: (rows: number) => `, of ${rows} rows`,
    noRow: "no row sees more",
    timeOfOne: "Time of one run",
    time: (turns: number | string) => `Time, median of ${turns}`,
    spread: "Their range",
    tooLong: "too long for more",
    kept: "Pairs kept",
    atMost: (share: string) => `at most ${share}`,
    computed: "Pairs computed",
    workspace: "Workspace",
    cost: "Cost",
    kernel: "Kernel",
    notTold: "not told",
    notComputed: "not computed",
    notFinite: "not finite",
    nonfinite: (what: string) => `${what} NaN or infinite`,
    degenerate: (rows: string) =>
        `${rows} with a normaliser of nearly 0, or not finite: not to be trusted`,
    unit: (unit: string) => `Unit: ${unit}`,
};

export const picture = {
    queries: "queries",
    keys: "keys",
    error: "error",
    label: (backend: string, hasSteps: boolean) =>
        `${backend}: weights by query and key; arrows move${hasSteps ? ", Enter: step by step" : ""}`,
    quoted: (token: string) => `“${token}”`,
    weights: "weights",
    difference: "difference",
    errorOfRow: (error: string) => `error of this row: ${error}`,
    rowErrors: (median: string, most: string) => `row errors: median ${median}, most ${most}`,
    largest: (reading: string) => `largest: ${reading}`,
    largestLookedAt: (reading: string) => `largest of those looked at: ${reading}`,
    cellIs: (pooling: "mean" | "largest", queries: string, keys: string) =>
        `Each cell is the ${pooling === "mean" ? "mean" : "largest weight, by size,"} of ${queries} × ${keys}.`,
    middle: (some: number, all: string) => `the middle ${some} of ${all}`,
    region: (queries: string, allQueries: number, keys: string, allKeys: number) =>
        `queries ${queries} of ${allQueries}, keys ${keys} of ${allKeys}`,
};

/** The line below the pictures. */
export const looks = {
    atNothing: (row: string) => `${row} looks at nothing that this picture has.`,
    key: (key: string, weight: string) => `${key} (${weight})`,
    /** `others`: what backends beside it give its first key. */
    looks: (row: string, keys: string, first: string, others: string) =>
        `${row} looks at ${keys}.${others ? ` On ${first}: ${others}.` : ""}`,
    pinned: (row: string) => `The arithmetic of ${row} is below. Escape closes it.`,
};

/** A picture in a sentence. */
export const told = {
    noShares: "Of each cell the largest is shown, which tells no shares.",
    noDifferences: "No differences.",
    noWeights: "All weights are 0.",
    /** Of what something is a share. */
    all: (isDifference: boolean, isPart: boolean) => {
        const [all, here] = isPart ? ["", " shown"] : ["all ", ""];
        return isDifference ? `of ${all}differences${here}, by size,` : `of ${all}weight${here}`;
    },
    onDiagonal: "on the diagonal",
    inDiagonalCells: "in the cells of the diagonal",
    strongest: (share: string, column: string) => `${share} in the column ${column}, the strongest`,
    query: "query",
    caption: (isDifference: boolean) =>
        `Keys with the largest ${isDifference ? "differences" : "weights"}, by size`,
    firstRows: (rows: number, all: number) => `, of the first ${rows} of ${all} rows`,
};

/** A row, step by step. */
export const row = {
    features: (of: string, key: string) =>
        `Why ${key}: what each feature adds to its ${of}, the strongest first; line: their sum so far`,
    ofLogit: "logit",
    ofProduct: "product",
    feature: (feature: number, part: string) => `feature ${feature}: ${part}`,
    strongest: (some: number, all: number) => `, ${some} of ${all}`,
    pinned: (name: string, number: number) => `Query ${name}, number ${number}, step by step`,
    sees: (keys: number, all: string) => `sees ${keys} of ${all}`,
    noneAfter: (key: number) => `, none after key ${key}`,
    keepsAll: ", and keeps all",
    keeps: (keys: number, which: string) => `, and keeps ${keys}: ${which}`,
    zeros: (count: number) => `; ${count} ${count === 1 ? "weight is" : "weights are"} 0`,
    error: "Error of this row",
    key: "key",
    allKeys: "all keys",
    leftOut: "left out",
    tooSmall: "below what a float can hold",
    noSum: "The normaliser, the sum of all products, is 0: then the weights are 0.",
    hidden: (key: string) => `The rules hide key ${key} from this query: its weight is 0.`,
    patternLeaves: (key: string) => `The pattern leaves key ${key} out: its weight is 0.`,
    numbersOf: (key: string) => `The numbers of key ${key}:`,
    scale: "scale",
    zero: "Its weight is 0.",
    zeroAs: (why: string) => `Its weight is 0: its exponential is ${why}.`,
    output: "Output o = Σ w v",
    value: (key: string) => `Value v of key ${key}`,
    some: (shown: number, columns: string) => `, ${shown} of ${columns}`,
    first: (shown: number, columns: number) => `, first ${shown} of ${columns} columns`,
    besideExact: ", beside the exact one",
    linesExact: "; lines: exact",
    /** By their names in JavaScript; plugins have others. */
    states: {
        stateOut: "State",
        stateZOut: "State of the normaliser",
    } as Readonly<Record<string, string>>,
    state: (help: string, size: string, bytes: string) =>
        `${help}: ${size}, ${bytes} however many keys; blue is positive, orange negative`,
};
