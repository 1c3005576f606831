/* libattn/worker: the same numbers as a call, progress, and an end at any time. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readdir, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { AttnError, init } from "libattn/worker";
import { libraries, makeProblem } from "../support.mjs";
import { patience } from "../patience.mjs";

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
    const told = [];
    const onProgress = (done) => {
        told.push(done);
        stop.abort();
    };
    const options = { ...long.sizes, signal: stop.signal, onProgress };
    const running = attn.attention(long.query, long.key, long.value, options);
    const waiting = attn.attention(query, key, value, sizes);
    await assert.rejects(running, { name: "AbortError" });
    assert.deepEqual(await waiting, local.attention(query, key, value, sizes));
    assert.ok(told.length === 1 && told[0] < 1, `not at once: told of ${told}`);
    await assert.rejects(attn.attention(query, key, value, { ...sizes, signal: stop.signal }), {
        name: "AbortError",
    });
    attn.dispose();
});

/* What a worker has sent before it is ended comes later. */
const unheard = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
const aborts = {
    "before its first answer": async (stop) => {
        await new Promise(setImmediate);
        unheard();
        stop();
    },
    "in its progress": (stop) => ({
        onProgress() {
            unheard();
            stop();
        },
    }),
};

for (const [name, abort] of Object.entries(aborts)) {
    test(`each call has its own result after an abort: ${name}`, async () => {
        const attn = await init({ build: "simd" });
        const stop = new AbortController();
        const more = abort(() => stop.abort());
        const options = { ...sizes, signal: stop.signal, ...more };
        const first = attn.attention(query, key, value, options);
        const x = new Float32Array(16).fill(3);
        const second = attn.attention(x, x, x, { dim: 4 });
        const third = attn.attention({ query: x, key: x, value: x, dim: 16 });
        await assert.rejects(first, { name: "AbortError" });
        assert.deepEqual([await second, (await third).out], [x, x]);
        attn.dispose();
    });
}

test("a worker that cannot load again is an error of each call until it can", async () => {
    const dist = fileURLToPath(new URL("../../dist/", import.meta.url));
    const folder = await mkdtemp(join(tmpdir(), "libattn-"));
    const scripts = (await readdir(dist)).filter((name) => name.endsWith(".js"));
    for (const name of [...scripts, "libattn.simd.wasm"])
        await copyFile(join(dist, name), join(folder, name));
    await writeFile(join(folder, "package.json"), '{ "type": "module" }');
    const { init } = await import(pathToFileURL(join(folder, "worker-node.js")));
    const attn = await init({ build: "simd" });
    const call = () => attn.attention(query, key, value, sizes);
    const restart = async () => {
        const stop = new AbortController();
        const options = { ...long.sizes, signal: stop.signal };
        const running = attn.attention(long.query, long.key, long.value, options);
        stop.abort();
        await assert.rejects(running, { name: "AbortError" });
    };
    for (const name of ["libattn.simd.wasm", "served-node.js"]) {
        const file = join(folder, name);
        await rename(file, `${file}.gone`);
        await restart();
        for (const failing of [call(), call()])
            await assert.rejects(failing, { name: "AttnError", code: "ATTN_ERROR_LOAD" }, name);
        await rename(`${file}.gone`, file);
        assert.deepEqual(await call(), local.attention(query, key, value, sizes));
    }
    attn.dispose();
    await rm(folder, { recursive: true });
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

/* What the main entry refuses before it computes. */
const wrong = {
    "an array that is too long": [[new Float32Array(query.length + 1), key, value, sizes]],
    "an out of integers": [[query, key, value, { ...sizes, out: new Int32Array(2160) }]],
    "an out that is too short": [[query, key, value, { ...sizes, out: new Float32Array(3) }]],
    "a mask that is a number": [[query, key, value, { ...sizes, mask: 5 }]],
    "a mask of numbers": [[query, key, value, { ...sizes, mask: [0, 1] }]],
    "bytes for an array": [new ArrayBuffer(50), new DataView(new ArrayBuffer(50))].flatMap(
        (bytes) =>
            ["mask", "kvLengths", "out"].map((name) => [
                query,
                key,
                value,
                { ...sizes, [name]: bytes },
            ]),
    ),
    "a bias that is a list": [[query, key, value, { ...sizes, bias: [0, 1] }]],
    "too few sinks": [[query, key, value, { ...sizes, sinks: new Float32Array(1) }]],
    "lengths past the keys": [[query, key, value, { ...sizes, kvLengths: [51, 1] }]],
    "no options": [[query, key, value]],
    "null for options": [[query, key, value, null]],
    "no arrays": [[], [undefined, key, value, sizes], [null, null, null, null], [{ dim: 4 }]],
    "an unknown layout": [[query, key, value, { ...sizes, layout: "nhd" }]],
    "strides of no out": [[query, key, value, { ...sizes, strides: { out: [1, 1, 1, 1] } }]],
    "a text for a size": [[query, key, value, { ...sizes, heads: "4" }]],
    "an unknown option": [[query, key, value, { ...sizes, dmi: 7 }]],
    "an unknown backend": [[query, key, value, { ...sizes, backend: "sofmax" }]],
    "an unknown parameter": [[query, key, value, { ...sizes, params: { blok: 1 } }]],
    "floats for bits": [[query, key, value, { ...sizes, dtype: "f16" }]],
    "heads that do not share": [[query, key, value, { ...sizes, kvHeads: 3 }]],
};

for (const [name, calls] of Object.entries(wrong)) {
    test(`the same error as without a worker: ${name}`, async () => {
        const attn = await init({ build: "simd" });
        for (const args of calls) {
            let expected;
            assert.throws(
                () => local.attention(...args),
                (error) => Boolean((expected = error)),
            );
            await assert.rejects(attn.attention(...args), (error) => {
                assert.equal(error.constructor, expected.constructor);
                const known = expected.message.replace(/ \(there are .*/, "");
                assert.equal(error.message.replace(/ \(there are .*/, ""), known);
                assert.equal(error.code, expected.code);
                return true;
            });
        }
        attn.dispose();
    });
}

test("a tensor is another instance's", async () => {
    const attn = await init({ build: "simd" });
    const tensor = local.tensor(query);
    const [out, lse] = [local.tensor(2 * 4 * 30 * 9), local.tensor(2 * 4 * 30)];
    const call = { ...sizes, query, key, value };
    for (const [name, array] of Object.entries({ query: tensor, out, lse })) {
        const seen = [];
        const onProgress = (done) => seen.push(done);
        await assert.rejects(attn.attention({ ...call, [name]: array, onProgress }), {
            code: "ATTN_ERROR_ARGUMENT",
            message: new RegExp(`^${name} is a tensor`),
        });
        assert.deepEqual(seen, []);
        array.dispose();
    }
    attn.dispose();
});

test("an onProgress that throws rejects, at once and without anything uncaught", async () => {
    const uncaught = [];
    const watch = (error) => uncaught.push(error);
    process.on("uncaughtException", watch).on("unhandledRejection", watch);
    const attn = await init({ build: "simd" });
    const reason = new Error("enough");
    const told = [];
    const onProgress = (done) => {
        told.push(done);
        throw reason;
    };
    const failing = attn.attention(long.query, long.key, long.value, { ...long.sizes, onProgress });
    const waiting = attn.attention(query, key, value, sizes);
    await assert.rejects(failing, reason);
    assert.ok(told.length === 1 && told[0] < 1, `not at once: told of ${told}`);
    assert.deepEqual(await waiting, local.attention(query, key, value, sizes));
    const last = { ...sizes, backend: "sketch", onProgress };
    await assert.rejects(attn.attention(query, key, value, last), reason);
    await assert.rejects(attn.attention(query, key, value, { ...sizes, onProgress: 1 }), TypeError);
    attn.dispose();
    process.off("uncaughtException", watch).off("unhandledRejection", watch);
    assert.deepEqual(uncaught, []);
});

test("an out with strides, and its gaps stay", async () => {
    const attn = await init({ build: "simd" });
    const strides = { out: [2 * 4 * 30 * 9, 2 * 30 * 9, 18, 2] };
    const length = 2 * 2 * 4 * 30 * 9;
    const wanted = new Float32Array(length).fill(7);
    local.attention(query, key, value, { ...sizes, strides, out: wanted });
    const shared = new Float32Array(new SharedArrayBuffer(4 * length));
    for (const out of [new Float32Array(length), shared]) {
        out.fill(7);
        assert.equal(await attn.attention(query, key, value, { ...sizes, strides, out }), out);
        assert.deepEqual(out, wanted);
        assert.equal(out[1], 7);
    }
    attn.dispose();
});

test("arrays are copied as the call is made, and an out that is taken away is an error", async () => {
    const attn = await init({ build: "simd" });
    const first = attn.attention(query, key, value, sizes);
    const [own, out] = [query.slice(), new Float32Array(2160)];
    const second = attn.attention(own, key, value, sizes);
    const third = attn.attention(query, key, value, { ...sizes, out });
    own.fill(0);
    structuredClone(out.buffer, { transfer: [out.buffer] });
    assert.deepEqual(await second, await first);
    await assert.rejects(third, { code: "ATTN_ERROR_SHAPE", message: /out was transferred/ });
    attn.dispose();
});

test("a process ends by itself, and not before its calls", async () => {
    const entry = new URL("../../dist/worker-node.js", import.meta.url).href;
    const script = `
        import { init } from ${JSON.stringify(entry)};
        const attn = await init();
        const x = new Float32Array(256).fill(2);
        console.log((await attn.attention(x, x, x, { heads: 4, dim: 16 }))[0]);`;
    const node = ["--input-type=module", "--eval", script];
    const { stdout } = await promisify(execFile)(process.execPath, node, { timeout: patience });
    assert.equal(stdout, "2\n");
});
