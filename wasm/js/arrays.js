/* The arrays of one call: read from what the user gave, and checked. */
import {
    checkBoolean,
    checkInteger,
    checkLength,
    checkSize,
    isPlain,
    isTensor,
    isTyped,
    plainView,
    readElements,
    readList,
    readOptions,
} from "./check.js";
import { NONE, checkElements } from "./dtypes.js";
import { FULL } from "./edition.js";
import { AttnError, missing } from "./errors.js";
import { INPUTS } from "./rules.js";
import { PLACED, checkShape } from "./shape.js";

export const SCALES = FULL ? ["keyScales", "valueScales"] : [];
export const RESULTS = FULL ? ["lse", "scores"] : ["lse"];
const ARRAYS = [...PLACED, ...INPUTS, ...SCALES, ...RESULTS];

/**
 * Those of the options that are arrays, by name: { array, given, shape }. `array` is a tensor or a plain
 * view of `given`, or where a result is to be a new one undefined; `shape` what { data, shape } says.
 */
export function readArrays(options, dtypes) {
    const arrays = { __proto__: null };
    for (const name of ARRAYS) {
        const value = options[name];
        if (value === undefined) continue;
        if (!RESULTS.includes(name) || typeof value !== "boolean") {
            arrays[name] = readArray(value, name, dtypes);
        } else if (value) arrays[name] = { array: undefined, given: undefined, shape: undefined };
    }
    return arrays;
}

/** An array, or { data, shape } of one. */
export function readArray(value, name, dtypes = NONE) {
    if (!isShaped(value)) {
        return { array: elementsOf(value, name, dtypes), given: value, shape: shapeOf(value) };
    }
    const { data, shape } = readOptions(value, ["data", "shape"], name);
    return {
        array: elementsOf(data, name, dtypes),
        given: data,
        shape: shape ? readShape(shape, `${name}.shape`) : shapeOf(data),
    };
}

/** The array of that name, which the call needs. */
export function present(arrays, name) {
    if (arrays[name]) return arrays[name];
    throw missing(name);
}

/** Only a tensor knows its own. */
function shapeOf(value) {
    return FULL && isTensor(value) ? value.shape : undefined;
}

function readShape(shape, what) {
    const sizes = readList(shape, what, checkSize);
    if (sizes.length > 0 && sizes.length <= 4) return sizes;
    throw new AttnError("ATTN_ERROR_SHAPE", `${what} has ${sizes.length} axes, must have 1 to 4`);
}

function isShaped(value) {
    return isPlain(value) && Object.hasOwn(value, "data");
}

function isBare(value) {
    return (FULL && isTensor(value)) || isTyped(value) || Array.isArray(value);
}

/** Is it an array in any form, and not options? */
export function isArray(value) {
    return isBare(value) || isShaped(value);
}

function elementsOf(value, name, dtypes) {
    if (name === "kvLengths") {
        return readList(isTyped(value) ? [...plainView(value, name)] : value, name, checkInteger);
    }
    if (name !== "mask") return checkElements(value, name, dtypes[name]);
    if (Array.isArray(value)) return Uint8Array.from(readList(value, name, checkBoolean));
    return readElements(
        value,
        name,
        "bool",
        ["Uint8Array"],
        "a Uint8Array or an array of booleans",
    );
}

/** The array `name`, checked, and how long it is: { array, given, length, gaps }. */
export function checkPlaced(arrays, name, place) {
    const { array, given, shape } = present(arrays, name);
    const { length, gaps } = place[name];
    checkShape(shape, place[name].shape, name);
    return { array: checkLength(array, name, place[name]), given, length, gaps };
}

/**
 * These arrays, and the scales of those in i8. Others that are there go along: C says what is wrong
 * with them.
 */
export function checkRead(arrays, names, place, dtypes) {
    const checked = { __proto__: null };
    for (const name of names) {
        checked[name] = checkPlaced(arrays, name, place);
        const scales = `${name}Scales`;
        if (FULL && (dtypes[name] === "i8" || (SCALES.includes(scales) && arrays[scales]))) {
            checked[scales] = checkPlaced(arrays, scales, place);
        }
    }
    return checked;
}
