/* The arrays of one call: read from what the user gave, and checked. */
import {
    checkApart,
    checkLength,
    checkSize,
    isPlain,
    isTensor,
    isTyped,
    readList,
    readOptions,
} from "./check.js";
import { arrayClass, checkElements, typeOf } from "./dtypes.js";
import { AttnError, missing } from "./errors.js";
import { fit } from "./shape.js";

/** A result that is to be a new array. */
export const NEW = { __proto__: null, array: undefined, given: undefined };

/**
 * Those of the options that are arrays, by name: { array, given, shape }. `array` is a tensor or a plain
 * view of `given`, or where a result is to be a new one undefined; `shape` what { data, shape } says.
 */
export function readArrays(options, declared, dtypes) {
    const arrays = { __proto__: null };
    for (const { name, role, presence, dtype } of declared) {
        const value = options[name];
        if (value === undefined) continue;
        if (presence !== "optional" || typeof value !== "boolean") {
            arrays[name] = readArray(value, name, typeOf(dtype, dtypes), role === "output");
        } else if (value) arrays[name] = NEW;
    }
    return arrays;
}

/** An array, or { data, shape } of one; `isWritten`: its elements will be. */
export function readArray(value, name, dtype = "f32", isWritten) {
    const { data, shape } = isShaped(value)
        ? readOptions(value, ["data", "shape"], name)
        : { __proto__: null, data: value };
    return {
        array: checkElements(data, name, dtype, isWritten),
        given: data,
        shape: shape ? readShape(shape, `${name}.shape`) : isTensor(data) ? data.shape : undefined,
    };
}

/** The array of that name, which the call needs. */
export function present(arrays, name) {
    if (arrays[name]) return arrays[name];
    throw missing(name);
}

function readShape(shape, what) {
    const sizes = readList(shape, what, checkSize);
    if (sizes.length > 0 && sizes.length <= 4) return sizes;
    throw new AttnError("ATTN_ERROR_SHAPE", `${what} has ${sizes.length} axes, must have 1 to 4`);
}

function isShaped(value) {
    return isPlain(value) && Object.hasOwn(value, "data");
}

/** Is it an array in any form, and not options? */
export function isArray(value) {
    return isTensor(value) || isTyped(value) || Array.isArray(value) || isShaped(value);
}

/** This place with the array that is there, checked: { array, given } besides, and strides as that has them. */
function checkPlaced(arrays, place) {
    const { array, given, shape } = present(arrays, place.name);
    const where = fit(place, array, shape);
    checkLength(array, place.name, where);
    return { ...where, array, given };
}

/**
 * What a call is to do with the arrays of these places (shape.js), checked: { given, outputs }, by name what
 * checkPlaced() says, and of outputs the `type` of a new one.
 */
export function checkJob({ dtypes, inputs, sizes }, arrays, places) {
    const given = { __proto__: null };
    const outputs = { __proto__: null };
    for (const place of Object.values(places)) {
        const { name, role, presence, dtype } = place;
        const isNamed = inputs.includes(name);
        // Where inputs of the plan stand for it, and it is there all the same, C says what is wrong.
        const isNeeded =
            presence === "required"
                ? inputs.every((input) => !places[input]?.replaces?.includes(name))
                : isNamed || needsScales(places, name, dtypes);
        if (!arrays[name] && !isNeeded) continue;
        if (role === "output") {
            outputs[name] = outputOf(arrays, place, typeOf(dtype, dtypes), given);
        } else if (presence !== "named" || isNamed) {
            given[name] = checkPlaced(arrays, place); // of scales for no i8 C says what is wrong
        } else {
            const owner = "maxKeys" in sizes ? "stream" : "plan";
            const message = `${name} is given, but not among the ${owner}'s inputs`;
            throw new AttnError("ATTN_ERROR_ARGUMENT", message);
        }
    }
    checkApart(Object.entries(outputs).flatMap(writtenBy));
    return { given, outputs };
}

/** The name of a result and the elements of the user's array that get it, where there is one. */
function writtenBy([name, { array, length }]) {
    if (array === undefined) return [];
    return [[name, (isTensor(array) ? array.data : array).subarray(0, length)]];
}

function needsScales(places, name, dtypes) {
    const of = name.replace("Scales", "");
    return dtypes.key === "i8" && of !== name && places[of];
}

/** The array a result goes to, and how long it is. A new one is made when the result is there. */
function outputOf(arrays, place, dtype, given) {
    const { name, gaps } = place;
    const { array } = arrays[name] ?? NEW;
    const type = arrayClass(dtype, array ?? given.query?.array);
    if (array !== undefined) return { ...checkPlaced(arrays, place), type };
    if (!gaps) return { ...place, ...NEW, type };
    throw new AttnError("ATTN_ERROR_ARGUMENT", `strides.${name} needs ${name}, an array`);
}
