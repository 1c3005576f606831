/* The sizes of a problem: what is said, what follows from it, and how many elements each array has. */
import { checkInteger, checkOneOf } from "./check.js";
import { AttnError } from "./errors.js";

export const SIZES = ["batch", "heads", "kvHeads", "queries", "keys", "dim", "valueDim"];

const LAYOUTS = ["bhnd", "bnhd"];

/** 1 where arrays lie in the order (batch, row, head, column). */
export function layoutFlag(layout = "bhnd") {
    return LAYOUTS.indexOf(checkOneOf(layout, LAYOUTS, "layout"));
}

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

/** How many elements each array has, and what that is the product of. */
export function lengths({ batch, heads, kvHeads, queries, keys, dim, valueDim }) {
    return {
        query: extent("batch * heads * queries * dim", batch, heads, queries, dim),
        key: extent("batch * kvHeads * keys * dim", batch, kvHeads, keys, dim),
        value: extent("batch * kvHeads * keys * valueDim", batch, kvHeads, keys, valueDim),
        out: extent("batch * heads * queries * valueDim", batch, heads, queries, valueDim),
        lse: extent("batch * heads * queries", batch, heads, queries),
        scores: extent("batch * heads * queries * keys", batch, heads, queries, keys),
    };
}

export function extent(names, ...sizes) {
    const length = sizes.reduce((product, size) => product * size, 1);
    return { length, meaning: `${names} = ${sizes.join(" * ")}` };
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
