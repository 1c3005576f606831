/* Element types, by the names that users give them. */
import { checkArray, checkOneOf } from "./check.js";
import { Tensor } from "./tensor.js";

/* The code of attn/types.h, and the classes of arrays that have such elements, the usual one first. */
const DTYPES = {
    f32: { code: 1, type: Float32Array, names: ["Float32Array"] },
    f16: { code: 3, type: Uint16Array, names: ["Uint16Array", "Float16Array"] },
    bf16: { code: 4, type: Uint16Array, names: ["Uint16Array"] },
    i8: { code: 5, type: Int8Array, names: ["Int8Array"] },
};

export function checkDtype(name, what) {
    return checkOneOf(name, Object.keys(DTYPES), what);
}

/** The class of arrays for a type; of f16's two that of `like`, an array or a tensor, where there is one. */
export function arrayClass(dtype, like) {
    if (dtype !== "f16" || typeof like !== "object") return DTYPES[dtype].type;
    return (like instanceof Tensor ? like.data : like).constructor;
}

export function dtypeCode(name) {
    return DTYPES[name].code;
}

/** An array of elements of this type. */
export function checkElements(value, what, dtype) {
    return checkArray(value, what, dtype, ...DTYPES[dtype].names);
}

/** { query, key, value, out }: their types. */
export function dtypesOf({ dtype = "f32", kvDtype = dtype }) {
    checkDtype(dtype, "dtype");
    checkDtype(kvDtype, "kvDtype");
    return { query: dtype, key: kvDtype, value: kvDtype, out: dtype };
}
