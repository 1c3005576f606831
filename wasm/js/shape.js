/* The sizes of a problem: what is said, what follows from it, and where each array has its elements. */
import { checkInteger, checkOneOf, checkSize, readList, readOptions } from "./check.js";
import { FULL } from "./edition.js";
import { AttnError, missing } from "./errors.js";

export const SIZES = ["batch", "heads", "kvHeads", "queries", "keys", "dim", "valueDim"];

/** The arrays whose place in memory users choose, in the order of src/bindings.h. */
export const PLACED = ["query", "key", "value", "out"];

const LAYOUTS = ["bhnd", "bnhd"];

/* The axes of each array. */
const AXES = {
    query: ["batch", "heads", "queries", "dim"],
    key: ["batch", "kvHeads", "keys", "dim"],
    value: ["batch", "kvHeads", "keys", "valueDim"],
    out: ["batch", "heads", "queries", "valueDim"],
    lse: ["batch", "heads", "queries"],
    ...(FULL && {
        scores: ["batch", "heads", "queries", "keys"],
        keyScales: ["batch", "kvHeads", "keys"],
        valueScales: ["batch", "kvHeads", "keys"],
    }),
};

/** The sizes of a plan's options, with the defaults filled in. */
export function planSizes(options) {
    const { batch = 1, heads = 1, kvHeads = heads, queries, keys = queries, dim } = options;
    const { valueDim = dim } = options;
    for (const name of ["queries", "dim"]) {
        if (options[name] === undefined) throw missing(name);
    }
    return { batch, heads, kvHeads, queries, keys, dim, valueDim };
}

/**
 * The same for attention(), which knows the arrays (arrays.js): what is not said follows from their
 * shapes, and then from their lengths where these are all of an array.
 */
export function inferSizes(options, arrays) {
    const sizes = shapeSizes(options, arrays);
    if (options.strides) return planSizes(sizes);
    const solve = (name, axis) => {
        const others = AXES[name].filter((other) => other !== axis);
        const known = others.reduce((product, other) => product * sizes[other], 1);
        if (known > 0)
            sizes[axis] ??= quotient(arrays[name].array, name, others.join(" * "), known);
    };
    sizes.batch ??= 1;
    solve("query", "heads");
    solve("key", "kvHeads");
    sizes.heads ??= 1;
    sizes.kvHeads ??= sizes.heads;
    solve("query", "dim");
    solve("key", "dim");
    if (sizes.dim === undefined) {
        throw new AttnError(
            "ATTN_ERROR_SHAPE",
            "say dim, queries or keys: the rest follows from the lengths",
        );
    }
    solve("query", "queries");
    solve("key", "keys");
    solve("value", "valueDim");
    return planSizes(sizes);
}

/** The sizes in options, and what the shapes of arrays say; an error where two contradict each other. */
function shapeSizes(options, arrays) {
    const sizes = { __proto__: null };
    for (const name of SIZES) {
        if (options[name] !== undefined) sizes[name] = checkSize(options[name], name);
    }
    for (const name of PLACED) {
        const shape = arrays[name]?.shape;
        if (!shape) continue;
        const axes = inOrder(AXES[name], options.layout);
        for (const [i, size] of widened(shape, 4).entries()) {
            if ((sizes[axes[i]] ??= size) === size) continue;
            const what = `${name}.shape: ${axes[i]} is ${size}, and ${sizes[axes[i]]} elsewhere`;
            throw new AttnError("ATTN_ERROR_SHAPE", what);
        }
    }
    return sizes;
}

/** `shape` with 1 for the axes that it leaves out in front. */
export function widened(shape, rank) {
    return [...Array(Math.max(0, rank - shape.length)).fill(1), ...shape];
}

/** That a shape, where there is one, is the one that must be. */
export function checkShape(shape, wanted, what) {
    if (!shape || String(widened(shape, wanted.length)) === String(wanted)) return;
    const message = `${what}.shape is (${shape.join(", ")}), must be (${wanted.join(", ")})`;
    throw new AttnError("ATTN_ERROR_SHAPE", message);
}

/** Axes (batch, head, row, column) in the order of a layout. */
function inOrder([batch, head, row, column], layout) {
    return layout === "bnhd" ? [batch, row, head, column] : [batch, head, row, column];
}

/**
 * How many elements each array has, and what that is the product of: { length, meaning, gaps, strides,
 * shape } by name. `gaps`: there may be elements that are not the array's. `strides` of all: those in
 * PLACED's.
 */
export function places(sizes, layout = "bhnd", strides) {
    const place = { __proto__: null };
    for (const [name, axes] of Object.entries(AXES)) {
        const shape = axes.map((axis) => sizes[axis]);
        place[name] = strides?.[name]
            ? strided(shape, strides[name], `strides.${name}`)
            : dense(shape, inOrder([0, 1, 2, 3], layout), axes);
        place[name].shape = PLACED.includes(name) ? inOrder(shape, layout) : shape;
    }
    place.strides = PLACED.flatMap((name) => place[name].strides);
    return place;
}

export function checkLayout(value, what) {
    return checkOneOf(value, LAYOUTS, what);
}

/** Strides by the name of their array. */
export function readStrides(value, what) {
    const strides = readOptions(value, PLACED, what);
    for (const name in strides) {
        const list = (strides[name] = readList(strides[name], `${what}.${name}`, checkInteger));
        if (list.length === 4) continue;
        throw new TypeError(`${what}.${name} must be [batch, head, row, column], in elements`);
    }
    return strides;
}

function dense(shape, order, axes) {
    const strides = [];
    let length = 1;
    for (const axis of order.reverse()) {
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
    let length = 1;
    for (const [axis, stride] of strides.entries()) {
        if (stride < 0) {
            throw new AttnError("ATTN_ERROR_ARGUMENT", `${what} must not be negative`);
        }
        length += (shape[axis] - 1) * stride;
    }
    return { strides, length, meaning: `what ${what} reach`, gaps: true };
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
