/*
 * What a caller's values must be, before they cross to C. Each error is one line: which, what.
 *
 * A value may be code: a getter, a Proxy, a class that says another length. So whatever is read is
 * read once, here, into plain data (options and lists) or a plain view (arrays), and everything after
 * looks at that alone. Of options only what is their own is read: a name on Object.prototype is none.
 */
import { AttnError, typeError } from "./errors.js";

const tensors = new WeakSet(); // tensor.js adds its own

export function markTensor(tensor) {
    tensors.add(tensor);
}

export function isTensor(value) {
    return tensors.has(value);
}

/** How an error shows a value: short, and never by the value's own code. */
function show(value) {
    if (value === null) return "null";
    if (typeof value === "string") return JSON.stringify(value.slice(0, 40));
    if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
    if (isTensor(value)) return `a tensor of ${value.dtype}`;
    if (typeof value === "object") return withArticle(kindOf(value));
    return typeof value === "bigint" ? `${value}n` : String(value);
}

function withArticle(noun) {
    return `${/^[AEIOio]/.test(noun) ? "an" : "a"} ${noun}`;
}

function kindOf(value) {
    if (ArrayBuffer.isView(value)) return nameOf(value) ?? "DataView";
    if (Array.isArray(value)) return "Array";
    return isPlain(value) ? "object" : "instance of a class";
}

export function wrong(what, wanted, value) {
    return typeError(`${what} must be ${wanted}, not ${show(value)}`);
}

/* ---- options ---------------------------------------------------------------------------------- */

/** Is it an object of no class, of any realm? What others hold need not be their properties. */
export function isPlain(value) {
    if (value === null || typeof value !== "object") return false;
    const prototype = Object.getPrototypeOf(value);
    return prototype === null || Object.hasOwn(prototype, "isPrototypeOf");
}

export function checkPlain(value, what) {
    if (!isPlain(value)) throw wrong(what, "a plain object", value);
    return value;
}

/**
 * The options of `given`, without those that are null; a misspelt one is never ignored. Their names are in a
 * list, which may depend on what they are.
 */
export function readOptions(given, names, what) {
    const own = Object.keys(checkPlain(given, `the options of ${what}`));
    const options = { __proto__: null };
    for (const name of own) {
        const value = given[name];
        if (value !== undefined && value !== null) options[name] = value;
    }
    const known = typeof names === "function" ? names(options) : names;
    const unknown = own.find((name) => !known.includes(name));
    if (unknown !== undefined)
        throw typeError(`${what}: unknown ${show(unknown)} (${hint(unknown, known, what)})`);
    return options;
}

/* What the names of options are elsewhere, and which call has one: nothing, unless hints.js says it. */
let elsewhere = { aliasOf() {}, homeOf() {} };

export function adviseBy(hints) {
    elsewhere = hints;
}

/** Behind an unknown name: the names that are near, else where it belongs and all that there are. */
function hint(name, names, call) {
    const alias = elsewhere.aliasOf(plain(name));
    const slips = slipsOf(plain(name));
    const isNear = (other) => slipsOf(plain(other)).some((slip) => slips.includes(slip));
    const near = new Set(names.filter((other) => other === alias || isNear(other)));
    if (near.size > 0) return `did you mean ${[...near].join(" or ")}?`;
    return `${elsewhere.homeOf(alias ?? name, call) ?? ""}there are ${[...new Set(names)].join(", ")}`;
}

const plain = (name) => name.toLowerCase().replaceAll("_", "");

/** A name, and what is left of it without one of its letters: two names that share one are near. */
function slipsOf(text) {
    return [text, ...Array.from(text, (_, i) => text.slice(0, i) + text.slice(i + 1))];
}

/** The elements of a list, each looked at by `check`; a hole is undefined. */
export function readList(list, what, check) {
    if (!Array.isArray(list)) throw wrong(what, "an array", list);
    const { length } = list;
    const elements = [];
    for (let i = 0; i < length; i++) {
        elements[i] = check(Object.hasOwn(list, i) ? list[i] : undefined, `${what}[${i}]`);
    }
    return elements;
}

/* ---- numbers and names -------------------------------------------------------------------------- */

/** An integer that a double holds exactly; whether it is a legal size is the C side's to say. */
export function checkInteger(value, what) {
    if (Number.isSafeInteger(value)) return value;
    throw wrong(what, Number.isInteger(value) ? "an integer below 2^53" : "an integer", value);
}

/** An integer from `least` to `most`. */
export function checkWithin(value, what, least, most) {
    if (checkInteger(value, what) >= least && value <= most) return value;
    throw new AttnError("ATTN_ERROR_RANGE", `${what}: ${value} is outside ${least}..${most}`);
}

/** A size: an integer from 1 on. */
export function checkSize(value, what) {
    return checkPositive(value, what, "SHAPE");
}

/** An integer from 1 on. */
export function checkPositive(value, what, kind = "RANGE") {
    if (checkInteger(value, what) >= 1) return value;
    throw new AttnError(`ATTN_ERROR_${kind}`, `${what} is ${value}, must be at least 1`);
}

export function checkFinite(value, what) {
    if (!Number.isFinite(value)) throw wrong(what, "a finite number", value);
    return value;
}

/** A number that float32 holds: one below the smallest, as 0, would stand for something else. */
export function checkFloat(value, what) {
    if (Math.fround(checkFinite(value, what)) !== 0 || value === 0) return value;
    throw new AttnError(
        "ATTN_ERROR_RANGE",
        `${what} is ${value}, below the smallest float32, 1.4e-45`,
    );
}

/** A number that is a float32, 0 or above. */
export function checkNotNegative(value, what) {
    if (checkFloat(value, what) >= 0) return value;
    throw new AttnError("ATTN_ERROR_RANGE", `${what} is ${value}, must be 0 or more`);
}

/** Text that survives as a C string. */
export function checkText(value, what) {
    if (typeof value !== "string") throw wrong(what, "a string", value);
    if (value.includes("\0")) throw typeError(`${what} must not contain a NUL character`);
    return value;
}

export function checkOneOf(value, choices, what) {
    if (!choices.includes(value)) {
        throw wrong(what, choices.map((choice) => JSON.stringify(choice)).join(" or "), value);
    }
    return value;
}

export function checkBoolean(value, what) {
    if (typeof value !== "boolean") throw wrong(what, "true or false", value);
    return value;
}

export function checkFunction(value, what) {
    if (value !== undefined && typeof value !== "function") throw wrong(what, "a function", value);
    return value;
}

/** An AbortSignal, also another program's. */
export function checkSignal(value) {
    if (value === undefined) return value;
    const methods = ["throwIfAborted", "addEventListener", "removeEventListener"];
    if (methods.every((name) => typeof value[name] === "function")) return value;
    throw wrong("signal", "an AbortSignal", value);
}

/* ---- arrays ------------------------------------------------------------------------------------- */

/* What arrays are by themselves, whatever a class that extends theirs says. */
const [nameOf, bufferOf, offsetOf, lengthOf] = readers(Object.getPrototypeOf(Int8Array.prototype), [
    Symbol.toStringTag,
    "buffer",
    "byteOffset",
    "length",
]);

function readers(prototype, names) {
    return names.map((name) => {
        const { get } = Object.getOwnPropertyDescriptor(prototype, name);
        return (array) => Reflect.apply(get, array, []);
    });
}

/** Is it an array of numbers in one piece? */
export function isTyped(value) {
    return nameOf(value) !== undefined;
}

/** The same elements by an array that is nothing else, and whose length stays. */
export function plainView(array, what, type = globalThis[nameOf(array)]) {
    try {
        return new type(bufferOf(array), offsetOf(array), lengthOf(array));
    } catch {
        const why = "its buffer was transferred, or was a tensor's before memory grew";
        const message = `${what} is detached (${why})`;
        throw new AttnError("ATTN_ERROR_SHAPE", message);
    }
}

/**
 * Results, [name, view] each: none shares memory with another, which would overwrite it. Of a tensor the view is
 * its data.
 */
export function checkApart(results) {
    for (const [i, [name, a]] of results.entries()) {
        const other = results.slice(0, i).find(([, b]) => shareMemory(a, b));
        if (other === undefined) continue;
        const message = `${other[0]} and ${name} share memory: each result needs its own`;
        throw new AttnError("ATTN_ERROR_ARGUMENT", message);
    }
}

function shareMemory(a, b) {
    const isBefore = (one, two) => one.byteOffset + one.byteLength <= two.byteOffset;
    return a.buffer === b.buffer && !isBefore(a, b) && !isBefore(b, a);
}

export function checkBytes(value, what) {
    const view = isTyped(value) ? plainView(value, what) : value;
    const { buffer, byteOffset, byteLength } = ArrayBuffer.isView(view)
        ? view
        : wholeOf(view, what);
    return new Uint8Array(buffer, byteOffset, byteLength);
}

function wholeOf(buffer, what) {
    try {
        return new DataView(buffer);
    } catch {
        throw wrong(what, "an ArrayBuffer or a view of one", buffer);
    }
}

/**
 * A tensor of this element type, or a plain view of an array of one of these classes: also of another
 * realm, of shared memory, or of a buffer that can be resized.
 */
export function readElements(value, what, dtype, types, wanted = withArticle(types.join(" or "))) {
    if (types.includes(nameOf(value))) return plainView(value, what);
    if (isTensor(value) && value.dtype === dtype) return value;
    throw wrong(what, wanted, value);
}

/**
 * An array of just `length` elements, or of at least so many where not all are used (`gaps`);
 * `meaning` says why so many, `broadcast` which axes may be 1. Its type is checked before.
 */
export function checkLength(array, what, wanted) {
    const { length, gaps, broadcast } = wanted;
    if (array.length === length || (gaps && array.length > length)) return array;
    const advice = broadcast?.includes(true) ? "; { data, shape } may have axes of 1" : "";
    throw new AttnError(
        "ATTN_ERROR_SHAPE",
        `${what} has ${array.length} elements, but ${wanted.meaning()} is ${counted(length)} elements${advice}`,
    );
}

/** A count in a message: past 2^53 numbers are no longer whole. */
function counted(length) {
    return Number.isSafeInteger(length) ? length : "more than 2^53";
}
