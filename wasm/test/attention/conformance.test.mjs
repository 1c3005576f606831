/*
 * ONNX's operator tests of Attention and LinearAttention through every build and the addon, computed in
 * float32: float16 arrays are widened, and compared at float16's precision.
 */
import { describe, test } from "node:test";
import {
    bytesOf,
    cases,
    compare,
    linearCases,
    parse,
    rulesOf,
    skip,
    split,
    tally,
} from "../../../tests/conformance/cases.mjs";
import { libraries } from "../support.mjs";

/** Inputs and outputs by their position. */
const INPUTS = ["query", "key", "value", "mask", "pastKey", "pastValue", "lengths"];
const OUTPUTS = ["out", "presentKey", "presentValue", "scores"];
const MODES = ["raw", "capped", "masked", "weights"];

/** Two arrays (B, H, n, d), the second behind the first along n. */
function append(past, now) {
    if (!past) return now;
    const [B, H, n, d] = past.shape;
    const m = now.shape[2];
    const data = new Float32Array(B * H * (n + m) * d);
    for (let block = 0; block < B * H; block++) {
        data.set(past.data.subarray(block * n * d, (block + 1) * n * d), block * (n + m) * d);
        const at = (block * (n + m) + n) * d;
        data.set(now.data.subarray(block * m * d, (block + 1) * m * d), at);
    }
    return { ...now, shape: [B, H, n + m, d], data };
}

/** The mask as (B|1, H|1, n|1, m), with what it lacks of m keys as not seen; a bias where it is one. */
function maskOf({ shape, data, descr }, keys) {
    const given = shape.at(-1);
    const rows = data.length / given;
    const isBias = descr !== "|b1";
    const padded = new (isBias ? Float32Array : Uint8Array)(rows * keys).fill(
        isBias ? -Infinity : 0,
    );
    for (let row = 0; row < rows; row++)
        padded.set(data.subarray(row * given, (row + 1) * given), row * keys);
    const full = [...new Array(4 - shape.length).fill(1), ...shape.slice(0, -1), keys];
    return [isBias ? "bias" : "mask", { data: padded, shape: full }];
}

/** A case as sizes and rules of a plan, and the arrays of its run. */
function problemOf({ node, inputs }) {
    const { attributes } = node;
    const arrays = {};
    node.inputs.forEach((name, at) => {
        if (name) arrays[INPUTS[at]] = parse(bytesOf(inputs.find((input) => input.name === name)));
    });
    const query = split(arrays.query, attributes.q_num_heads);
    const key = append(arrays.pastKey, split(arrays.key, attributes.kv_num_heads));
    const value = append(arrays.pastValue, split(arrays.value, attributes.kv_num_heads));
    const [batch, heads, queries, dim] = query.shape;
    const [, kvHeads, keys, valueDim] = value.shape;
    const given = {};
    if (arrays.mask) Object.assign(given, Object.fromEntries([maskOf(arrays.mask, keys)]));
    if (arrays.lengths) given.kvLengths = [...arrays.lengths.data];
    const { scoresMode, ...rules } = rulesOf(node);
    const options = {
        ...{ batch, heads, kvHeads, queries, keys, dim, valueDim },
        ...rules,
        past: arrays.pastKey?.shape[2] ?? 0,
        scoresMode: MODES[scoresMode],
        inputs: Object.keys(given),
    };
    return { options, given, query, key, value };
}

for (const [build, attn] of libraries) {
    describe(`ONNX Attention, ${build}`, { skip }, () => {
        const ran = tally(cases);
        for (const entry of cases) {
            test(entry.name, () => {
                const { options, given, query, key, value } = problemOf(entry);
                const plan = attn.plan(options);
                const scores = entry.node.outputs[3] ? true : undefined;
                const arrays = { query: query.data, key: key.data, value: value.data };
                const result = plan.run({ ...arrays, ...given, scores });
                const actual = { ...result, presentKey: key.data, presentValue: value.data };
                entry.node.outputs.forEach((name, at) => {
                    if (!name) return;
                    const array = parse(
                        bytesOf(entry.outputs.find((output) => output.name === name)),
                    );
                    const heads = entry.node.attributes.q_num_heads;
                    const expected = OUTPUTS[at] === "out" ? split(array, heads) : array;
                    compare(name, actual[OUTPUTS[at]], expected);
                });
                plan.dispose();
                ran.pass(entry);
            });
        }
        test(ran.name, () => ran.check());
    });
}

/* LinearAttention is the backend linear with the map lin and no normaliser. */
const LINEAR_INPUTS = ["query", "key", "value", "state", "decay", "beta"];

/** A case as the options of attention(). */
function linearOf({ node: { attributes, inputs: names }, inputs }) {
    const { q_num_heads: heads, kv_num_heads: kvHeads, scale, update_rule: rule } = attributes;
    const arrays = {};
    names.forEach((name, at) => {
        if (!name) return;
        const array = parse(bytesOf(inputs.find((input) => input.name === name)));
        const { data, shape } = split(array, at === 0 ? heads : kvHeads);
        arrays[LINEAR_INPUTS[at]] = { data, shape };
    });
    return {
        ...arrays,
        stateOut: true,
        backend: "linear",
        params: { feature_map: "lin", normaliser: "off", rule: rule ?? "gated_delta" },
        causal: true,
        scale: scale || arrays.query.shape[3] ** -0.5,
    };
}

for (const [build, attn] of libraries) {
    describe(`ONNX LinearAttention, ${build}`, { skip }, () => {
        const ran = tally(linearCases);
        for (const entry of linearCases) {
            test(entry.name, () => {
                const { out, stateOut } = attn.attention(linearOf(entry));
                const [output, state] = entry.outputs.map((array) => parse(bytesOf(array)));
                compare("output", out, split(output, entry.node.attributes.q_num_heads));
                compare("present_state", stateOut, state);
                ran.pass(entry);
            });
        }
        test(ran.name, () => ran.check());
    });
}
