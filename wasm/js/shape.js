/* The sizes of a problem: what is said, what follows from it, and where each array has its elements. */
import { checkInteger, checkOneOf, checkOptions } from "./check.js";
import { AttnError } from "./errors.js";

export const SIZES = ["batch", "heads", "kvHeads", "queries", "keys", "dim", "valueDim"];

/** The arrays whose place in memory users choose, in the order of src/bindings.h. */
export const PLACED = ["query", "key", "value", "out"];

/* Their axes, (batch, head, row, column), from the one whose elements stand side by side on. */
const LAYOUTS = { bhnd: [3, 2, 1, 0], bnhd: [3, 1, 2, 0] };

/* The axes of each array. */
const AXES = {
    query: ["batch", "heads", "queries", "dim"],
    key: ["batch", "kvHeads", "keys", "dim"],
    value: ["batch", "kvHeads", "keys", "valueDim"],
    out: ["batch", "heads", "queries", "valueDim"],
    lse: ["batch", "heads", "queries"],
    scores: ["batch", "heads", "queries", "keys"],
    keyScales: ["batch", "kvHeads", "keys"],
    valueScales: ["batch", "kvHeads", "keys"],
};

/** The sizes of a plan's options, with the defaults filled in. */
export function planSizes(options) {
    const given = checkSizes(options);
    const { batch = 1, heads = 1, kvHeads = heads, queries, keys = queries, dim } = given;
    const { valueDim = dim } = given;
    if (queries === undefined) throw missing("queries (the number of query rows)");
    if (dim === undefined) throw missing("dim (the length of a query or key)");
    return { batch, heads, kvHeads, queries, keys, dim, valueDim };
}

/** The same for attention(), which knows the arrays: what is not said follows from their lengths. */
export function inferSizes(options, query, key, value) {
    const given = checkSizes(options);
    const { batch = 1, heads = 1, kvHeads = heads } = given;
    let { queries, keys, dim, valueDim } = given;
    const blocks = batch * heads;
    const kvBlocks = batch * kvHeads;
    if (queries !== undefined)
        dim ??= quotient(query, "query", "batch * heads * queries", blocks * queries);
    if (keys !== undefined) dim ??= quotient(key, "key", "batch * kvHeads * keys", kvBlocks * keys);
    if (dim === undefined) {
        throw new AttnError(
            "ATTN_ERROR_SHAPE",
            "say dim, queries or keys: the rest follows from the lengths",
        );
    }
    queries ??= quotient(query, "query", "batch * heads * dim", blocks * dim);
    keys ??= quotient(key, "key", "batch * kvHeads * dim", kvBlocks * dim);
    valueDim ??= quotient(value, "value", "batch * kvHeads * keys", kvBlocks * keys);
    return { batch, heads, kvHeads, queries, keys, dim, valueDim };
}

/**
 * How many elements each array has, and what that is the product of: { length, meaning, gaps, strides }
 * by name. `gaps`: there may be elements that are not the array's. `strides` of all: those in PLACED's.
 */
export function places(sizes, { layout = "bhnd", strides = {} }) {
    checkOneOf(layout, Object.keys(LAYOUTS), "layout");
    checkOptions(strides, PLACED, "strides");
    const place = {};
    for (const name in AXES) {
        const shape = AXES[name].map((axis) => sizes[axis]);
        place[name] =
            strides[name] === undefined
                ? dense(shape, LAYOUTS[layout], AXES[name])
                : strided(shape, strides[name], `strides.${name}`);
    }
    place.strides = PLACED.flatMap((name) => place[name].strides);
    return place;
}

function dense(shape, order, axes) {
    const strides = [];
    let length = 1;
    for (const axis of order) {
        strides[axis] = length;
        length *= shape[axis] ?? 1;
    }
    return {
        ...{ strides, length, gaps: false },
        get meaning() {
            return `${axes.join(" * ")} = ${shape.join(" * ")}`;
        },
    };
}

function strided(shape, strides, what) {
    if (!Array.isArray(strides) || strides.length !== 4) {
        throw new TypeError(`${what} must be [batch, head, row, column], in elements`);
    }
    let length = 1;
    for (const [axis, stride] of strides.entries()) {
        if (checkInteger(stride, what) < 0) {
            throw new AttnError("ATTN_ERROR_ARGUMENT", `${what} must not be negative`);
        }
        length += (shape[axis] - 1) * stride;
    }
    return { strides, length, meaning: `what ${what} reach`, gaps: true };
}

function checkSizes(options) {
    const sizes = {};
    for (const name of SIZES) {
        if (options[name] !== undefined) sizes[name] = checkInteger(options[name], name);
    }
    return sizes;
}

function missing(what) {
    return new TypeError(`the plan needs ${what}`);
}

/** The size that makes up the length of `array` together with `known`, the product of the others. */
export function quotient(array, what, names, known) {
    const size = array.length / known;
    if (Number.isSafeInteger(size) && size > 0) return size;
    throw new AttnError(
        "ATTN_ERROR_SHAPE",
        `${what} has ${array.length} elements, which is not a multiple of ${names} = ${known}`,
    );
}
