/* The options of a problem, and of the calls on it: their names, and what each must be. */
import {
    checkFinite,
    checkInteger,
    checkOneOf,
    checkSignal,
    checkText,
    readList,
    readOptions,
} from "./check.js";
import { checkDtype, checkOutDtype } from "./dtypes.js";
import { FULL } from "./edition.js";
import { INPUTS, SCORES, checkCausal, readParams, readWindow } from "./rules.js";
import { SIZES, checkLayout, readStrides } from "./shape.js";

const READERS = {
    __proto__: null,
    causal: checkCausal,
    scale: checkFinite,
    past: checkInteger,
    window: readWindow,
    softcap: checkFinite,
    inputs: (list, what) => readList(list, what, (name, at) => checkOneOf(name, INPUTS, at)),
    layout: checkLayout,
    strides: readStrides,
    ...(FULL && {
        backend: checkText,
        dtype: checkOutDtype,
        kvDtype: checkDtype,
        params: readParams,
        scoresMode: (mode, what) => checkOneOf(mode, SCORES, what),
        signal: checkSignal,
    }),
};
const COUNTS = FULL ? ["maxKeys", "head", "first", "count", "stride"] : [];
for (const name of [...SIZES, ...COUNTS]) READERS[name] = checkInteger;

/** These options, each read once and as it must be, but for arrays: arrays.js reads those. */
export function readChecked(given, names, what) {
    const options = readOptions(given, names, what);
    for (const name in options) {
        if (READERS[name]) options[name] = READERS[name](options[name], name);
    }
    return options;
}
