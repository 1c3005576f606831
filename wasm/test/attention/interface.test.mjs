/* One options object, arrays with shapes, sizes that follow from them, masks of booleans, null. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { init } from "libattn";
import { init as initInline } from "libattn/inline";
import { init as initNative } from "libattn/native";
import { init as initSoftmax } from "libattn/softmax";
import { init as initWorker } from "libattn/worker";
import { init as initSmall } from "../../dist/softmax.js";
import {
    assertClose,
    exactAttention,
    libraries,
    makeProblem,
    moduleBytes,
    swapHeadsAndRows,
} from "../support.mjs";

const problem = makeProblem({ batch: 2, heads: 4, kvHeads: 2, queries: 5, keys: 7, dim: 8 }, 7);
const { query, key, value, sizes } = problem;
const { batch, heads, kvHeads, queries, keys, dim, valueDim } = sizes;
const Q = { data: query, shape: [batch, heads, queries, dim] };
const K = { data: key, shape: [batch, kvHeads, keys, dim] };
const V = { data: value, shape: [batch, kvHeads, keys, valueDim] };
const booleans = Array.from({ length: queries * keys }, (_, i) => i % 4 > 0);

const entries = {
    simd: libraries.get("simd"),
    native: libraries.get("native"),
    softmax: await initSoftmax(),
    "softmax for browsers": await initSmall({ source: await moduleBytes("softmax") }),
    worker: await initWorker({ build: "simd" }),
};
const exactly = (rules) => exactAttention({ sizes, query, key, value }, rules);
const wanted = exactly({ causal: "top-left" });

function assertNear(out, exact = wanted) {
    assertClose(out, exact.out, exact.outBound, "out");
}

for (const [name, attn] of Object.entries(entries))
    describe(`the entry ${name}`, () => check(name, attn));

function check(name, attn) {
    const named = { query, key, value, ...sizes, causal: true };
    const call = async (...args) => attn.attention(...args);
    const refused = (options, message) =>
        assert.rejects(call({ ...named, ...options }), { code: "ATTN_ERROR_SHAPE", message });

    test("attention() by one object returns what a run does", async () => {
        const result = await call({ ...named, lse: true });
        assertNear(result.out);
        assertClose(result.lse, wanted.lse, wanted.lseBound, "lse");
        assert.equal(result.degenerateRows, 0);
        assert.equal((await call(named)).lse, null);
        const lse = new Float32Array(batch * heads * queries);
        const out = new Float32Array(wanted.out.length);
        const both = await call({ ...named, out, lse });
        assert.equal(both.out, out);
        assert.equal(both.lse, lse);
        assertNear(out);
        assert.deepEqual(lse, result.lse);
        await assert.rejects(call(query, key, value, { ...sizes, lse: true }), /unknown "lse"/);
    });

    test("scores by the name of their mode", { skip: name.startsWith("softmax") }, async () => {
        for (const [stage, mode] of ["raw", "capped", "masked", "weights"].entries()) {
            const { scores } = await call({ ...named, scores: mode });
            assertClose(scores, wanted.scores[stage], wanted.scoresBound[stage], mode);
        }
        await assert.rejects(call({ ...named, scores: "all" }), /scores must be "raw" or/);
    });

    test("sizes follow from shapes", async () => {
        assertNear(await call(Q, K, V, { causal: true }));
        assertNear((await call({ query: Q, key: K, value: V, causal: true })).out);
        assertNear(await call(Q, key, value, { causal: true, kvHeads }));
        const out = new Float32Array(wanted.out.length);
        const shape = [batch, heads, queries, valueDim];
        assert.equal(await call(Q, K, V, { causal: true, out: { data: out, shape } }), out);
        assertNear(out);
        const turned = [query, key, value].map((array, i) =>
            i === 0
                ? swapHeadsAndRows(array, batch, heads, queries, dim)
                : swapHeadsAndRows(array, batch, kvHeads, keys, i === 1 ? dim : valueDim),
        );
        const bnhd = await call(
            { data: turned[0], shape: [batch, queries, heads, dim] },
            { data: turned[1], shape: [batch, keys, kvHeads, dim] },
            { data: turned[2], shape: [batch, keys, kvHeads, valueDim] },
            { causal: true, layout: "bnhd" },
        );
        assertNear(swapHeadsAndRows(bnhd, batch, queries, heads, valueDim));
    });

    test("and from lengths, where these determine them", async () => {
        const less = { batch, heads, kvHeads, dim, causal: true };
        assertNear(await call(query, key, value, less));
        const rows = { data: query.subarray(0, 3 * dim), shape: [3, dim] };
        const one = await call(rows, rows, rows);
        const three = { batch: 1, heads: 1, kvHeads: 1, queries: 3, keys: 3, dim, valueDim: dim };
        const { data } = rows;
        assertNear(one, exactAttention({ sizes: three, query: data, key: data, value: data }));
    });

    test("a shape that something contradicts is an error that names both", async () => {
        await refused({ query: { data: query, shape: [4, 2, queries, dim] } }, /query.shape.*4.*2/);
        await refused({ key: { data: key, shape: [7] } }, /key.shape/);
        await refused({ query: { data: query, shape: [] } }, /query.shape has 0 axes/);
        await refused({ query: { data: query.subarray(1), shape: Q.shape } }, /query has 319 /);
        await refused({ out: { data: new Float32Array(320), shape: [8, 5, 8] } }, /out.shape/);
        await refused({ lse: { data: new Float32Array(40), shape: [40] } }, /lse.shape/);
        await assert.rejects(call({ ...named, query: { data: query, shape: "5" } }), TypeError);
        await assert.rejects(
            call({ ...named, query: { data: query, shap: [1] } }),
            /unknown "shap"/,
        );
    });

    test("masks of booleans", async () => {
        const expected = exactly({ mask: (b, h, i, j) => booleans[i * keys + j] });
        assertNear(await call(query, key, value, { ...sizes, mask: booleans }), expected);
        const shaped = { data: booleans, shape: [queries, keys] };
        assertNear(await call(query, key, value, { ...sizes, mask: shaped }), expected);
        const wrong = { ...sizes, mask: [...booleans.slice(1), 1] };
        await assert.rejects(
            call(query, key, value, wrong),
            /mask\[34\] must be true or false, not 1/,
        );
    });

    test("null is absent", async () => {
        const nothing = {
            window: null,
            mask: null,
            strides: null,
            out: null,
            scale: null,
            sinks: null,
        };
        assertNear(await call(query, key, value, { ...sizes, causal: true, ...nothing }));
        assertNear((await call({ ...named, ...nothing, lse: null })).out);
        await assert.rejects(call({ ...named, key: null }), {
            code: "ATTN_ERROR_ARGUMENT",
            message: "key is missing",
        });
        if (!attn.plan) return;
        const plan = await attn.plan({ ...sizes, causal: true, inputs: null });
        assertNear((await plan.run({ query, key, value, lse: null, layout: null })).out);
        plan.dispose();
    });
}

for (const [build, attn] of libraries) {
    test(`plans, streams and tensors by one object: ${build}`, async () => {
        const plan = attn.plan({ ...sizes, causal: true });
        const { out } = plan.run({ query: Q, key: K, value: V });
        assertNear(out);
        assertNear((await plan.runAsync({ query: Q, key, value: V, signal: null })).out);
        const stop = new AbortController();
        stop.abort();
        const aborted = { name: "AbortError" };
        await assert.rejects(plan.runAsync({ query, key, value, signal: stop.signal }), aborted);
        assert.equal(attn.blocking, build !== "native");
        const async = await attn.attentionAsync({
            query: Q,
            key: K,
            value: V,
            causal: true,
            lse: true,
        });
        assertNear(async.out);
        assert.equal(async.lse.length, batch * heads * queries);

        const stream = attn.stream({ batch, heads, kvHeads, dim, maxKeys: keys, causal: null });
        stream.append({ key: K, value: V });
        const answer = stream.query({ query: Q, out: new Float32Array(out.length) });
        assertNear(answer.out, exactly());
        assert.throws(() => stream.append({ key: { data: key, shape: [7, 2, 2, 8] }, value }), {
            code: "ATTN_ERROR_SHAPE",
        });

        const tensors = [Q, K, V].map((array) => attn.tensor(array));
        assert.deepEqual(tensors[0].shape, Q.shape);
        assertNear(attn.attention(...tensors, { causal: true }));
        assert.equal(attn.tensor(3).shape, null);
        assert.throws(() => attn.tensor({ data: query, shape: [3] }), { code: "ATTN_ERROR_SHAPE" });
        assert.equal(attn.countNonfinite(Q), 0);
        for (const held of [plan, stream, ...tensors]) held.dispose();
    });
}

test("init() by one object", async () => {
    const source = await moduleBytes("simd");
    for (const start of [init, initInline]) {
        for (const attn of [await start({ source }), await start(null), await start()]) {
            assert.match(attn.build, /simd|relaxed/);
            attn.dispose();
        }
    }
    assert.equal((await init({ source, build: "simd", threads: null })).build, "simd");
    assert.equal((await init({ build: "scalar" })).build, "scalar");
    assert.equal((await init({ source: new Blob([source]) })).build, "simd");
    assert.equal((await init({ source: Promise.resolve(new Response(source)) })).build, "simd");
    assert.equal((await initNative(null)).threads, 1);
    const small = await initSoftmax({ source: await moduleBytes("softmax") });
    assert.equal(small.build, "simd");
    for (const from of [source, new Blob([source]), new WebAssembly.Module(source)]) {
        const attn = await initWorker({ source: from });
        assertNear(await attn.attention(Q, K, V, { causal: true }));
        attn.dispose();
    }
    await assert.rejects(
        init({ sorce: source }),
        /init: unknown "sorce" \(did you mean source\?\)/,
    );
    await assert.rejects(init({ source, build: "scalar" }), { code: "ATTN_ERROR_LOAD" });
});
