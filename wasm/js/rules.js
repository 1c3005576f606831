/* What a problem asks for beyond its sizes, checked and turned into the numbers that C reads. */
import { checkFinite, checkInteger, checkOneOf } from "./check.js";
import { dtypeCode } from "./dtypes.js";
import { SIZES } from "./shape.js";

export const RULES = ["causal", "scale", "past", "window", "softcap"];

/* Each in the order of its codes in attn/types.h. */
const CAUSAL = ["none", "top-left", "bottom-right"];
const SCORES = ["raw", "capped", "masked", "weights"];
export const INPUTS = ["bias", "mask", "kvLengths", "sinks", "slopes"];

/** A problem as src/bindings.h lists it; `dtypes`: those of its arrays. */
export function problemNumbers(sizes, dtypes, options) {
    const { causal = false, scale, past = 0, window = [-1, -1], softcap = 0 } = options;
    const { scoresMode = "raw", inputs = [] } = options;
    const corner = causal === true ? "top-left" : causal === false ? "none" : causal;
    if (scale !== undefined) checkFinite(scale, "scale");
    checkPair(window);
    return [
        ...SIZES.map((name) => sizes[name]),
        CAUSAL.indexOf(checkOneOf(corner, CAUSAL, "causal")),
        scale ?? NaN,
        checkInteger(past, "past"),
        ...window,
        checkFinite(softcap, "softcap"),
        SCORES.indexOf(checkOneOf(scoresMode, SCORES, "scoresMode")),
        checkInputNames(inputs).reduce((bits, name) => bits | (1 << INPUTS.indexOf(name)), 0),
        dtypeCode(dtypes.query),
        dtypeCode(dtypes.key),
    ];
}

function checkPair(window) {
    if (!Array.isArray(window) || window.length !== 2) {
        throw new TypeError("window must be [left, right], the keys seen to each side (-1: all)");
    }
    for (const side of [0, 1]) checkInteger(window[side], `window[${side}]`);
}

function checkInputNames(inputs) {
    if (!Array.isArray(inputs)) throw new TypeError("inputs must be an array of names");
    for (const name of inputs) checkOneOf(name, INPUTS, "an input");
    return inputs;
}
