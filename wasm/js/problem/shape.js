/* The sizes of a problem: what is said, what follows from it, and where each array has its elements. */
import { checkInteger, checkOneOf, checkPlain, checkSize, readList, readOptions } from "./check.js";
import { ARRAYS, OWN, PLACED, isOwn, namesOf } from "./declared.js";
import { AttnError, missing, typeError } from "./errors.js";

export const SIZES = ["batch", "heads", "kvHeads", "queries", "keys", "dim", "valueDim"];

/* The axes of the arrays that isPlaced(), (batch, head, row, column), in the order of memory. */
const ORDERS = { bhnd: [0, 1, 2, 3], bnhd: [0, 2, 1, 3] };

export const product = (sizes) => sizes.reduce((all, size) => all * size, 1);

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
 * The same for attention(), which knows the arrays (arrays.js): what is not said follows from their shapes. Without
 * those one of `dim`, `queries` and `keys` gives the others by the lengths; all other sizes are a plan's by default.
 */
export function inferSizes(options, arrays) {
    const sizes = shapeSizes(options, arrays);
    if (options.strides) return planSizes(sizes);
    sizes.batch ??= 1;
    sizes.heads ??= 1;
    sizes.kvHeads ??= sizes.heads;
    const solve = (name, axis) => {
        const others = axesOf(name).filter((other) => other !== axis);
        const known = product(others.map((other) => sizes[other]));
        if (known > 0)
            sizes[axis] ??= quotient(arrays[name].array, name, others.join(" * "), known);
    };
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
        for (const [i, k] of ORDERS[options.layout ?? "bhnd"].entries()) {
            const axis = axesOf(name)[k];
            const size = widened(shape, 4)[i];
            if ((sizes[axis] ??= size) === size) continue;
            const what = `${name}.shape: ${axis} is ${size}, and ${sizes[axis]} elsewhere`;
            throw new AttnError("ATTN_ERROR_SHAPE", what);
        }
    }
    return sizes;
}

const axesOf = (name) => ARRAYS.find((array) => array.name === name).axes;

/** The numbers of the axes that shapes need not leave out. */
const saidOf = (axes, order) => order.filter((k) => axes[k] !== "one");

/** `shape` with 1 for the axes that it leaves out in front. */
function widened(shape, rank) {
    return [...Array(Math.max(0, rank - shape.length)).fill(1), ...shape];
}

/** Does the layout say where it has its elements, and may strides? Of a backend's own: where rows are tokens. */
const isPlaced = (array) =>
    PLACED.includes(array.name) || (isOwn(array) && ["queries", "keys"].includes(array.axes[2]));

/**
 * Where these arrays have their elements, by name: as declared, with `extents` and `strides`, the `order` of their
 * axes, how many elements they have, `length`, and what that is the product of, `meaning`. `gaps`: there may be
 * elements that are not the array's. `shapes`: the extents of backend-specific tensors, for the axes that the plan says.
 */
export function places(arrays, sizes, { layout = "bhnd", strides }, shapes) {
    const place = { __proto__: null };
    if (strides) checkStrides(strides, arrays);
    for (const array of arrays) {
        const { name, number, axes } = array;
        const order = ORDERS[isPlaced(array) ? layout : "bhnd"];
        const said = shapes?.[number - OWN];
        const extents = axes.map((axis, k) =>
            SIZES.includes(axis) ? sizes[axis] : (said?.[k] ?? 1),
        );
        const where = strides?.[name]
            ? strided(extents, strides[name], `strides.${name}`)
            : dense(axes, order, extents);
        place[name] = { ...array, order, ...where };
    }
    return place;
}

/**
 * Such a place for an array whose shape says which axes are the same for all; without one, where it is so long,
 * batches and heads are.
 */
export function fit(place, array, shape) {
    const { name, axes, broadcast, order, extents, strides, gaps } = place;
    const may = broadcast.includes(true);
    if (!shape) {
        const flat = extents.map((size, k) => (k < 2 && broadcast[k] ? 1 : size));
        return may && !gaps && array.length === product(flat)
            ? { ...place, ...dense(axes, order, flat) }
            : place;
    }
    const said = shape.length === 4 ? order : saidOf(axes, order);
    const read = (shape) => {
        const sizes = widened(shape, said.length);
        const fits = (k, i) => sizes[i] === extents[k] || (broadcast[k] && sizes[i] === 1);
        return (
            sizes.length === said.length &&
            said.every(fits) &&
            extents.map((_, k) => sizes[said.indexOf(k)] ?? 1)
        );
    };
    // A column of one, which a shape may leave out, need not be left out.
    const isSaid = shape.length < 4 && axes[3] === "one" && shape.at(-1) === 1;
    const own = read(shape) || (isSaid && read(shape.slice(0, -1)));
    if (own && !may) return place;
    if (own) {
        const where = gaps ? strided(own, strides, `strides.${name}`) : dense(axes, order, own);
        return { ...place, ...where };
    }
    const list = (values) => `(${said.map((k) => values[k]).join(", ")})`;
    const wanted = `${list(extents)}${may ? " or 1 for all" : ""}`;
    const message = `${name}.shape is (${shape.join(", ")}), must be ${wanted}: ${list(axes.map((axis) => (axis === "one" ? 1 : axis)))}`;
    throw new AttnError("ATTN_ERROR_SHAPE", message);
}

export function checkLayout(value, what) {
    return checkOneOf(value, Object.keys(ORDERS), what);
}

/** Strides by the name of their array, as lists: which there are is known where the arrays are. */
export function readStrides(value, what) {
    const strides = { __proto__: null };
    for (const [name, list] of Object.entries(checkPlain(value, what))) {
        if (list !== undefined && list !== null)
            strides[name] = readList(list, `${what}.${name}`, checkInteger);
    }
    return strides;
}

function checkStrides(strides, arrays) {
    readOptions(strides, [...PLACED, ...namesOf(arrays.filter(isPlaced))], "strides");
    for (const name in strides) {
        if (strides[name].length === 4) continue;
        throw typeError(`strides.${name} must be [batch, head, row, column], in elements`);
    }
}

function dense(axes, order, extents) {
    const strides = [];
    let length = 1;
    for (const k of [...order].reverse()) {
        strides[k] = length;
        length *= extents[k];
    }
    return {
        ...{ extents, strides, length, gaps: false },
        meaning() {
            const said = saidOf(axes, order);
            return `${said.map((k) => axes[k]).join(" * ")} = ${said.map((k) => extents[k]).join(" * ")}`;
        },
    };
}

function strided(extents, strides, what) {
    let length = 1;
    for (const [axis, stride] of strides.entries()) {
        if (stride < 0) {
            throw new AttnError("ATTN_ERROR_ARGUMENT", `${what} must not be negative`);
        }
        length += (extents[axis] - 1) * stride;
    }
    return { extents, strides, length, meaning: () => `what ${what} reach`, gaps: true };
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
