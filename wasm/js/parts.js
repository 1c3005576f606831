/*
 * One call of attention() as several smaller ones, so that one can tell how far it is: each takes the
 * queries that share a key/value head. The numbers are those of the whole.
 */
import { SCALES } from "./arrays.js";
import { inferSizes } from "./shape.js";

/* Backends whose heads do not know their numbers: a sketch draws other random numbers for each. */
const BY_HEAD = ["softmax", "linear", "sparse"];

/** Calls of attention(): { args: [query, key, value, options], at }, `at` being where `out` begins. */
export function split(query, key, value, options) {
    const whole = { args: [query, key, value, options], at: 0 };
    const { backend = "softmax", layout = "bhnd", strides } = options;
    if (!BY_HEAD.includes(backend) || layout !== "bhnd" || strides) return [whole];
    const sizes = inferSizes(options, query, key, value);
    const { batch, heads, kvHeads, queries, keys, dim, valueDim } = sizes;
    if (!Number.isInteger(heads / kvHeads) || batch * kvHeads === 1) return [whole];

    const group = heads / kvHeads;
    const part = (array, size, index) => array.subarray(size * index, size * (index + 1));
    return Array.from({ length: batch * kvHeads }, (_, index) => ({
        args: [
            part(query, group * queries * dim, index),
            part(key, keys * dim, index),
            part(value, keys * valueDim, index),
            {
                ...options,
                ...{ ...sizes, batch: 1, heads: group, kvHeads: 1 },
                ...inputsOf(options, sizes, Math.floor(index / kvHeads), (index % kvHeads) * group),
                ...scalesOf(options, sizes, index),
            },
        ],
        at: group * queries * valueDim * index,
    }));
}

/** The arrays beside query, key and value that belong to a batch and the heads from `first` on. */
function inputsOf({ bias, mask, kvLengths, sinks, slopes }, sizes, batch, first) {
    const group = sizes.heads / sizes.kvHeads;
    const inputs = {};
    if (bias !== undefined) inputs.bias = gridOf(bias, sizes, batch, first);
    if (mask !== undefined) inputs.mask = gridOf(mask, sizes, batch, first);
    if (kvLengths !== undefined) inputs.kvLengths = [kvLengths[batch]];
    if (sinks !== undefined) inputs.sinks = sinks.subarray(first, first + group);
    if (slopes !== undefined) inputs.slopes = slopes.subarray(first, first + group);
    return inputs;
}

/** The scales of a key/value head's keys and values. */
function scalesOf(options, { keys }, index) {
    const scales = {};
    for (const name of SCALES) {
        if (options[name] === undefined) continue;
        scales[name] = options[name].subarray(keys * index, keys * (index + 1));
    }
    return scales;
}

function gridOf(grid, { batch: batches, heads, kvHeads, queries, keys }, batch, first) {
    const full = [batches, heads, queries, keys];
    const flat = grid.shape === undefined;
    const data = flat ? grid : grid.data;
    const shape = flat
        ? data.length === queries * keys
            ? [1, 1, queries, keys]
            : full
        : grid.shape;
    const [, of, rows, columns] = shape;
    const head = shape[0] === 1 ? 0 : batch * of;
    const begin = (head + (of === 1 ? 0 : first)) * rows * columns;
    const count = of === 1 ? 1 : heads / kvHeads;
    return {
        data: data.subarray(begin, begin + count * rows * columns),
        shape: [1, count, rows, columns],
    };
}
