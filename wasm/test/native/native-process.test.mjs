/* The addon in processes of its own: memory, worker threads, and how they end. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { shareOf } from "../share.mjs";
import { patience } from "../patience.mjs";

const entry = new URL("../../js/native.js", import.meta.url).href;

/** Runs a module that finds `init` and small arrays; gives what it prints. */
async function run(code, ...flags) {
    const script = `
        import { init } from ${JSON.stringify(entry)};
        const sizes = { heads: 2, queries: 16, dim: 16 };
        const array = () => Float32Array.from({ length: 512 }, (_, i) => Math.sin(i));
        const [query, key, value] = [array(), array(), array()];
        ${code}`;
    const node = [...flags, "--input-type=module", "--eval", script];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, node, {
        timeout: patience,
    });
    assert.equal(stderr, "");
    return stdout;
}

/**
 * Code that says by how many bytes `cycle(count)` makes the process grow: the median of three rounds
 * after two, in which code is compiled, because caches and heaps grow and shrink now and then, and a leak
 * grows each time.
 */
const grown = (count) => `
    const size = async () => {
        for (let i = 0; i < 4; i++) { gc(); await new Promise((done) => setTimeout(done, 10)); }
        return process.memoryUsage().rss;
    };
    const after = [];
    for (let round = 0; round < 5; round++) {
        await cycle(${count});
        after.push(await size());
    }
    const growth = after.slice(2).map((bytes, i) => bytes - after[i + 1]);
    console.log(growth.sort((a, b) => a - b)[1]);`;

const MEBIBYTE = 2 ** 20;
const FLAGS = ["--expose-gc", "--max-semi-space-size=1"]; // the heap's young part does not grow

test("30,000 plans, streams, runs and errors leave the memory flat", async (t) => {
    const bytes = await run(
        `
        const attn = await init({ fallback: false });
        const refused = (act) => { try { act(); } catch (error) { return error.code; } throw act; };
        async function cycle(count) {
            for (let i = 0; i < count; i++) {
                const backend = ["softmax", "linear", "sparse", "sketch"][i % 4];
                const plan = attn.plan({ ...sizes, backend });
                const { out } = plan.run({ query, key, value });
                plan.weights({ query, key });
                plan.error({ query, key, value, out });
                refused(() => attn.plan({ ...sizes, backend, params: { none: 1 } }));
                const running = i % 10 ? null : plan.runAsync({ query, key, value });
                plan.dispose();
                await running;
                const stream = attn.stream({ heads: 2, dim: 16, maxKeys: 64 });
                stream.append(key, value).query(query);
                stream.fork().restore(stream.save()).dispose();
                stream.dispose();
            }
        }
        ${grown(shareOf(6000))}`,
        ...FLAGS,
    );
    t.diagnostic(`${(bytes / MEBIBYTE).toFixed(2)} MiB`);
    assert.ok(bytes < 2 * MEBIBYTE, `${bytes} bytes more`); // 350 bytes each
});

test("runs of libuv's threads share one workspace", async (t) => {
    const bytes = await run(
        `
        const attn = await init({ fallback: false });
        const plan = attn.plan({ queries: 4096, dim: 64, causal: true });
        const x = new Float32Array(4096 * 64).fill(0.5);
        const io = { query: x, key: x, value: x, out: new Float32Array(x.length) };
        if (plan.workspaceBytes < ${MEBIBYTE}) throw new Error("little to share");
        async function cycle(count) {
            for (let i = 0; i < count; i++) await plan.runAsync(io);
        }
        ${grown(6)}`,
        ...FLAGS,
    );
    t.diagnostic(`${(bytes / MEBIBYTE).toFixed(2)} MiB`);
    assert.ok(bytes < MEBIBYTE, `${bytes} bytes more`); // a workspace each would be 6 and more
});

test("what is dropped without dispose() is collected, with its contexts and threads", async (t) => {
    const bytes = await run(
        `
        async function cycle(count) {
            for (let i = 0; i < count; i++) {
                const attn = await init({ fallback: false, threads: 2 });
                const plan = attn.plan(sizes);
                plan.run({ query, key, value });
                if (i % 5 === 0) await plan.runAsync({ query, key, value });
                attn.stream({ heads: 2, dim: 16, maxKeys: 64 }).append(key, value).fork();
                if (i % 50 === 0) { gc(); await new Promise((done) => setTimeout(done)); }
            }
        }
        ${grown(shareOf(400))}`,
        ...FLAGS,
    );
    t.diagnostic(`${(bytes / MEBIBYTE).toFixed(2)} MiB`);
    assert.ok(bytes < 2 * MEBIBYTE, `${bytes} bytes more`); // 5 kB each
});

test("a process ends by itself, during a run after it", async () => {
    const code = `
        const attn = await init({ fallback: false, threads: 2 });
        const plan = attn.plan(sizes);
        plan.runAsync({ query, key, value }).then(({ out }) => console.log(out.length));`;
    assert.equal(await run(code), "512\n");
});

test("process.exit() during a run", async () => {
    const code = `
        const attn = await init({ fallback: false });
        const long = new Float32Array(4 * 2048 * 64);
        const plan = attn.plan({ heads: 4, queries: 2048, dim: 64 });
        for (let i = 0; i < 6; i++) plan.runAsync({ query: long, key: long, value: long });
        setImmediate(() => { console.log("bye"); process.exit(0); });`;
    assert.equal(await run(code), "bye\n");
});

test("worker threads, beside each other, to their end and terminated", async () => {
    const code = `
        import { Worker } from "node:worker_threads";
        const source = \`
            const { parentPort, workerData } = require("node:worker_threads");
            import(${JSON.stringify(entry)}).then(async ({ init }) => {
                const attn = await init({ fallback: false });
                const plan = attn.plan({ heads: 4, queries: workerData, dim: 64 });
                const query = new Float32Array(4 * workerData * 64).fill(1);
                const running = plan.runAsync({ query, key: query, value: query });
                parentPort.postMessage("started");
                const { out } = await running;
                parentPort.postMessage(out.every((x) => x === 1)); // sums of 1 over a power of 2
            });\`;
        const start = (workerData) => new Worker(source, { eval: true, execArgv: [], workerData });
        const started = (worker) => new Promise((done) => worker.once("message", done));
        const lived = (worker) => new Promise((done) => {
            const messages = [];
            worker.on("message", (message) => messages.push(message));
            worker.on("exit", (code) => done([...messages, code]));
        });
        const results = Array.from({ length: 4 }, () => lived(start(256)));
        for (let i = 0; i < 3; i++) {
            const worker = start(2048);
            await started(worker);
            await worker.terminate();
        }
        console.log(JSON.stringify(await Promise.all(results)));
        const attn = await init({ fallback: false }); // here too, afterwards
        console.log(attn.attention(query, key, value, sizes).length);`;
    assert.equal(await run(code), `${JSON.stringify(Array(4).fill(["started", true, 0]))}\n512\n`);
});
