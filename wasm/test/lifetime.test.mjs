/* Memory that grows, plans and libraries that are disposed, processes that end. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { Attn } from "../js/attn.js";
import { Heap } from "../js/heap.js";
import { AttnError, init } from "../js/node.js";
import { assertClose, exactAttention, makeProblem, moduleBytes } from "./support.mjs";

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
    const exact = exactAttention({ ...big, sizes: { ...big.sizes, heads: 1, kvHeads: 1 } });
    const out = attn.attention(big.query, big.key, big.value, big.sizes);
    assert.ok(memory.buffer.byteLength > size, "the memory had to grow");
    assertClose(out.subarray(0, exact.out.length), exact.out, exact.tolerance, "out of head 0");

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
        attn.embed("a b c", 8);
        assert.throws(() => attn.readNpy(new Uint8Array(100)), AttnError);
        attn.backends();
    };
    const ids = attn.backends().map(({ id }) => id);
    for (const id of ids) cycle(id);
    const size = memory.buffer.byteLength;
    for (const id of ids) for (let i = 0; i < 2500; i++) cycle(id);
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

test("a disposed library is an error in every use, and so are its plans", async () => {
    const attn = await init();
    const { query, key, value, sizes } = makeProblem({ queries: 4, dim: 4 }, 5);
    const plan = attn.plan(sizes);
    attn.dispose();
    attn.dispose();
    const uses = [
        () => plan.run({ query, key, value }),
        () => attn.plan(sizes),
        () => attn.attention(query, key, value, sizes),
        () => attn.backends(),
        () => attn.embed("a", 8),
        () => attn.readNpy(new Uint8Array(100)),
        () => attn.countNonfinite(query),
    ];
    for (const use of uses) assert.throws(use, isDisposed, String(use));
    assert.match(attn.build, /relaxed|simd/);
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
    const entry = new URL("../js/node.js", import.meta.url).href;
    const script = `
    import { init } from ${JSON.stringify(entry)};
    const attn = await init();
    const plan = attn.plan({ queries: 1, dim: 1 });
    const one = Float32Array.of(1);
    console.log(plan.run({ query: one, key: one, value: one }).out[0]);`;
    const node = ["--input-type=module", "--eval", script];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, node, { timeout: 5000 });
    assert.equal(stdout, "1\n");
    assert.equal(stderr, "");
});
