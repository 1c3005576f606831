/* What a caller's values must be, before they cross to C. Each error is one line: which, what. */
import { AttnError } from "./errors.js";
import { Tensor } from "./tensor.js";

/** How an error shows a value: short, and never by the value's own code. */
function show(value) {
    if (value === null) return "null";
    if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
    if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
    if (value instanceof Tensor) return `a tensor of ${value.dtype}`;
    if (typeof value === "object")
        return withArticle(tag(value) === "Object" ? "object" : tag(value));
    return String(value);
}

function withArticle(noun) {
    return `${/^[AEIOo]/.test(noun) ? "an" : "a"} ${noun}`;
}

function tag(value) {
    return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

function wrong(what, wanted, value) {
    return new TypeError(`${what} must be ${wanted}, not ${show(value)}`);
}

/** An options object with no name outside `names`: a misspelt option is never ignored. */
export function checkOptions(options, names, what) {
    if (options === null || typeof options !== "object") throw wrong(what, "an object", options);
    for (const name of Object.keys(options)) {
        if (!names.includes(name)) {
            throw new TypeError(`${what}: unknown "${name}" (there are ${names.join(", ")})`);
        }
    }
    return options;
}

/** An integer that a double holds exactly; whether it is a legal size is the C side's to say. */
export function checkInteger(value, what) {
    if (!Number.isSafeInteger(value)) throw wrong(what, "an integer", value);
    return value;
}

export function checkFinite(value, what) {
    if (!Number.isFinite(value)) throw wrong(what, "a finite number", value);
    return value;
}

/** Text that survives as a C string. */
export function checkText(value, what) {
    if (typeof value !== "string") throw wrong(what, "a string", value);
    if (value.includes("\0")) throw new TypeError(`${what} must not contain a NUL character`);
    return value;
}

export function checkOneOf(value, choices, what) {
    if (!choices.includes(value)) {
        throw wrong(what, choices.map((choice) => JSON.stringify(choice)).join(" or "), value);
    }
    return value;
}

export function checkBytes(value, what) {
    if (tag(value) === "ArrayBuffer" || tag(value) === "SharedArrayBuffer") {
        return new Uint8Array(value);
    }
    if (!ArrayBuffer.isView(value)) throw wrong(what, "an ArrayBuffer or a view of one", value);
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}

export function checkFloats(value, what) {
    return checkArray(value, what, "f32", "Float32Array");
}

export function checkBooleans(value, what) {
    return checkArray(value, what, "bool", "Uint8Array");
}

/**
 * A tensor of this element type, or an array of one of these classes: also of another realm, of shared
 * memory, or of a buffer that can be resized.
 */
export function checkArray(value, what, dtype, ...types) {
    if (value instanceof Tensor) {
        if (value.dtype === dtype) return value;
    } else if (ArrayBuffer.isView(value) && types.includes(tag(value))) {
        return value;
    }
    throw wrong(what, withArticle(types.join(" or ")), value);
}

/**
 * An array of just `length` elements, or of at least so many where not all are used (`gaps`);
 * `meaning` says why so many. Its type is checked before.
 */
export function checkLength(array, what, place) {
    const { length, gaps } = place;
    if (array.length === length || (gaps && array.length > length)) return array;
    const state = isDetached(array) ? "is detached (its buffer was transferred)" : null;
    throw new AttnError(
        "ATTN_ERROR_SHAPE",
        `${what} ${state ?? `has ${array.length} elements`}, but ${place.meaning} is ${length} elements`,
    );
}

function isDetached(array) {
    try {
        new Uint8Array(array.buffer);
        return false;
    } catch {
        return true;
    }
}
