/* The options of a problem, and of the calls on it: their names, and what each must be. */
import {
    checkBoolean,
    checkFloat,
    checkInteger,
    checkNotNegative,
    checkOneOf,
    checkSignal,
    checkText,
    readOptions,
} from "./check.js";
import { checkDtype, checkOutDtype } from "./dtypes.js";
import { SCORES, checkCausal, readParams, readWindow } from "./rules.js";
import { SIZES, checkLayout, readStrides } from "./shape.js";

const READERS = {
    __proto__: null,
    causal: checkCausal,
    scale: checkFloat,
    past: checkInteger,
    window: readWindow,
    softcap: checkNotNegative,
    layout: checkLayout,
    strides: readStrides,
    backend: checkText,
    dtype: checkOutDtype,
    kvDtype: checkDtype,
    params: readParams,
    scoresMode: (mode, what) => checkOneOf(mode, SCORES, what),
    signal: checkSignal,
    gradients: checkBoolean,
};
const COUNTS = ["maxKeys", "head", "first", "count", "stride"];
for (const name of [...SIZES, ...COUNTS]) READERS[name] = checkInteger;

/** Names that no array may have: of options, and of what stands beside arrays in results. */
export const taken = () => [
    ...Object.keys(READERS),
    ...["inputs", "onProgress", "repeats", "data", "byName", "degenerateRows", "milliseconds"],
];

/** These options, each read once and as it must be, but for arrays: arrays.js reads those. */
export function readChecked(given, names, what) {
    const options = readOptions(given, names, what);
    for (const name in options) {
        if (READERS[name]) options[name] = READERS[name](options[name], name);
    }
    return options;
}
