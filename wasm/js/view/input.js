/* What <attn-view> computes on: a text's vectors, or arrays that say their shapes. */
import { embed } from "../data.js";
import { AttnError, typeError } from "../problem/errors.js";

/* Weights that a picture has at most: 1024 x 1024. */
const MOST = 2 ** 20;

const bad = (message) => new AttnError("ATTN_ERROR_SHAPE", message);

/** { sizes, query, key, value or null, queryNames, keyNames } of a view's text and dim, or of its arrays. */
export async function readInput({ arrays, text, dim }) {
    const input = arrays ? readArrays(arrays) : await readText(text, dim);
    const { queries, keys } = input.sizes;
    if (queries * keys > MOST)
        throw bad(`weights of ${queries} x ${keys} are more than a view shows: ${MOST}`);
    return input;
}

async function readText(text, dim) {
    if (text.trim() === "") throw bad("there is no text");
    const { x, rows, tokens } = await embed(text, dim);
    const one = { batch: 1, heads: 1, kvHeads: 1 };
    const sizes = { ...one, queries: rows, keys: rows, dim, valueDim: dim };
    return { sizes, query: x, key: x, value: x, queryNames: tokens, keyNames: tokens };
}

function readArrays({ query, key, value, tokens, keyTokens }) {
    const [batch, heads, queries, dim] = shapeOf(query, "query");
    const [, kvHeads, keys] = shapeOf(key, "key");
    const valueDim = value ? shapeOf(value, "value")[3] : dim;
    const sizes = { batch, heads, kvHeads, queries, keys, dim, valueDim };
    const same = keys === queries ? tokens : null;
    return {
        ...{ sizes, query, key, value: value ?? null }, // with their shapes, which runs hold to the sizes
        queryNames: names(tokens, queries, "tokens"),
        keyNames: names(keyTokens ?? same, keys, "keyTokens"),
    };
}

/** (batch, heads, rows, columns): what is left out is 1. */
function shapeOf(array, what) {
    const { data, shape } = array ?? {};
    if (!(data instanceof Float32Array) || !Array.isArray(shape))
        throw typeError(`${what} must be { data: Float32Array, shape: [...] }`);
    if (shape.length < 2 || shape.length > 4)
        throw bad(`${what} has ${shape.length} axes, must have 2 to 4`);
    const count = shape.reduce((product, size) => product * size, 1);
    if (count !== data.length)
        throw bad(`${what} has ${data.length} elements, and its shape asks for ${count}`);
    return [...Array(4 - shape.length).fill(1), ...shape];
}

function names(tokens, count, what) {
    if (!tokens) return null;
    if (tokens.length !== count) throw bad(`${what} are ${tokens.length}, must be ${count}`);
    return tokens;
}
