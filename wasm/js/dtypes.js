/* Element types, by the names that users give them. */
import { checkOneOf, isTensor, readElements } from "./check.js";
import { FULL } from "./edition.js";

/* The code of attn/types.h, and the classes of arrays that have such elements, the usual one first. */
const DTYPES = {
    __proto__: null,
    f32: { code: 1, type: Float32Array, names: ["Float32Array"] },
    f16: { code: 3, type: Uint16Array, names: ["Uint16Array", "Float16Array"] },
    bf16: { code: 4, type: Uint16Array, names: ["Uint16Array"] },
    i8: { code: 5, type: Int8Array, names: ["Int8Array"] },
};

export function checkDtype(name, what) {
    return checkOneOf(name, Object.keys(DTYPES), what);
}

/** Of queries and results, for which there are no scales. */
export function checkOutDtype(name, what) {
    const names = Object.keys(DTYPES).filter((other) => other !== "i8");
    return checkOneOf(name, names, what);
}

/** The class of arrays for a type; of f16's two that of `like`, a checked array, where there is one. */
export function arrayClass(dtype, like) {
    if (!FULL) return Float32Array;
    if (dtype !== "f16" || like === undefined) return DTYPES[dtype].type;
    return (isTensor(like) ? like.data : like).constructor;
}

export function dtypeCode(name) {
    return FULL ? DTYPES[name].code : 1;
}

/** An array of elements of this type: a tensor or a plain view. */
export function checkElements(value, what, dtype = "f32") {
    return readElements(value, what, dtype, FULL ? DTYPES[dtype].names : ["Float32Array"]);
}

/** { query, key, value, out }: their types. */
export function dtypesOf({ dtype = "f32", kvDtype = dtype }) {
    if (!FULL) return NONE;
    return { __proto__: null, query: dtype, key: kvDtype, value: kvDtype, out: dtype };
}

/** Those of arrays that are of no other type than f32. */
export const NONE = { __proto__: null };
