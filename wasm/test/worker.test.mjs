/* libattn/worker: the same numbers as a call, progress, and an end at any time. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { AttnError, init } from "libattn/worker";
import { libraries, makeProblem } from "./support.mjs";

const local = libraries.get("simd");
const sizes = { batch: 2, heads: 4, kvHeads: 2, queries: 30, keys: 50, dim: 16, valueDim: 9 };
const problem = makeProblem(sizes, 1);
const { query, key, value } = problem;
const grid = (shape) => ({
    data: Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => Math.sin(i)),
    shape,
});
const long = makeProblem({ heads: 16, queries: 3000, dim: 64 }, 2); // about a second

const cases = {
    plain: {},
    "bias of all heads": { bias: grid([2, 4, 30, 50]) },
    "bias of each batch": { bias: grid([2, 1, 30, 50]) },
    "bias of each head": { bias: grid([1, 4, 1, 50]) },
    "a flat bias": { bias: grid([30, 50]).data },
    "rules with arrays": {
        causal: "bottom-right",
        mask: Uint8Array.from({ length: 2 * 4 * 30 * 50 }, (_, i) => i % 3),
        kvLengths: [50, 31],
        sinks: Float32Array.of(0, 1, -1, 2),
        slopes: Float32Array.of(0.1, 0.2, 0.3, 0.4),
    },
    linear: { backend: "linear" },
    sparse: { backend: "sparse", causal: true },
    sketch: { backend: "sketch" },
};

test("the numbers are those of a call, for every backend and rule", async () => {
    const attn = await init({ build: "simd" });
    assert.deepEqual(attn.backends(), local.backends());
    assert.equal(attn.build, "simd");
    for (const [name, rules] of Object.entries(cases)) {
        const options = { ...sizes, ...rules };
        const seen = [];
        const onProgress = (done) => seen.push(done);
        const out = await attn.attention(query, key, value, { ...options, onProgress });
        assert.deepEqual(out, local.attention(query, key, value, options), name);
        const steps = name === "sketch" ? [1] : [0.25, 0.5, 0.75, 1];
        assert.deepEqual([...new Set(seen)], steps, name);
    }
    attn.dispose();
});

test("an array to write to, and both layouts", async () => {
    const attn = await init({ build: "simd" });
    const options = { ...sizes, layout: "bnhd" };
    const wanted = local.attention(query, key, value, options);
    const out = new Float32Array(wanted.length);
    assert.equal(await attn.attention(query, key, value, { ...options, out }), out);
    assert.deepEqual(out, wanted);
    attn.dispose();
});

test("element types, scales and strides", async () => {
    const attn = await init({ build: "simd" });
    const tokens = 2 * 2 * 50;
    const bytes = (count) => Int8Array.from({ length: count }, (_, i) => 100 * Math.sin(i));
    const scales = (begin) => Float32Array.from({ length: tokens }, (_, i) => begin + i / 1e4);
    const [keys, values] = [bytes(tokens * 16), bytes(tokens * 9)];
    const quantised = {
        ...sizes,
        kvDtype: "i8",
        keyScales: scales(0.01),
        valueScales: scales(0.02),
    };
    const seen = [];
    const onProgress = (done) => seen.push(done);
    assert.deepEqual(
        await attn.attention(query, keys, values, { ...quantised, onProgress }),
        local.attention(query, keys, values, quantised),
    );
    assert.equal(seen[0], 0.25);

    const bits = (count) => Uint16Array.from({ length: count }, (_, i) => 0x3c00 + (i % 512));
    const halves = [query, key, value].map(({ length }) => bits(length));
    const half = { ...sizes, dtype: "f16" };
    const out = new Uint16Array(2 * 4 * 30 * 9);
    assert.equal(await attn.attention(...halves, { ...half, out }), out);
    assert.deepEqual(out, local.attention(...halves, half));

    const turned = { ...sizes, strides: { query: [1920, 16, 64, 1] } };
    assert.deepEqual(
        await attn.attention(query, key, value, turned),
        local.attention(query, key, value, turned),
    );
    attn.dispose();
});

test("an abort ends a running call at once, and the next one works", async () => {
    const attn = await init({ build: "simd" });
    const stop = new AbortController();
    const started = performance.now();
    const options = { ...long.sizes, signal: stop.signal, onProgress: () => stop.abort() };
    const running = attn.attention(long.query, long.key, long.value, options);
    const waiting = attn.attention(query, key, value, sizes);
    await assert.rejects(running, { name: "AbortError" });
    const aborted = performance.now() - started;
    assert.deepEqual(await waiting, local.attention(query, key, value, sizes));
    await attn.attention(long.query, long.key, long.value, long.sizes);
    assert.ok(aborted < performance.now() - started - aborted, `aborted after ${aborted} ms`);
    await assert.rejects(attn.attention(query, key, value, { ...sizes, signal: stop.signal }), {
        name: "AbortError",
    });
    attn.dispose();
});

test("errors are typed, and no call outlives dispose()", async () => {
    const attn = await init({ build: "simd" });
    await assert.rejects(attn.attention(query, key, value, { dim: 7 }), (error) => {
        assert.ok(error instanceof AttnError);
        assert.equal(error.code, "ATTN_ERROR_SHAPE");
        return true;
    });
    await assert.rejects(attn.attention(query, key, value, { ...sizes, dmi: 7 }), TypeError);
    await assert.rejects(attn.attention(query, key, value, { ...sizes, signal: 1 }), TypeError);
    await assert.rejects(init({ build: "fast" }), TypeError);
    await assert.rejects(init({ thread: 1 }), TypeError);
    const running = attn.attention(long.query, long.key, long.value, long.sizes);
    const waiting = attn.attention(query, key, value, sizes);
    attn.dispose();
    for (const call of [running, waiting, attn.attention(query, key, value, sizes)]) {
        await assert.rejects(call, { code: "ATTN_ERROR_DISPOSED" });
    }
    assert.throws(() => attn.backends(), { code: "ATTN_ERROR_DISPOSED" });
});

test("a process ends by itself, and not before its calls", async () => {
    const entry = new URL("../dist/worker-node.js", import.meta.url).href;
    const script = `
        import { init } from ${JSON.stringify(entry)};
        const attn = await init();
        const x = new Float32Array(256).fill(2);
        console.log((await attn.attention(x, x, x, { heads: 4, dim: 16 }))[0]);`;
    const node = ["--input-type=module", "--eval", script];
    const { stdout } = await promisify(execFile)(process.execPath, node, { timeout: 10000 });
    assert.equal(stdout, "2\n");
});
