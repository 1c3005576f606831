/* Memory that grows, plans and libraries that are disposed, processes that end. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { Attn } from "../../js/calls/attn.js";
import { Heap } from "../../js/engine/heap.js";
import { init as initNative } from "../../js/native.js";
import { AttnError, init } from "../../js/index.js";
import { shareOf } from "../share.mjs";
import { assertClose, exactAttention, makeProblem, moduleBytes } from "../support.mjs";
import { patience } from "../patience.mjs";

/** The library together with its memory, which the interface does not show. */
async function open() {
    const { instance } = await WebAssembly.instantiate(await moduleBytes("simd"), {});
    instance.exports._initialize();
    return { attn: new Attn(new Heap(instance.exports)), memory: instance.exports.memory };
}

function isDisposed(error) {
    return error instanceof AttnError && error.code === "ATTN_ERROR_DISPOSED";
}

test("memory that grows in a call leaves no stale view", async () => {
    const { attn, memory } = await open();
    const small = makeProblem({ queries: 8, dim: 4 }, 1);
    const plan = attn.plan(small.sizes);
    const before = plan.run(arraysOf(small));
    const size = memory.buffer.byteLength;

    const big = makeProblem({ heads: 2, queries: 300, keys: 9000, dim: 64 }, 2);
    const exact = exactAttention({
        sizes: { ...big.sizes, heads: 1, kvHeads: 1 },
        query: big.query.subarray(0, 300 * 64),
        key: big.key.subarray(0, 9000 * 64),
        value: big.value.subarray(0, 9000 * 64),
    });
    const out = attn.attention(big.query, big.key, big.value, big.sizes);
    assert.ok(memory.buffer.byteLength > size, "the memory had to grow");
    assertClose(out.subarray(0, exact.out.length), exact.out, exact.outBound, "out of head 0");

    assert.deepEqual(plan.run(arraysOf(small)), before);
    assert.ok(before.out.buffer !== memory.buffer);
});

function arraysOf({ query, key, value }) {
    return { query, key, value };
}

test("the heap stays flat over 10000 plans, runs and errors of all backends", async () => {
    const { attn, memory } = await open();
    const { query, key, value, sizes } = makeProblem({ heads: 2, queries: 16, dim: 16 }, 3);
    const cycle = (backend) => {
        const plan = attn.plan({ ...sizes, backend });
        const { out } = plan.run({ query, key, value });
        plan.weights({ query, key });
        plan.error({ query, key, value, out });
        assert.ok(plan.cost.flops > 0);
        plan.dispose();
        assert.throws(() => attn.plan({ ...sizes, backend, params: { none: 1 } }), AttnError);
        attn.backends();
    };
    const ids = attn.backends().map(({ id }) => id);
    for (const id of ids) cycle(id);
    const size = memory.buffer.byteLength;
    for (const id of ids) for (let i = 0; i < shareOf(2500); i++) cycle(id);
    assert.equal(memory.buffer.byteLength, size);
});

test("a disposed plan is an error in every use, and no second dispose", async () => {
    const attn = await init();
    const { query, key, value, sizes } = makeProblem({ queries: 4, dim: 4 }, 4);
    const plan = attn.plan(sizes);
    plan.dispose();
    plan.dispose();
    const uses = [
        () => plan.run({ query, key, value }),
        () => plan.weights({ query, key }),
        () => plan.error({ query, key, value, out: query }),
        () => plan.cost,
        () => plan.facts,
        () => plan.kernel,
        () => plan.workspaceBytes,
    ];
    for (const use of uses) assert.throws(use, isDisposed, String(use));
    assert.equal(attn.attention(query, key, value, sizes).length, 16);
});

/* Every method of the library, and of what it makes, called as it may be. */
const USES = {
    attn: ({ attn, arrays, sizes }) => ({
        plan: () => attn.plan(sizes),
        attention: () => attn.attention(arrays.query, arrays.key, arrays.value, sizes),
        attentionAsync: () => attn.attentionAsync(arrays.query, arrays.key, arrays.value, sizes),
        gradients: () =>
            attn.gradients(arrays.query, arrays.key, arrays.value, arrays.query, sizes),
        stream: () => attn.stream({ dim: 4, maxKeys: 9 }),
        tensor: () => attn.tensor(16),
        loadPlugin: () => attn.loadPlugin(new Uint8Array(8)),
        backends: () => attn.backends(),
        countNonfinite: () => attn.countNonfinite(arrays.query),
    }),
    plan: ({ plan, arrays }) => ({
        run: () => plan.run(arrays),
        runAsync: () => plan.runAsync(arrays),
        weights: () => plan.weights({ query: arrays.query, key: arrays.key }),
        error: () => plan.error({ ...arrays, out: arrays.query }),
        kernel: () => plan.kernel,
        workspaceBytes: () => plan.workspaceBytes,
        cost: () => plan.cost,
        facts: () => plan.facts,
    }),
    stream: ({ stream, arrays }) => ({
        append: () => stream.append(arrays.key, arrays.value),
        query: () => stream.query(arrays.query),
        length: () => stream.length,
        memoryBytes: () => stream.memoryBytes,
        fork: () => stream.fork(),
        truncate: () => stream.truncate(0),
        save: () => stream.save(),
        restore: () => stream.restore(new Uint8Array(100)),
    }),
    tensor: ({ tensor }) => ({ data: () => tensor.data }),
};

/** The public methods and getters of an object's classes. */
function methodsOf(object) {
    const names = new Set();
    for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
        for (const [name, { get, value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
            if (get || typeof value === "function") names.add(name);
        }
    }
    for (const name of ["constructor", "dispose", "at"]) names.delete(name);
    return [...names].sort();
}

for (const [build, open] of [
    ["native", () => initNative({ fallback: false })],
    ["threads", () => init({ threads: 2 })],
    ["simd", () => init({ build: "simd" })],
]) {
    for (const first of ["attn", "plan", "stream", "tensor"]) {
        test(`${build}: after dispose() of ${first} every use is one typed error`, async () => {
            const attn = await open();
            const { query, key, value, sizes } = makeProblem({ queries: 4, dim: 4 }, 5);
            const made = {
                attn,
                plan: attn.plan(sizes),
                stream: attn.stream({ dim: 4, maxKeys: 9 }),
                tensor: attn.tensor(16),
            };
            const all = { ...made, arrays: { query, key, value }, sizes };
            made[first].dispose();
            made[first].dispose();
            for (const [name, object] of Object.entries(made)) {
                const uses = USES[name](all);
                assert.deepEqual(Object.keys(uses).sort(), methodsOf(object), "uses of all");
                if (first !== "attn" && first !== name) continue;
                for (const use of Object.values(uses)) {
                    await assert.rejects(async () => use(), isDisposed, `${name}: ${use}`);
                }
            }
            if (first === "tensor") {
                for (const name of ["query", "key", "value", "out"]) {
                    const arrays = { ...all.arrays, [name]: made.tensor };
                    assert.throws(() => made.plan.run(arrays), isDisposed, name);
                }
            }
            attn.dispose();
            assert.equal(typeof attn.build, "string");
        });
    }
}

test("that it is disposed comes before what else is wrong", async () => {
    const attn = await init();
    const arrays = makeProblem({ queries: 4, dim: 4 }, 5);
    attn.dispose();
    const [query, key, value] = [arrays.query, arrays.key, arrays.value];
    assert.throws(() => attn.attention({ query, key, value, foo: 1 }), isDisposed);
    assert.throws(() => attn.plan({ ...arrays.sizes, inputs: ["blocks"] }), isDisposed);
});

test("Symbol.dispose is dispose", { skip: !Symbol.dispose && "this engine has none" }, async () => {
    const attn = await init();
    const plan = attn.plan({ queries: 1, dim: 1 });
    plan[Symbol.dispose]();
    assert.throws(() => plan.kernel, isDisposed);
    attn[Symbol.dispose]();
    assert.throws(() => attn.backends(), isDisposed);
});

test("a process that uses the library ends by itself", async () => {
    const entry = new URL("../../js/index.js", import.meta.url).href;
    const script = `
    import { init } from ${JSON.stringify(entry)};
    const attn = await init();
    const plan = attn.plan({ queries: 1, dim: 1 });
    const one = Float32Array.of(1);
    console.log(plan.run({ query: one, key: one, value: one }).out[0]);`;
    const node = ["--input-type=module", "--eval", script];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, node, {
        timeout: patience,
    });
    assert.equal(stdout, "1\n");
    assert.equal(stderr, "");
});
