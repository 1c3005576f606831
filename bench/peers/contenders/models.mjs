// Attention as ONNX models of one operator, or three: what onnxruntime is asked to run.
//
// Each `make` gets a task (worker.mjs) and gives the parts of a model and how its arrays lie:
//   inputs   name: {type, dims, data}, the task's arrays as this operator wants them
//   outputs  name: {dims}
//   result   the output's elements in the order (head, row, column)

import { readLayout } from "../measure/layouts.mjs";
import { linearOf, valueDimOf } from "../measure/task.mjs";
import { peer, swapAxes } from "./worker.mjs";

const contrib = "com.microsoft";
const opsets = [
    { domain: "", version: 23 },
    { domain: contrib, version: 1 },
];

// ---- the operators ---------------------------------------------------------------------------

const floats = (data, ...dims) => ({ type: "float32", dims, data });
const integers = (data, ...dims) => ({ type: "int32", dims, data: Int32Array.of(data) });

/** The arrays as they are, (1, head, row, column). */
function byHead(task) {
    const { heads, kv_heads: shared, queries, keys, dim, query, key, value } = task;
    return {
        query: floats(query, 1, heads, queries, dim),
        key: floats(key, 1, shared, keys, dim),
        value: floats(value, 1, shared, keys, valueDimOf(task)),
    };
}

const outByHead = (task) => ({ out: { dims: [1, task.heads, task.queries, valueDimOf(task)] } });

/** (1, row, head and column), as the contrib operators have the query and the output. */
function byRow(array, heads, rows, dim) {
    return floats(swapAxes(array, heads, rows, dim), 1, rows, heads * dim);
}

const outByRow = (task) => ({ dims: [1, task.queries, task.heads * valueDimOf(task)] });
const backByHead =
    (task) =>
    ({ out }) =>
        swapAxes(out, task.queries, task.heads, valueDimOf(task));

/** Operators that have one size for keys and values. */
function refuseTwoSizes(task, operator) {
    if (valueDimOf(task) !== task.dim)
        throw new Error(`${operator} takes values of as many columns as keys`);
}

/** Keys and values go in by head, which spares the operator a copy. */
function multiHead(task) {
    const attributes = { num_heads: task.heads, unidirectional: task.causal };
    return {
        nodes: [["MultiHeadAttention", ["query", "key", "value"], ["out"], attributes, contrib]],
        inputs: {
            ...byHead(task),
            query: byRow(task.query, task.heads, task.queries, task.dim),
        },
        outputs: { out: outByRow(task) },
        result: backByHead(task),
    };
}

function attention(task) {
    const attributes = { is_causal: task.causal };
    return {
        nodes: [["Attention", ["query", "key", "value"], ["out"], attributes]],
        inputs: byHead(task),
        outputs: outByHead(task),
        result: ({ out }) => out,
    };
}

/**
 * Always causal, so that one query a head must be the last. For a single query the keys and values
 * are the cache, of which the newest token is given again: the operator writes it where it already
 * is. Past and present are one array, which spares the operator a copy of the cache.
 */
function groupedQuery(task) {
    refuseTwoSizes(task, "GroupQueryAttention");
    const { heads, kv_heads: shared, queries, keys, dim } = task;
    const attributes = { num_heads: heads, kv_num_heads: shared };
    const cache = [1, shared, keys, dim];
    const decoding = queries === 1 && keys > 1;
    const tokens = (array) =>
        decoding ? lastRows(array, shared, keys, dim) : byRow(array, shared, keys, dim);
    const past = decoding
        ? { past_key: floats(task.key, ...cache), past_value: floats(task.value, ...cache) }
        : {};
    const names = decoding ? Object.keys(past) : ["", ""];
    const ins = ["query", "key", "value", ...names, "last", "total"];
    const outs = ["out", "present_key", "present_value"];
    return {
        nodes: [["GroupQueryAttention", ins, outs, attributes, contrib]],
        inputs: {
            query: byRow(task.query, heads, queries, dim),
            key: tokens(task.key),
            value: tokens(task.value),
            ...past,
            last: integers(keys - 1, 1),
            total: integers(keys, 1),
        },
        outputs: {
            out: outByRow(task),
            present_key: { dims: cache, data: past.past_key?.data },
            present_value: { dims: cache, data: past.past_value?.data },
        },
        result: backByHead(task),
    };
}

function lastRows(array, heads, rows, dim) {
    const last = new Float32Array(heads * dim);
    for (let head = 0; head < heads; head++) {
        const end = (head + 1) * rows * dim;
        last.set(array.subarray(end - dim, end), head * dim);
    }
    return floats(last, 1, 1, heads * dim);
}

function graph(task) {
    const scale = { name: "scale", dims: [], dataType: 1, floatData: [1 / Math.sqrt(task.dim)] };
    return {
        nodes: [
            ["Transpose", ["key"], ["columns"], { perm: [0, 1, 3, 2] }],
            ["MatMul", ["query", "columns"], ["products"]],
            ["Mul", ["products", "scale"], ["logits"]],
            ["Softmax", ["logits"], ["weights"], { axis: -1 }],
            ["MatMul", ["weights", "value"], ["out"]],
        ],
        constants: [scale],
        inputs: byHead(task),
        outputs: outByHead(task),
        result: ({ out }) => out,
    };
}

/** Always causal, by a layout of blocks that all heads share; the cache is the keys and values themselves. */
function sparseAttention(task) {
    refuseTwoSizes(task, "SparseAttention");
    const { heads, kv_heads: shared, queries, keys, dim } = task;
    const { block, starts, columns } = readLayout(task);
    const cache = [1, shared, keys, dim];
    const past = { past_key: floats(task.key, ...cache), past_value: floats(task.value, ...cache) };
    const names = ["query", "key", "value", ...Object.keys(past), "starts", "columns"];
    const attributes = { num_heads: heads, kv_num_heads: shared, sparse_block_size: block };
    const outs = ["out", "present_key", "present_value"];
    const list = (numbers) => ({
        type: "int32",
        dims: [1, numbers.length],
        data: Int32Array.from(numbers),
    });
    return {
        nodes: [["SparseAttention", [...names, "total", "totals"], outs, attributes, contrib]],
        inputs: {
            query: byRow(task.query, heads, queries, dim),
            key: byRow(task.key, shared, keys, dim),
            value: byRow(task.value, shared, keys, dim),
            ...past,
            starts: list(starts),
            columns: list(columns),
            total: integers(keys, 1),
            totals: integers(keys, 1),
        },
        outputs: {
            out: outByRow(task),
            present_key: { dims: cache, data: past.past_key.data },
            present_value: { dims: cache, data: past.past_value.data },
        },
        result: backByHead(task),
    };
}

/** The last so many tokens of an array (head, row, column), as the operator wants them. */
function tokensOf(array, heads, rows, count) {
    const dim = array.length / heads / rows;
    if (count === 1 && rows > 1) return lastRows(array, heads, rows, dim);
    return byRow(array, heads, rows, dim);
}

/** What the tokens before the last come to, by rule linear or gated: [head][row of keys][column of values]. */
function stateBefore({ kv_heads: shared, keys, dim, key, value, decay }) {
    const state = new Float32Array(shared * dim * dim);
    for (let token = 0; token < shared * keys; token++) {
        if (token % keys === keys - 1) continue;
        const head = Math.floor(token / keys);
        for (let row = 0; row < dim; row++) {
            const keeps = decay ? Math.exp(decay[token * dim + row]) : 1;
            const at = (head * dim + row) * dim;
            for (let column = 0; column < dim; column++)
                state[at + column] =
                    keeps * state[at + column] +
                    key[token * dim + row] * value[token * dim + column];
        }
    }
    return state;
}

/** Of a stream the last token alone, with the state before it. */
function linearAttention(task) {
    refuseTwoSizes(task, "LinearAttention"); // stateBefore() makes square states
    const { heads, kv_heads: shared, queries, keys, dim } = task;
    const { rule, gates } = linearOf(task);
    const count = task.stream ? 1 : keys;
    const names = ["query", "key", "value", task.stream ? "past_state" : ""];
    const gateNames = ["decay", "beta"].map((name) => (gates.includes(name) ? name : ""));
    const attributes = {
        q_num_heads: heads,
        kv_num_heads: shared,
        update_rule: rule,
    };
    const states = [1, shared, dim, dim];
    const tokens = (name) => [name, tokensOf(task[name], shared, keys, count)];
    return {
        nodes: [
            [
                "LinearAttention",
                [...names, ...gateNames],
                ["out", "present_state"],
                attributes,
                contrib,
            ],
        ],
        inputs: {
            query: byRow(task.query, heads, queries, dim),
            ...Object.fromEntries(["key", "value", ...gates].map(tokens)),
            ...(task.stream ? { past_state: floats(stateBefore(task), ...states) } : {}),
        },
        outputs: { out: outByRow(task), present_state: { dims: states } },
        result: backByHead(task),
    };
}

/** Nothing at all: what a call costs by itself. */
function identity() {
    return {
        nodes: [["Identity", ["query"], ["out"]]],
        inputs: { query: floats(Float32Array.of(1), 1) },
        outputs: { out: { dims: [1] } },
        result: ({ out }) => out,
    };
}

export const makers = {
    mha: multiHead,
    attention,
    gqa: groupedQuery,
    graph,
    linear: linearAttention,
    sparse: sparseAttention,
    identity,
};

// ---- the file --------------------------------------------------------------------------------

const FLOAT = 1; // onnx.TensorProto.DataType
const INT32 = 6;
const INT = 2; // onnx.AttributeProto.AttributeType
const STRING = 3;
const INTS = 7;

function attributeOf([name, value]) {
    if (Array.isArray(value)) return { name, type: INTS, ints: value };
    if (typeof value === "string") return { name, type: STRING, s: Buffer.from(value) };
    return { name, type: INT, i: value };
}

function nodeOf([opType, input, output, attributes = {}, domain = ""]) {
    return {
        opType,
        input,
        output,
        domain,
        attribute: Object.entries(attributes).map(attributeOf),
    };
}

function valueOf([name, { type, dims }]) {
    const shape = { dim: dims.map((dimValue) => ({ dimValue })) };
    return { name, type: { tensorType: { elemType: type === "int32" ? INT32 : FLOAT, shape } } };
}

/** The bytes of an ONNX file. */
export function encodeModel({ nodes, constants = [], inputs, outputs }) {
    const { onnx } = peer("onnx-proto");
    const model = onnx.ModelProto.fromObject({
        irVersion: 10,
        producerName: "libattn",
        opsetImport: opsets,
        graph: {
            name: "attention",
            node: nodes.map(nodeOf),
            initializer: constants,
            input: Object.entries(inputs).map(valueOf),
            output: Object.entries(outputs).map(valueOf),
        },
    });
    return onnx.ModelProto.encode(model).finish();
}
