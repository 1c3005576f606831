/* What a problem asks for beyond its sizes, checked and turned into the numbers that C reads. */
import {
    checkFinite,
    checkInteger,
    checkOneOf,
    checkPlain,
    checkText,
    readList,
    wrong,
} from "./check.js";
import { bitsOf, inputsOf } from "./declared.js";
import { dtypeCode, dtypesOf } from "./dtypes.js";
import { typeError } from "./errors.js";
import { SIZES } from "./shape.js";

export const RULES = ["causal", "scale", "past", "window", "softcap"];
/* What the whole library has a choice of, and softmax alone does not. */
export const KINDS = ["dtype", "kvDtype", "backend", "params"];
export const MODES = ["scoresMode"];
/* Each in the order of its codes in attn/types.h. */
const CAUSAL = ["none", "top-left", "bottom-right"];
export const SCORES = ["raw", "capped", "masked", "weights"];

/**
 * A problem from its options, which are checked (options.js): { sizes, dtypes, inputs, arrays, backend, numbers,
 * params }, the numbers as src/bindings.h lists them, and the parameters' names and values by turns. `arrays`: those
 * that its runs may have.
 */
export function problemOf(options, sizes, inputs, arrays) {
    const { causal = "none", scale, past = 0, window = [-1, -1], softcap = 0 } = options;
    const { scoresMode = "raw", backend = "softmax", params = {} } = options;
    const dtypes = dtypesOf(options);
    const [bits, ownBits] = bitsOf(arrays, inputs);
    const numbers = [
        ...SIZES.map((name) => sizes[name]),
        CAUSAL.indexOf(causal),
        scale ?? NaN,
        past,
        ...window,
        softcap,
        SCORES.indexOf(scoresMode),
        bits,
        dtypeCode(dtypes.query),
        dtypeCode(dtypes.key),
        ownBits,
    ];
    const pairs = Object.entries(params).flat();
    return { sizes, dtypes, inputs, arrays, backend, numbers, params: pairs };
}

/** The names of the arrays that each run is to bring. */
export function readInputs(list, arrays) {
    return readList(list, "inputs", (name, what) => checkOneOf(name, inputsOf(arrays), what));
}

export function checkCausal(value, what) {
    if (typeof value === "boolean") return value ? "top-left" : "none";
    return checkOneOf(value, CAUSAL, what);
}

export function readWindow(value, what) {
    const sides = Array.isArray(value) ? readList(value, what, checkInteger) : [];
    if (sides.length === 2) return sides;
    throw typeError("window must be [left, right], the keys seen to each side (-1: all)");
}

/** Parameters as text, the way a person writes them, by name. */
export function readParams(params) {
    const texts = { __proto__: null };
    for (const [name, value] of Object.entries(checkPlain(params, "params"))) {
        if (value === undefined || value === null) continue;
        const what = `params.${checkText(name, "the name of a parameter")}`;
        if (typeof value === "number") texts[name] = String(checkFinite(value, what));
        else if (typeof value === "boolean") texts[name] = String(value);
        else if (typeof value === "string") texts[name] = checkText(value, what);
        else throw wrong(what, "a number, a string or a boolean", value);
    }
    return texts;
}
