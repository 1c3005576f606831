/** Words of what is folded away: costs, heads, lines, streaming, sharing and saving. */

import type { ViewWords } from "libattn/view/words";

export const costs = {
    /** Of axes. */
    axes: {
        time: "time (ms)",
        flops: "operations",
        bytes: "workspace (bytes)",
        memory: "memory of a run (bytes)",
    },
    errorAgainstCost: "Error against cost",
    errorAgainstExact: "error against exact",
    costAgainstLength: "Cost against length",
    tokens: "tokens",
    nothingYet: "Nothing is computed yet.",
    backend: "backend",
    setting: "setting",
    usual: "as it is by default",
    /** Of columns. */
    columns: { time: "time", flops: "operations", bytes: "workspace" },
    error: "error",
    noneBetter: "none is better in both",
    yes: "yes",
    toTry: (settings: string) => `Of the link still to be tried: ${settings}.`,
    refused: (settings: string, reason: string) =>
        `Of the link without a dot: ${settings}, ${reason}.`,
    newest: (most: number, settings: string) => `A link has the newest ${most} of ${settings}.`,
    operations: (count: string) => `${count} operations`,
    waiting: "Counted once all else is computed.",
    counting: "Counting…",
    notKnown: "not known",
    extrapolated: ", extrapolated by the operations from the longest run",
    always: (reference: string) => `costs less than ${reference} at all these lengths.`,
    never: (reference: string) => `costs no less than ${reference} at the longest.`,
    from: (reference: string) => `costs less than ${reference} from `,
    at: (cost: string) => `, at ${cost}.`,
};

export const heads = {
    head: (head: number) => `head ${head + 1}`,
    headOf: (batch: string, index: number, head: number) =>
        `${batch} ${index + 1}, head ${head + 1}`,
    first: (some: number, all: string) => `The first ${some} of ${all}.`,
    some: (some: number, all: string) => `Of each head ${some} of ${all} are looked at.`,
    error: "error",
    entropy: "entropy",
    distance: "distance",
};

export const strands = {
    label: "Queries on the left, keys on the right",
    query: (token: string, number: number) => `${token}, query ${number}`,
    key: (token: string, number: number) => `${token}, key ${number}`,
    zoomIn: (most: number) => `Zoom in to ${most} tokens or fewer: lines need room.`,
    looksAt: (query: string, keys: string) => `${query} looks most at ${keys}.`,
    isLookedAt: (key: string, queries: string) => `${key} is looked at most by ${queries}.`,
    none: "none",
};

export const streaming = {
    play: "Play",
    pause: "Pause",
    nothing: "Nothing to play yet: it takes an input with as many queries as keys.",
    come: (some: number, all: string, last: string) =>
        `${some} of ${all} have come, the last is ${last}.`,
    backend: "backend",
    keeps: "keeps",
    state: "of it a state",
    held: "tokens as they came",
    error: "error of the last answer",
    picture: (bytes: string, tokens: number) =>
        `Bytes kept, up to ${bytes}, by tokens up to ${tokens}`,
    axes: (tokens: number, bytes: string) => `tokens, to ${tokens}; bytes, to ${bytes}`,
    dashed: "; dashed: of a state alone",
};

export const share = {
    parts: {
        header: "title and words above",
        presets: "presets",
        input: "input and problem",
        small: "small pictures",
        legends: "colours",
        numbers: "numbers",
        settings: "parameters and commands",
        more: "what is folded away",
        footer: "words below",
    },
    changed: "Changed: copy it again",
    nothing: "There is nothing to save yet.",
    besidePage: "Beside this page: npm install libattn. A bundler takes no import map.",
    filesBeside: "q.npy, k.npy and v.npy, which were saved with this code, belong beside its page.",
    otherRules: "An element goes by Causal and the scale alone: take the other rules away.",
    saved: "Saved",
    copied: "Copied",
    selected: "Selected: this browser copies by its keys alone",
    saveAs: "Save as ",
    formatOf: (format: string, what: string) => `${format} of ${what}`,
    noPng: "this browser makes no PNG of it",
    title: "libattn: a view of attention",
    computedHere: "Computed where this file is opened, on the arrays in it. It was saved from",
    whole: "a page that has more",
    steps: "A click or Enter on a row of a picture shows it step by step.",
    colours: "Colours",
    backends: "Backends",
    needsScript: "This needs JavaScript.",
    computing: "Computing…",
    tooLarge: (megabytes: string) =>
        `one file of this input has ${megabytes} MB, and 1.5 MB is the most: take a smaller one`,
    /** Of elements, which speak English where it is null. */
    view: null as Omit<ViewWords, "problem"> | null,
};
