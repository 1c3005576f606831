/* What a problem asks for beyond its sizes, checked and turned into the numbers that C reads. */
import { checkFinite, checkInteger, checkOneOf, checkPlain, checkText, readList } from "./check.js";
import { dtypeCode, dtypesOf } from "./dtypes.js";
import { oneLine } from "./errors.js";
import { SIZES } from "./shape.js";

export const RULES = ["causal", "scale", "past", "window", "softcap"];
export const INPUTS = ["bias", "mask", "kvLengths", "sinks", "slopes"];

/* Each in the order of its codes in attn/types.h. */
const CAUSAL = ["none", "top-left", "bottom-right"];
export const SCORES = ["raw", "capped", "masked", "weights"];

/**
 * A problem from its options, which are checked (options.js): { sizes, dtypes, inputs, backend, numbers, params },
 * the numbers as src/bindings.h lists them, and the parameters' names and values by turns.
 */
export function problemOf(options, sizes, inputs) {
    const { causal = "none", scale, past = 0, window = [-1, -1], softcap = 0 } = options;
    const { scoresMode = "raw", backend = "softmax", params = {} } = options;
    const dtypes = dtypesOf(options);
    const numbers = [
        ...SIZES.map((name) => sizes[name]),
        CAUSAL.indexOf(causal),
        scale ?? NaN,
        past,
        ...window,
        softcap,
        SCORES.indexOf(scoresMode),
        inputs.reduce((bits, name) => bits | (1 << INPUTS.indexOf(name)), 0),
        dtypeCode(dtypes.query),
        dtypeCode(dtypes.key),
    ];
    return { sizes, dtypes, inputs, backend, numbers, params: Object.entries(params).flat() };
}

export function checkCausal(value, what) {
    if (typeof value === "boolean") return value ? "top-left" : "none";
    return checkOneOf(value, CAUSAL, what);
}

export function readWindow(value, what) {
    const sides = Array.isArray(value) ? readList(value, what, checkInteger) : [];
    if (sides.length === 2) return sides;
    throw new TypeError("window must be [left, right], the keys seen to each side (-1: all)");
}

/** Parameters as text, the way a person writes them, by name. */
export function readParams(params) {
    const texts = { __proto__: null };
    for (const [name, value] of Object.entries(checkPlain(params, "params"))) {
        if (value === undefined || value === null) continue;
        const what = `params.${oneLine(checkText(name, "the name of a parameter"))}`;
        if (typeof value === "number") texts[name] = String(checkFinite(value, what));
        else texts[name] = checkText(typeof value === "boolean" ? String(value) : value, what);
    }
    return texts;
}
