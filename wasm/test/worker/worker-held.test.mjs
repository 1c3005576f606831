/* libattn/worker: plans, streams, tensors and plugins that are held in the worker, and what ends them. */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { AttnError, init } from "libattn/worker";
import { floats, libraries, makeProblem, numbers } from "../support.mjs";
import { patience } from "../patience.mjs";

const local = libraries.get("simd");
const problem = makeProblem(
    { batch: 2, heads: 4, kvHeads: 2, queries: 30, keys: 50, dim: 16, valueDim: 9 },
    1,
);
const { sizes, query, key, value } = problem;
const long = makeProblem({ heads: 16, queries: 3000, dim: 64 }, 2); // about a second
const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "libattn-held-"));
after(() => rmSync(folder, { recursive: true }));

/* Bytes of arrays in the messages to workers, and the last worker that one went to. */
const posted = { bytes: 0, messages: 0, worker: null };
const { postMessage } = Worker.prototype;
Worker.prototype.postMessage = function (message, transfer) {
    posted.worker = this;
    posted.messages++;
    posted.bytes += bytesOf(message);
    return postMessage.call(this, message, transfer);
};

function bytesOf(value) {
    if (ArrayBuffer.isView(value)) return value.byteLength;
    if (value === null || typeof value !== "object") return 0;
    return Object.values(value).reduce((sum, one) => sum + bytesOf(one), 0);
}

const isDisposed = (what) => (error) => {
    assert.ok(error instanceof AttnError, String(error));
    assert.equal(error.code, "ATTN_ERROR_DISPOSED");
    assert.match(error.message, what);
    return true;
};

for (const backend of ["softmax", "linear", "sparse", "sketch"]) {
    test(`a plan of ${backend} is what it is without a worker`, async () => {
        const attn = await init({ build: "simd" });
        const options = { ...sizes, backend, causal: backend !== "sketch" };
        const [here, there] = [local.plan(options), await attn.plan(options)];
        for (const name of ["sizes", "inputs", "backend", "kernel", "workspaceBytes"])
            assert.deepEqual(there[name], here[name], name);
        assert.deepEqual(there.cost, here.cost);
        assert.deepEqual(there.facts, here.facts);
        const wanted = here.run({ query, key, value, lse: backend === "softmax" });
        const { milliseconds, ...result } = await there.run({
            ...{ query, key, value, lse: backend === "softmax" },
        });
        assert.deepEqual(result, wanted);
        assert.ok(milliseconds >= 0);
        const part = { query, key, batch: 1, head: 3, first: 7, count: 5 };
        assert.deepEqual(await there.weights(part), here.weights(part));
        const judged = { query, key, value, out: wanted.out, stride: 2 };
        assert.equal(await there.error(judged), here.error(judged));
        here.dispose();
        attn.dispose();
    });
}

test("results in arrays of the caller's, and a run so often as is said", async () => {
    const attn = await init({ build: "simd" });
    const plan = await attn.plan(sizes);
    const wanted = local.attention({ ...sizes, query, key, value, lse: true, scores: true });
    const out = new Float32Array(wanted.out.length);
    const lse = new Float32Array(wanted.lse.length);
    const shaped = { data: new Float32Array(wanted.scores.length), shape: [2, 4, 30, 50] };
    const arrays = { query, key, value, out, lse, scores: shaped };
    const result = await plan.run({ ...arrays, repeats: 3 });
    assert.equal(result.out, out);
    assert.equal(result.lse, lse);
    assert.equal(result.scores, shaped.data);
    assert.deepEqual([out, lse, shaped.data], [wanted.out, wanted.lse, wanted.scores]);
    for (const repeats of [0, 1.5, "2"]) await assert.rejects(plan.run({ ...arrays, repeats }));
    attn.dispose();
});

test("tensors stay in the worker: what is posted are their ids", async () => {
    const attn = await init({ build: "simd" });
    const [q, k, v] = await Promise.all([query, key, value].map((array) => attn.tensor(array)));
    const out = await attn.tensor(2 * 4 * 30 * 9);
    assert.deepEqual([q.dtype, q.length, q.shape], ["f32", query.length, null]);
    assert.deepEqual(await q.read(), query);
    const plan = await attn.plan(sizes);
    const wanted = local.attention(query, key, value, sizes);
    posted.bytes = 0;
    const result = await plan.run({ query: q, key: k, value: v, out });
    assert.equal(result.out, out);
    const rows = await plan.weights({ query: q, key: k, first: 3, count: 2 });
    const error = await plan.error({ query: q, key: k, value: v, out });
    assert.equal(await attn.countNonfinite(out), 0);
    const again = await attn.attention({ ...sizes, query: q, key: k, value: v, out });
    assert.equal(again.out, out);
    assert.equal(posted.bytes, 0);
    assert.deepEqual(await out.read(), wanted);
    const here = local.plan(sizes);
    assert.deepEqual(rows, here.weights({ query, key, first: 3, count: 2 }));
    assert.equal(error, here.error({ query, key, value, out: wanted }));
    here.dispose();

    await q.write(new Float32Array(q.length));
    assert.deepEqual(await q.read(), new Float32Array(q.length));
    await assert.rejects(q.write(new Float32Array(3)), { code: "ATTN_ERROR_SHAPE" });
    const shaped = await attn.tensor({ data: new Float32Array(64), shape: [8, 8] });
    assert.deepEqual(shaped.shape, [8, 8]);
    const x = await attn.attention(shaped, shaped, shaped);
    assert.equal(x.length, 64);
    attn.dispose();
});

test("attention() of tensors tells how far it is, also where memory grows meanwhile", async () => {
    const attn = await init({ build: "simd" });
    const sizesOf = { heads: 8, queries: 700, dim: 64 };
    const big = makeProblem(sizesOf, 3);
    const arrays = [big.query, big.key, big.value];
    const held = await Promise.all(arrays.map((array) => attn.tensor(array)));
    const seen = [];
    const onProgress = (done) => seen.push(done);
    const options = { ...big.sizes, onProgress };
    const out = await attn.tensor(big.query.length);
    await attn.attention(...held, { ...options, out });
    assert.deepEqual(await out.read(), local.attention(...arrays, big.sizes));
    assert.deepEqual(
        seen,
        [1, 2, 3, 4, 5, 6, 7, 8].map((part) => part / 8),
    );
    attn.dispose();
});

test("streams: their calls, their length and their copies", async () => {
    const attn = await init({ build: "simd" });
    const shape = { heads: 2, dim: 8, maxKeys: 100, causal: true };
    const [here, there] = [local.stream(shape), await attn.stream(shape)];
    const next = numbers(5);
    const rows = (count) => floats(2 * count * 8, next);
    const [keys, values, asked] = [rows(10), rows(10), rows(3)];
    assert.equal(there.length, 0);
    here.append(keys, values);
    assert.equal(await there.append(keys, values), there);
    assert.equal(there.length, 10);
    assert.equal(there.memoryBytes, here.memoryBytes);
    assert.deepEqual(there.sizes, here.sizes);
    assert.deepEqual(await there.query(asked), here.query(asked));
    const out = new Float32Array(asked.length);
    const given = await there.query({ query: asked, out });
    assert.equal(given.out, out);
    assert.deepEqual(out, here.query(asked).out);

    const saved = await there.save();
    assert.deepEqual(saved, here.save());
    const fork = await there.fork();
    await there.truncate(4);
    here.truncate(4);
    assert.deepEqual([there.length, fork.length], [4, 10]);
    assert.deepEqual(await there.query(asked), here.query(asked));
    await there.restore(saved);
    assert.deepEqual(await there.query(asked), await fork.query(asked));
    await assert.rejects(there.truncate(11), AttnError);
    await assert.rejects(there.append(rows(91), rows(91)), { code: "ATTN_ERROR_RANGE" });
    assert.equal(there.length, 10);
    here.dispose();
    attn.dispose();
});

test("NaN", async () => {
    const attn = await init({ build: "simd" });
    assert.equal(await attn.countNonfinite(Float32Array.of(1, NaN, Infinity)), 2);
    attn.dispose();
});

/* What no message can hold is refused in the same words. */
const strange = {
    "a function": { mask: () => {} },
    "a symbol": { bias: Symbol("x") },
    "an instance": { params: new Map() },
    "a function in a list": { kvLengths: [() => {}, 1] },
    "a promise": { sinks: Promise.resolve() },
};
for (const [name, rules] of Object.entries(strange)) {
    test(`the same error as without a worker: ${name}`, async () => {
        const attn = await init({ build: "simd" });
        let expected;
        assert.throws(
            () => local.attention(query, key, value, { ...sizes, ...rules }),
            (error) => Boolean((expected = error)),
        );
        const { name: kind, message } = expected;
        await assert.rejects(attn.attention(query, key, value, { ...sizes, ...rules }), {
            name: kind,
            message,
        });
        attn.dispose();
    });
}

test("what is used after its dispose(), or in another worker, is an error", async () => {
    const [attn, other] = await Promise.all([init({ build: "simd" }), init({ build: "simd" })]);
    const plan = await attn.plan(sizes);
    const tensor = await attn.tensor(query);
    const running = plan.run({ query: tensor, key, value });
    plan.dispose();
    tensor.dispose();
    plan.dispose();
    assert.deepEqual((await running).out, local.attention(query, key, value, sizes)); // before it
    await assert.rejects(plan.run({ query, key, value }), isDisposed(/the plan was used after/));
    await assert.rejects(tensor.read(), isDisposed(/the tensor was used after/));
    await assert.rejects(
        attn.attention(tensor, key, value, sizes),
        isDisposed(/the tensor was used after/),
    );
    const foreign = await other.tensor(query);
    await assert.rejects(attn.attention(foreign, key, value, sizes), {
        code: "ATTN_ERROR_ARGUMENT",
        message: /^query is a tensor, which is another instance's/,
    });
    const left = await attn.plan(sizes);
    attn.dispose();
    await assert.rejects(left.run({ query, key, value }), isDisposed(/used after dispose/));
    await assert.rejects(attn.plan(sizes), isDisposed(/libattn was used after/));
    other.dispose();
});

test("an abort leaves what is held as it is, and each call its own result", async () => {
    const attn = await init({ build: "simd" });
    const [q, plan] = [await attn.tensor(query), await attn.plan(sizes)];
    const slow = await attn.plan(long.sizes);
    const stop = new AbortController();
    const { signal } = stop;
    const stopped = slow.run({ query: long.query, key: long.key, value: long.value, signal });
    const next = plan.run({ query: q, key, value });
    const dropped = plan.run({ query: q, key, value, signal });
    stop.abort();
    await assert.rejects(stopped, { name: "AbortError" });
    await assert.rejects(dropped, { name: "AbortError" });
    const wanted = local.attention(query, key, value, sizes);
    assert.deepEqual((await next).out, wanted);
    assert.deepEqual((await plan.run({ query: q, key, value })).out, wanted);
    await assert.rejects(plan.run({ query: q, key, value, signal: 1 }), TypeError);
    await assert.rejects(plan.run({ query: q, key, value, signal: stop.signal }), {
        name: "AbortError",
    });
    attn.dispose();
});

test("attention() that is aborted where something is held ends at its next head", async () => {
    const attn = await init({ build: "simd" });
    const tensor = await attn.tensor(query);
    let computed = 0;
    posted.worker.on("message", ([kind]) => {
        if (kind === "progress") computed++;
    });
    const stop = new AbortController();
    let told = 0;
    const onProgress = (done) => {
        told++;
        if (done >= 0.25) stop.abort();
    };
    const call = { query: long.query, key: long.key, value: long.value, ...long.sizes };
    await assert.rejects(attn.attention({ ...call, signal: stop.signal, onProgress }), {
        name: "AbortError",
    });
    assert.deepEqual(await tensor.read(), query);
    assert.equal(told, 4);
    assert.ok(computed < 12, `${computed} of 16 heads`); // this thread may have had to wait a while
    attn.dispose();
});

test("a worker that ends by itself takes with it what it held, and another one comes", async () => {
    const attn = await init({ build: "simd" });
    const plan = await attn.plan(long.sizes);
    const arrays = { query: long.query, key: long.key, value: long.value };
    const running = plan.run(arrays); // ends after the worker, which a short one may not
    const waiting = plan.run(arrays);
    await posted.worker.terminate();
    await assert.rejects(running, { code: "ATTN_ERROR_LOAD" });
    await assert.rejects(waiting, isDisposed(/has ended with its worker/));
    await assert.rejects(plan.run(arrays), isDisposed(/the plan/));
    const anew = await attn.plan(sizes);
    const { out } = await anew.run({ query, key, value });
    assert.deepEqual(out, local.attention(query, key, value, sizes));
    attn.dispose();
});

test("a tensor's memory is free again: more come and go than there would be room for", async () => {
    const attn = await init({ build: "simd" });
    for (let i = 0; i < 60; i++) (await attn.tensor(2e7)).dispose(); // 80 MB each
    attn.dispose();
});

test("tensors, plans and streams that nobody has any more are freed in the worker", async () => {
    const script = `
        import { setTimeout } from "node:timers/promises";
        import { Worker } from "node:worker_threads";
        import { init } from "libattn/worker";
        let released = 0;
        const { postMessage } = Worker.prototype;
        Worker.prototype.postMessage = function (message, transfer) {
            if (message[0] === "release") released++;
            return postMessage.call(this, message, transfer);
        };
        const attn = await init();
        const kept = await attn.tensor(8);
        for (let i = 0; i < 60; i++) {
            await attn.tensor(2e7);
            globalThis.gc();
            await setTimeout(1);
        }
        for (let i = 0; i < 3; i++) await attn.plan({ queries: 8, dim: 8 });
        for (let i = 0; i < 3; i++) await attn.stream({ dim: 8, maxKeys: 8 });
        for (let i = 0; i < 50 && released < 66; i++) {
            globalThis.gc();
            await setTimeout(10);
        }
        console.log(released, (await kept.read()).length);`;
    const node = ["--expose-gc", "--input-type=module", "--eval", script];
    const { stdout } = await promisify(execFile)(process.execPath, node, {
        ...{ cwd: import.meta.dirname, timeout: patience },
    });
    assert.match(stdout, /^6[56] 8\n$/); // the last one may still be on the stack
});

test("plugins: loaded, used, refused while in use, unloaded", async () => {
    const file = join(folder, "template.wasm");
    const source = join(root, "plugins/template/template.c");
    execFileSync(join(root, "dev"), ["plugin", source, "-o", file]);
    const bytes = readFileSync(file);
    const attn = await init({ build: "simd" });
    const plugin = await attn.loadPlugin(bytes, { name: "template" });
    assert.deepEqual(plugin.backends, ["org.libattn.template"]);
    assert.equal(plugin.name, "template");
    assert.ok(attn.backends().some(({ id }) => id === plugin.backends[0]));
    const plan = await attn.plan({ ...sizes, backend: plugin.backends[0] });
    assert.equal((await plan.run({ query, key, value })).out.length, 2 * 4 * 30 * 9);
    await assert.rejects(attn.loadPlugin(bytes), { code: "ATTN_ERROR_PLUGIN" });
    await assert.rejects(attn.loadPlugin(new Uint8Array(9), { name: "x" }), {
        code: "ATTN_ERROR_PLUGIN",
        message: /^plugin 'x': cannot compile/,
    });
    await assert.rejects(plugin.unload(), { code: "ATTN_ERROR_PLUGIN", message: /dispose\(\)/ });
    plan.dispose();
    await plugin.unload();
    await plugin.unload();
    assert.deepEqual(attn.backends(), local.backends());
    attn.dispose();
});
