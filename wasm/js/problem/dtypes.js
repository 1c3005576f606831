/* Element types, by the names that users give them. */
import {
    checkBoolean,
    checkInteger,
    checkOneOf,
    isTensor,
    isTyped,
    plainView,
    readElements,
    readList,
} from "./check.js";
import { AttnError } from "./errors.js";

/* In the order of their codes in attn/types.h: the classes of arrays that have such elements, the usual one first. */
const CLASSES = {
    __proto__: null,
    f32: ["Float32Array"],
    f64: ["Float64Array"],
    f16: ["Uint16Array", "Float16Array"],
    bf16: ["Uint16Array"],
    i8: ["Int8Array"],
    bool: ["Uint8Array"],
    i64: ["BigInt64Array"],
};
const OUT = ["f32", "f16", "bf16"];

export function checkDtype(name, what) {
    return checkOneOf(name, [...OUT, "i8"], what);
}

/** Of queries and results, for which there are no scales. */
export function checkOutDtype(name, what) {
    return checkOneOf(name, OUT, what);
}

/** The class of arrays for a type; of f16's two that of `like`, a checked array, where there is one. */
export function arrayClass(dtype, like) {
    if (dtype !== "f16" || like === undefined) return globalThis[CLASSES[dtype][0]];
    const { name } = (isTensor(like) ? like.data : like).constructor;
    return globalThis[CLASSES.f16.includes(name) ? name : "Uint16Array"];
}

export function dtypeCode(name) {
    return Object.keys(CLASSES).indexOf(name) + 1;
}

/** An array of elements of this type: a tensor or a plain view. What is only read may also be a list. */
export function checkElements(value, what, dtype, isWritten) {
    if (!isWritten && dtype === "i64") {
        const list = isTyped(value) ? [...plainView(value, what)] : value;
        return BigInt64Array.from(readList(list, what, readBigInt));
    }
    if (isWritten || dtype !== "bool") {
        return readElements(value, what, dtype, CLASSES[dtype]);
    }
    if (Array.isArray(value)) return Uint8Array.from(readList(value, what, checkBoolean));
    return readElements(value, what, dtype, ["Uint8Array"], "a Uint8Array or an array of booleans");
}

function readBigInt(value, what) {
    if (typeof value !== "bigint") return BigInt(checkInteger(value, what));
    if (value === BigInt.asIntN(64, value)) return value;
    throw new AttnError("ATTN_ERROR_RANGE", `${what} is ${value}, which 64 bits do not hold`);
}

/** What the element types "query" and "key" are. */
export function dtypesOf({ dtype = "f32", kvDtype = dtype }) {
    return { __proto__: null, query: dtype, key: kvDtype };
}

/** The element type of an array that is declared with this one. */
export function typeOf(dtype, dtypes) {
    return dtypes[dtype] ?? dtype;
}
