/* Element types, by the names that users give them. */
import { checkArray, checkFloats, checkOneOf } from "./check.js";

/* The code of attn/types.h, and the arrays that have such elements. */
const DTYPES = {
    f32: { code: 1, check: checkFloats },
    f16: { code: 3, check: arrayOf("Uint16Array", "Float16Array") },
    bf16: { code: 4, check: arrayOf("Uint16Array") },
    i8: { code: 5, check: arrayOf("Int8Array") },
};

function arrayOf(...types) {
    return (value, what) => checkArray(value, what, ...types);
}

export function checkDtype(name, what) {
    return checkOneOf(name, Object.keys(DTYPES), what);
}

export function dtypeCode(name) {
    return DTYPES[name].code;
}

/** An array of elements of this type. */
export function checkElements(value, what, dtype) {
    return DTYPES[dtype].check(value, what);
}

/** The class of the output's array: of f16's two that of `out`, or, where it is made, of the query. */
export function outputClass(dtypes, query, out = query) {
    return dtypes.out === "f32" ? Float32Array : out.constructor;
}

/** { query, key, value, out }: their types. */
export function dtypesOf({ dtype = "f32", kvDtype = dtype }) {
    checkDtype(dtype, "dtype");
    checkDtype(kvDtype, "kvDtype");
    return { query: dtype, key: kvDtype, value: kvDtype, out: dtype };
}
