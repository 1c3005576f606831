/* The arrays that a run may bring beside query, key and value. */
import { present } from "./arrays.js";
import { checkLength } from "./check.js";
import { AttnError } from "./errors.js";
import { INPUTS } from "./rules.js";
import { checkShape, widened } from "./shape.js";

/**
 * Those of `arrays` that the plan declares as its inputs, checked: { array, length, shape } by name,
 * the shape of bias and mask alone.
 */
export function checkInputs(arrays, declared, sizes) {
    const checked = { __proto__: null };
    for (const name of INPUTS) {
        if (declared.includes(name)) {
            checked[name] = CHECKS[name](present(arrays, name), name, sizes);
        } else if (arrays[name]) {
            throw new AttnError(
                "ATTN_ERROR_ARGUMENT",
                `${name} is given, but not among the plan's inputs`,
            );
        }
    }
    return checked;
}

/** The names of those that are there. */
export function givenInputs(arrays) {
    return INPUTS.filter((name) => arrays[name]);
}

const CHECKS = {
    bias: checkGrid,
    mask: checkGrid,
    kvLengths: checkLengths,
    sinks: checkHeads,
    slopes: checkHeads,
};

/** An array over (batch, head, query, key), or { data, shape } with axes of 1 that are for all. */
function checkGrid({ array, shape }, name, { batch, heads, queries, keys }) {
    const full = [batch, heads, queries, keys];
    const flat = array.length === queries * keys ? [1, 1, queries, keys] : full;
    const said = shape ? widened(shape, 4) : flat;
    const fits = (size, axis) => size === full[axis] || (axis < 3 && size === 1);
    if (said.length !== 4 || !said.every(fits)) {
        const wanted = `(${full.join(", ")}), 1 for all but the last where it is the same for all`;
        throw new AttnError("ATTN_ERROR_SHAPE", `${name}.shape must be ${wanted}`);
    }
    const length = said.reduce((product, size) => product * size, 1);
    checkLength(array, name, { length, meaning: said.join(" * ") });
    return { array, length, shape: said };
}

function checkLengths({ array, shape }, name, { batch, keys }) {
    checkShape(shape, [batch], name);
    if (array.length !== batch) {
        throw new AttnError("ATTN_ERROR_SHAPE", `${name} has ${array.length} of ${batch} numbers`);
    }
    const wrong = array.find((length) => length < 0 || length > keys);
    if (wrong === undefined) return { array: BigInt64Array.from(array, BigInt), length: batch };
    throw new AttnError("ATTN_ERROR_RANGE", `${name}: ${wrong} is not from 0 to ${keys} keys`);
}

function checkHeads({ array, shape }, name, { heads }) {
    checkShape(shape, [heads], name);
    checkLength(array, name, { length: heads, meaning: `heads = ${heads}` });
    return { array, length: heads };
}
