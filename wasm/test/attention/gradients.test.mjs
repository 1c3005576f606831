/*
 * Gradients are those of `attn run --grad` for the same files, in every build, by the addon and in a
 * worker; and what is refused.
 *
 * ATTN_CLI   the native `attn`   ../../build/attn
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { init } from "libattn";
import { init as initNative } from "libattn/native";
import { init as initWorker } from "libattn/worker";
import { Attn } from "../../js/calls/attn.js";
import { Heap } from "../../js/engine/heap.js";
import { assertClose, floats, largestProduct, libraries, makeProblem } from "../support.mjs";
import { decodeF16, moduleBytes, npyBytes, numbers, relativeBound } from "../support.mjs";
import { sketchStretch, swapHeadsAndRows } from "../support.mjs";

const cli = process.env.ATTN_CLI ?? fileURLToPath(new URL("../../../build/attn", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "libattn-"));
after(() => rmSync(folder, { recursive: true }));

const problem = makeProblem(
    { batch: 2, heads: 4, kvHeads: 2, queries: 21, keys: 26, dim: 6, valueDim: 5 },
    31,
);
const { sizes, query, key, value } = problem;
const { batch, heads, kvHeads, queries, keys, dim, valueDim } = sizes;
const next = numbers(32);
const outGradient = floats(batch * heads * queries * valueDim, next);
const arrays = { query, key, value, outGradient };
const shapes = {
    query: [batch, heads, queries, dim],
    key: [batch, kvHeads, keys, dim],
    value: [batch, kvHeads, keys, valueDim],
    outGradient: [batch, heads, queries, valueDim],
};
const seen = Uint8Array.from({ length: queries * keys }, () => Number(next() > -0.5));
const biased = { data: floats(heads * queries * keys, next), shape: [1, heads, queries, keys] };
const slopes = Float32Array.of(0.5, 0.25, 0.125, 0.0625);
const sinks = floats(heads, next);

/* Rules of a problem, arrays of its runs, and the flags and the files that say the same on the command line. */
const cases = [
    { rules: { backend: "softmax" } },
    {
        rules: { backend: "softmax", causal: "bottom-right", softcap: 3, scale: 0.5 },
        inputs: { slopes, sinks, bias: biased },
        flags: ["--causal=bottom-right", "--softcap=3", "--scale=0.5"],
        files: {
            alibi: npyBytes([heads], slopes),
            sinks: npyBytes([heads], sinks),
            bias: npyBytes(biased.shape, biased.data),
        },
    },
    {
        rules: { backend: "softmax", window: [7, 3] },
        inputs: { mask: seen, kvLengths: [26, 17] },
        flags: ["--window=7,3", "--kv-lens=26,17"],
        files: { mask: npyBytes([queries, keys], seen, { descr: "|b1" }) },
    },
    { rules: { backend: "sparse", params: { block: 4, local: 2, global: 1 } } },
    { rules: { backend: "sparse", causal: true, params: { block: 4 } }, flags: ["--causal"] },
    { rules: { backend: "sketch", params: { method: "srht", size: 4 } } },
    { rules: { backend: "sketch", causal: true, params: { size: 4 } }, flags: ["--causal"] },
    { rules: { backend: "linear" } },
    { rules: { backend: "linear", causal: true }, flags: ["--causal"] },
];

/** The elements of a .npy file of float32, of any rank. */
function floatsOf(path) {
    const bytes = readFileSync(path);
    return new Float32Array(Uint8Array.from(bytes.subarray(10 + bytes.readUInt16LE(8))).buffer);
}

/** Gradients by the command line, by name. */
function byCommand({ rules, flags = [], files = {} }, names) {
    const path = (name) => join(folder, `${name}.npy`);
    const args = Object.entries(shapes).map(([name, shape]) => {
        writeFileSync(path(name), npyBytes(shape, arrays[name]));
        const flag = { query: "--q", key: "--k", value: "--v" }[name];
        return flag ? [flag, path(name)] : ["--grad", `out=${path(name)}`];
    });
    for (const [name, bytes] of Object.entries(files)) {
        writeFileSync(path(name), bytes);
        args.push(`--${name}=${path(name)}`);
    }
    for (const [name, set] of Object.entries(rules.params ?? {}))
        args.push(["--set", `${name}=${set}`]);
    for (const name of names) args.push(["--grad", `${name}=${path(`d_${name}`)}`]);
    execFileSync(cli, ["run", rules.backend, ...args.flat(), ...flags, "-o", path("out")]);
    return Object.fromEntries(names.map((name) => [name, floatsOf(path(`d_${name}`))]));
}

/**
 * Sums of absolute terms of gradients, by array. With weights W, T_ij = sum_c |dO_ic v_jc| and D_i = sum_j W_ij T_ij
 * a logit's gradient is W_ij (dP_ij - D_i), below G_ij = W_ij (T_ij + D_i) in size; the query's and the key's are
 * sums of these times numbers of at most 1: scale and an element, or of linear, whose weights are phi(q) phi(k)
 * over their sum, phi'(q) phi(k) / (phi(q) phi(k)), for phi' <= phi.
 */
function absoluteTerms(plan, inputs) {
    const zeros = { query, key, value, sinks, slopes, bias: biased.data };
    const sums = Object.fromEntries(
        Object.keys(zeros).map((name) => [name, zeros[name].map(() => 0)]),
    );
    for (let head = 0; head < batch * heads; head++) addHead(sums, plan, inputs, head);
    return sums;
}

const row = (array, width, index) => array.subarray(index * width, (index + 1) * width);
const dot = (a, b) => a.reduce((sum, x, c) => sum + Math.abs(x * b[c]), 0);

function addHead(sums, plan, inputs, head) {
    const [b, h] = [Math.floor(head / heads), head % heads];
    const kv = b * kvHeads + Math.floor((h * kvHeads) / heads);
    const all = plan.weights({ query, key, ...inputs, batch: b, head: h });
    for (let i = 0; i < queries; i++) {
        const weights = row(all, keys, i).map(Math.abs);
        const loss = row(outGradient, valueDim, head * queries + i);
        const terms = weights.map((_, j) => dot(row(value, valueDim, kv * keys + j), loss));
        const mean = dot(weights, terms);
        const add = (name, width, index, terms) =>
            row(sums[name], width, index).forEach((x, c, to) => (to[c] = x + terms(c)));
        add("sinks", 1, h, () => mean);
        weights.forEach((weight, j) => {
            const size = weight * (terms[j] + mean);
            add("query", dim, head * queries + i, () => size);
            add("key", dim, kv * keys + j, () => size);
            add("value", valueDim, kv * keys + j, (c) => weight * Math.abs(loss[c]));
            add("bias", 1, (h * queries + i) * keys + j, () => size);
            add("slopes", 1, h, () => size * Math.abs(i + keys - queries - j));
        });
    }
}

/** How far a float32 gradient may be off, relative to its absolute terms: weights by roundings of logits and sums. */
function relativeTolerance({ scale }, inputs, stretch) {
    const more = inputs.slopes ? 1 + keys / 2 : 0; // a bias, and a slope's distances
    const product = stretch * largestProduct(sizes, query, key, scale) + more;
    const longest = keys + queries * heads * batch; // a sum over all queries follows one over keys
    return 2 * relativeBound({ dim, keys: longest }, product);
}

/** Gradients of a library, by a plan and in one call, against those by name. */
function compare(attn, { rules, inputs = {} }, expected) {
    const given = { ...arrays, ...inputs };
    const plan = attn.plan({ ...sizes, ...rules, inputs: Object.keys(inputs), gradients: true });
    const run = { query, key, value, ...inputs, lse: rules.backend !== "linear" };
    const { out, lse } = plan.run(run);
    const gradients = plan.gradients({ ...given, out, lse });
    assert.deepEqual(Object.keys(gradients).sort(), Object.keys(expected).sort());
    // T T^T stretches vectors so far, and sums of absolute terms, which have no cancellation, by sqrt(d) more.
    const stretch = rules.backend === "sketch" ? sketchStretch(plan) * Math.sqrt(dim) : 1;
    const bound = stretch * relativeTolerance(rules, inputs, stretch);
    const sums = absoluteTerms(plan, inputs);
    for (const name in expected) {
        const tolerance = sums[name].map((sum) => bound * sum);
        assertClose(gradients[name], expected[name], tolerance, name);
        assert.ok(Math.hypot(...expected[name]) > 2 * Math.hypot(...tolerance), name);
    }
    assert.deepEqual(plan.gradients(given), gradients, "where it computes out and lse itself");
    assert.deepEqual(attn.gradients({ ...given, ...sizes, ...rules }), gradients, "one call");
    plan.dispose();
}

const skip = !existsSync(cli) && `there is no ${cli}`;
describe("gradients are those of attn run --grad", { skip }, () => {
    for (const one of cases) {
        const { rules, inputs = {} } = one;
        test(JSON.stringify({ ...rules, inputs: Object.keys(inputs) }), () => {
            const more = ["bias", "sinks", "slopes"].filter((name) => inputs[name]);
            const expected = byCommand(one, ["query", "key", "value", ...more]);
            for (const attn of libraries.values()) compare(attn, one, expected);
        });
    }
});

const simd = libraries.get("simd");

/* With a delta rule outputs are linear in values and the first state together, so that their gradients give the loss
   back (Euler), with the error of a few roundings for each token, feature and column in each term. */
test("linear's gates and states have gradients, of their arrays' lengths", () => {
    const rule = { backend: "linear", causal: "bottom-right", params: { rule: "gated_delta" } };
    const positive = (length) => floats(length, next).map(Math.abs);
    const own = {
        decay: { data: positive(kvHeads * keys).map((x) => -x), shape: [1, kvHeads, keys, 1] },
        beta: {
            data: positive(batch * kvHeads * keys).map((x) => x / 10),
            shape: [batch, kvHeads, keys, 1],
        },
        state: floats(batch * kvHeads * dim * valueDim, next),
    };
    for (const [name, attn] of libraries) {
        const { out } = attn.attention({ query, key, value, ...own, ...sizes, ...rule });
        const gradients = attn.gradients({ ...arrays, ...own, ...sizes, ...rule });
        assert.equal(gradients.decay.length, kvHeads * keys, name);
        assert.equal(gradients.beta.length, batch * kvHeads * keys, name);
        const terms = [
            ...value.map((x, i) => x * gradients.value[i]),
            ...own.state.map((x, i) => x * gradients.state[i]),
            ...out.map((x, i) => -x * outGradient[i]),
        ];
        const sum = terms.reduce((all, x) => all + x, 0);
        const size = terms.reduce((all, x) => all + Math.abs(x), 0);
        assert.ok(size > 1);
        assertClose([sum], [0], size * (keys + queries) * (dim + valueDim + 16) * 2 ** -24, name);
    }
});

test("gradients of gates lie as these do, by the layout", () => {
    const rule = { backend: "linear", causal: "bottom-right", params: { rule: "gated_delta" } };
    const call = { ...arrays, ...sizes, ...rule };
    const decay = floats(kvHeads * keys, next).map((x) => -Math.abs(x));
    const beta = floats(batch * kvHeads * keys, next).map((x) => Math.abs(x) / 10);
    const swap = (array, heads, rows, batches = batch) =>
        swapHeadsAndRows(array, batches, heads, rows, array.length / (batches * heads * rows));
    const swapped = {
        query: swap(query, heads, queries),
        key: swap(key, kvHeads, keys),
        value: swap(value, kvHeads, keys),
        outGradient: swap(outGradient, heads, queries),
        decay: { data: swap(decay, kvHeads, keys, 1), shape: [1, keys, kvHeads, 1] },
        beta: swap(beta, kvHeads, keys),
    };
    const shaped = { data: decay, shape: [1, kvHeads, keys, 1] };
    const expected = simd.gradients({ ...call, decay: shaped, beta });
    const found = simd.gradients({ ...call, ...swapped, layout: "bnhd" });
    assert.deepEqual(found.decay, swap(expected.decay, kvHeads, keys, 1));
    assert.deepEqual(found.beta, swap(expected.beta, kvHeads, keys));
    assert.deepEqual(found.key, swap(expected.key, kvHeads, keys));
});

test("threads, a worker, layouts and strides change nothing", async () => {
    const rules = { ...sizes, causal: true, bias: biased };
    const expected = simd.gradients({ ...arrays, ...rules });
    const worker = await initWorker({ build: "simd" });
    assert.deepEqual(await worker.gradients({ ...arrays, ...rules }), expected);
    const { query: q, key: k, value: v, outGradient: g } = arrays;
    assert.deepEqual(await worker.gradients(q, k, v, g, rules), expected);
    const plan = await worker.plan({ ...sizes, causal: true, inputs: ["bias"], gradients: true });
    const without = await worker.plan({ ...sizes, gradients: false });
    assert.equal(without.gradients, undefined, "as without a worker");
    const held = await worker.tensor(query);
    assert.deepEqual(await plan.gradients({ ...arrays, query: held, bias: biased }), expected);
    assert.equal(query.length, batch * heads * queries * dim, "arrays stay the caller's");
    const aborted = worker.gradients({ ...arrays, ...rules, signal: AbortSignal.abort("stop") });
    await assert.rejects(aborted, (reason) => reason === "stop");
    worker.dispose();

    const one = libraries.get("native").gradients({ ...arrays, ...rules });
    const three = await initNative({ threads: 3, fallback: false });
    assert.deepEqual(three.gradients({ ...arrays, ...rules }), one);
    three.dispose();

    const swap = (array, ...shape) => swapHeadsAndRows(array, batch, ...shape);
    const swapped = {
        query: swap(query, heads, queries, dim),
        key: swap(key, kvHeads, keys, dim),
        value: swap(value, kvHeads, keys, valueDim),
        outGradient: swap(outGradient, heads, queries, valueDim),
    };
    const bnhd = simd.gradients({ ...swapped, ...rules, layout: "bnhd" });
    assert.deepEqual(bnhd.query, swap(expected.query, heads, queries, dim));
    assert.deepEqual(bnhd.value, swap(expected.value, kvHeads, keys, valueDim));
    const strides = { query: [queries * heads * dim, dim, heads * dim, 1] };
    const strided = simd.gradients({ ...arrays, query: swapped.query, strides, ...rules });
    assert.deepEqual(strided, expected);
});

test("where there is no addon the module serves, with gradients", async () => {
    const attn = await initNative({ addon: "none.node" });
    assert.match(attn.reason, /none\.node/);
    const call = { ...arrays, ...sizes };
    const wanted = await init({ build: attn.build });
    assert.deepEqual(attn.gradients(call), wanted.gradients(call));
});

test("f16: gradients have their arrays' types", () => {
    const half = (array) => new Uint16Array(array.length).fill(0x3800); // 0.5
    const given = Object.fromEntries(Object.entries(arrays).map(([name, x]) => [name, half(x)]));
    const gradients = simd.gradients({ ...given, ...sizes, dtype: "f16" });
    assert.ok(Object.values(gradients).every((array) => array instanceof Uint16Array));
    // All values are alike: dV is what the queries of a group pass on, 0.5 each, shared by the keys.
    const each = (0.5 * queries * heads) / kvHeads / keys;
    assertClose(
        Array.from(gradients.value, decodeF16),
        Array(gradients.value.length).fill(each),
        each * 2 ** -10,
        "value",
    );
    assert.ok(
        gradients.query.every((bits) => (bits & 0x7fff) < 0x1000),
        "no direction is better",
    );
});

test("by: what is asked for and nothing else; NaN stays in its row, and what is hidden leaks none", () => {
    const masked = {
        ...sizes,
        mask: Uint8Array.from({ length: queries * keys }, (_, i) => Number(i % keys > 0)),
    };
    const whole = simd.gradients({ ...arrays, ...masked });
    const some = simd.gradients({ ...arrays, ...masked, by: ["value"] });
    assert.deepEqual(some, { value: whole.value });
    assert.deepEqual(simd.gradients({ ...arrays, ...masked, by: [] }), {});

    const hidden = { ...arrays, key: key.slice(), value: value.slice() };
    for (let head = 0; head < batch * kvHeads; head++) {
        hidden.key.fill(NaN, head * keys * dim, (head * keys + 1) * dim);
        hidden.value.fill(NaN, head * keys * valueDim, (head * keys + 1) * valueDim);
    }
    assert.deepEqual(simd.gradients({ ...hidden, ...masked }), whole);

    const lost = { ...arrays, outGradient: outGradient.slice().fill(NaN, 0, 1) };
    const { query: found } = simd.gradients({ ...lost, ...sizes });
    const { query: right } = simd.gradients({ ...arrays, ...sizes });
    assert.ok(found.subarray(0, dim).every(Number.isNaN));
    assert.deepEqual(found.subarray(dim), right.subarray(dim));
});

describe("refuses", () => {
    const call = { ...arrays, ...sizes };
    const kept = simd.plan({ ...sizes, gradients: true });
    const topkeys = { backend: "sparse", params: { pattern: "topkeys" } };
    for (const [name, act, expected] of [
        [
            "no outGradient",
            () => simd.gradients({ ...call, outGradient: null }),
            { code: "ATTN_ERROR_ARGUMENT", message: "outGradient is missing" },
        ],
        [
            "none for a plan",
            () => kept.gradients({ query, key, value }),
            { code: "ATTN_ERROR_ARGUMENT", message: "outGradient is missing" },
        ],
        [
            "a short one",
            () => simd.gradients({ ...call, outGradient: query.subarray(5) }),
            {
                code: "ATTN_ERROR_SHAPE",
                message: `outGradient has ${query.length - 5} elements, but batch * heads * queries * valueDim = 2 * 4 * 21 * 5 is 840 elements`,
            },
        ],
        [
            "another shape",
            () =>
                simd.gradients({
                    ...call,
                    outGradient: { data: outGradient, shape: [batch, heads, valueDim, queries] },
                }),
            {
                code: "ATTN_ERROR_SHAPE",
                message:
                    "outGradient.shape is (2, 4, 5, 21), must be (2, 4, 21, 5): (batch, heads, queries, valueDim)",
            },
        ],
        [
            "another type",
            () => simd.gradients({ ...call, outGradient: Array.from(outGradient) }),
            { name: "TypeError", message: "outGradient must be a Float32Array, not an Array" },
        ],
        [
            "no key",
            () => simd.gradients({ ...call, key: undefined }),
            { code: "ATTN_ERROR_ARGUMENT", message: "key is missing" },
        ],
        [
            "lse that is no array",
            () => kept.gradients({ ...arrays, lse: true }),
            { name: "TypeError", message: "lse must be a Float32Array, not true" },
        ],
        [
            "a name of no array",
            () => simd.gradients({ ...call, by: ["mask"] }),
            { name: "TypeError", message: 'by[0] must be "query" or "key" or "value", not "mask"' },
        ],
        [
            "by that is no list",
            () => simd.gradients({ ...call, by: "query" }),
            { name: "TypeError", message: 'by must be an array, not "query"' },
        ],
        [
            "an array that the plan does not have",
            () => kept.gradients({ ...arrays, sinks }),
            {
                code: "ATTN_ERROR_ARGUMENT",
                message: "sinks is given, but not among the plan's inputs",
            },
        ],
        [
            "a misspelt option",
            () => simd.gradients({ ...call, outGradients: outGradient }),
            { name: "TypeError", message: /did you mean outGradient\?/ },
        ],
        [
            "a plan's option that is no boolean",
            () => simd.plan({ ...sizes, gradients: "yes" }),
            { name: "TypeError", message: 'gradients must be true or false, not "yes"' },
        ],
        [
            "a pattern that has none",
            () => simd.plan({ ...sizes, ...topkeys, gradients: true }),
            { code: "ATTN_ERROR_UNSUPPORTED", message: /topkeys has no gradients/ },
        ],
        [
            "keys in i8",
            () => simd.plan({ ...sizes, kvDtype: "i8", gradients: true }),
            { code: "ATTN_ERROR_UNSUPPORTED", message: /i8/ },
        ],
    ])
        test(name, () => assert.throws(act, expected));

    test("gradients of a plan without them: there is no such method", () => {
        const plan = simd.plan(sizes);
        assert.equal(plan.gradients, undefined);
        plan.dispose();
    });

    test("a plan that is disposed", () => {
        const plan = simd.plan({ ...sizes, gradients: true });
        plan.dispose();
        assert.throws(() => plan.gradients(arrays), { code: "ATTN_ERROR_DISPOSED" });
    });
});

test("calls free what they took, also those that fail", async () => {
    const { instance } = await WebAssembly.instantiate(await moduleBytes("simd"), {});
    instance.exports._initialize();
    const attn = new Attn(new Heap(instance.exports));
    const big = makeProblem({ heads: 2, queries: 200, dim: 32 }, 4);
    const given = { query: big.query, key: big.key, value: big.value, outGradient: big.value };
    const refused = { ...given, ...big.sizes, kvDtype: "i8", key: new Int8Array(big.key.length) };
    const step = () => {
        attn.gradients({ ...given, ...big.sizes, causal: true });
        assert.throws(() => attn.gradients({ ...refused, value: refused.key }), /missing|i8/);
    };
    step();
    const size = instance.exports.memory.buffer.byteLength;
    for (let i = 0; i < 200; i++) step();
    assert.equal(instance.exports.memory.buffer.byteLength, size);
    attn.dispose();
});
