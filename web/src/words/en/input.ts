/** Words of the input, its rules and files, and of what a link and the browser keep of them. */

export const input = {
    /** The file of the text that a page opens with. */
    demo: "demo.txt",
    batch: "Batch",
    layer: "Layer",
    shown: (what: string) => `${what} shown`,
    of: (tensor: string, file: string) => `${tensor} of ${file}`,
    /** Which one of several. */
    ofAll: (one: number, all: number) => `${one} of ${all}`,
    choose: "choose",
    dimension: (dim: number) => `dimension ${dim}`,
    dimensions: (dim: number, valueDim: number) => `dimensions ${dim} and ${valueDim}`,
    ofKeysAndValues: (heads: number) => `${heads} of keys and values`,
    batchOf: (batch: number) => `batch of ${batch}`,
    unread: (seen: number, all: number) => `the model sees the last ${seen} of ${all} tokens`,
    noSentence: "there is nothing to read: write some words",
    question: (text: string) => `Question: ${text}`,
    unloaded:
        "it did not come, and this browser has not kept it from an earlier visit: is there a network?",
};

export const files = {
    notArrays: (name: string) => `${name} is not a .npy, .npz or .safetensors file`,
    notNpy: (name: string) => `${name} is not a .npy file`,
    tooMany: (count: number) => `${count} files, where Q, K and V or one is needed`,
    notTold: (names: string) =>
        `cannot tell Q, K and V apart by the names ${names}: choose them above`,
    packed: (name: string, shape: string) =>
        `${name} is Q, K and V in one, and (${shape}) has no axis to split: save three arrays`,
    missing: (name: string) => `there is no file ${name}`,
    tooLarge: (name: string, has: string, most: string) =>
        `${name} has ${has}; this page reads ${most}, attn compare any size`,
    unread: (name: string, why: string) => `${name} cannot be read: ${why}`,
    tooLong: (letters: number, most: number) =>
        `the text has ${letters} letters, and this page takes ${most} at most`,
};

export const rules = {
    doesNotFit: (name: string, shape: string, wanted: string) =>
        `${name} (${shape}) does not fit weights of (${wanted}): it hides nothing.`,
    mask: (name: string, shape: string, isKept: boolean) =>
        `${name}, ${shape}; ${isKept ? "this browser keeps it for a reload, and a link has it only here" : "no link has it, a reload loses it"}`,
    wrongKeys: (text: string) => `“${text}”: keys are numbers and ranges, such as 0, 4-9.`,
    fewerKeys: (text: string, keys: string) => `“${text}”: the input has no more than ${keys}.`,
    wrongNumber: (label: string, isWhole: boolean, min: string, max: string) =>
        `${label}: a ${isWhole ? "whole " : ""}number from ${min} to ${max}.`,
};

export const keeping = {
    filesKept:
        "This browser keeps the files for a reload: a link to this page shows them only here",
    filesLost: "This browser does not keep the files: a reload loses them",
    filesElsewhere: "The link's files are kept in another browser, or no longer: open them again",
    pluginKept: "This browser keeps the plugin for a reload: a link to this page has it only here",
    pluginLost: "This browser does not keep the plugin: a reload loses it",
    pluginElsewhere: "The link's plugin is kept in another browser, or no longer: open it again",
    maskElsewhere: "The link's mask is kept in another browser, or no longer: open it again",
    textKept: (most: string) =>
        `Too long for a link, which has ${most} at most: this browser keeps the text, and only here the link shows it`,
    textLost: (most: string) =>
        `Too long for a link, which has ${most} at most, and this browser keeps nothing: a reload loses the text`,
    textBroken: "the link's text cannot be read: is it whole?",
    textElsewhere: "the link's text is too long for it and kept in another browser, if at all",
};

export const progress = {
    computing: {
        picture: "Computing pictures",
        output: "Computing outputs",
        error: "Computing errors",
        time: "Computing times, by turns",
    },
    reading: "Reading",
    stop: "Stop",
    stopped: "Stopped",
    goOn: "Go on",
    nothing: "Nothing is computed.",
    notAll: "Stopped before all was computed.",
    notRead: "Stopped before it was read.",
    done: (queries: string, keys: string, errors: string) =>
        `Computed on ${queries} by ${keys}, with the errors ${errors}`,
    unknown: "unknown",
    about: (version: string, build: string, tier: string) =>
        `libattn ${version} · ${build} build · ${tier} kernels`,
};
