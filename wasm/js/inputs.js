/* The arrays that a run may bring beside query, key and value. */
import { checkBooleans, checkFloats, checkInteger, checkLength } from "./check.js";
import { AttnError } from "./errors.js";
import { INPUTS } from "./rules.js";

/**
 * Those of `arrays` that the plan declares as its inputs, checked: { array, length, shape } by name,
 * the shape of bias and mask alone.
 */
export function checkInputs(arrays, declared, sizes) {
    const checked = {};
    for (const name of INPUTS) {
        if (declared.includes(name)) {
            checked[name] = CHECKS[name](arrays[name], name, sizes);
        } else if (arrays[name] !== undefined) {
            throw new AttnError(
                "ATTN_ERROR_ARGUMENT",
                `${name} is given, but not among the plan's inputs`,
            );
        }
    }
    return checked;
}

/** The names of those that are there. */
export function givenInputs(options) {
    return INPUTS.filter((name) => options[name] !== undefined);
}

const CHECKS = {
    bias: (value, name, sizes) => checkGrid(value, name, sizes, checkFloats),
    mask: (value, name, sizes) => checkGrid(value, name, sizes, checkBooleans),
    kvLengths: checkLengths,
    sinks: checkHeads,
    slopes: checkHeads,
};

/** An array over (batch, head, query, key), or { data, shape } with axes of 1 that are for all. */
function checkGrid(value, name, { batch, heads, queries, keys }, check) {
    const full = [batch, heads, queries, keys];
    const { data, shape } = value?.shape === undefined ? { data: value } : value;
    check(data, name);
    const said = shape ?? (data.length === queries * keys ? [1, 1, queries, keys] : full);
    const fits = (axis) => said[axis] === full[axis] || (axis < 3 && said[axis] === 1);
    if (!Array.isArray(said) || said.length !== 4 || ![0, 1, 2, 3].every(fits)) {
        const wanted = `(${full.join(", ")}), 1 for all but the last where it is the same for all`;
        throw new AttnError("ATTN_ERROR_SHAPE", `${name}.shape must be ${wanted}`);
    }
    const length = said.reduce((product, size) => product * size, 1);
    checkLength(data, name, { length, meaning: said.join(" * ") });
    return { array: data, length, shape: said };
}

function checkLengths(value, name, { batch, keys }) {
    const array = Array.from(value ?? [], (length) => checkInteger(length, name));
    if (array.length !== batch) {
        throw new AttnError("ATTN_ERROR_SHAPE", `${name} has ${array.length} of ${batch} numbers`);
    }
    const wrong = array.find((length) => length < 0 || length > keys);
    if (wrong === undefined) return { array: BigInt64Array.from(array, BigInt), length: batch };
    throw new AttnError("ATTN_ERROR_RANGE", `${name}: ${wrong} is not from 0 to ${keys} keys`);
}

function checkHeads(value, name, { heads }) {
    checkLength(checkFloats(value, name), name, { length: heads, meaning: `heads = ${heads}` });
    return { array: value, length: heads };
}
