/*
 * What the addon adds to the interface: runs beside this thread, more threads, arrays used in place.
 * The interface itself is tested in api, semantics, stream and input, with the addon as one build.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { AttnError, init } from "libattn/native";
import { assertClose, exactAttention, libraries, makeProblem } from "../support.mjs";

const attn = libraries.get("native");
const small = makeProblem({ batch: 2, heads: 4, kvHeads: 2, queries: 33, keys: 47, dim: 24 }, 81);

function arraysOf({ query, key, value }) {
    return { query, key, value };
}

function random(length) {
    return Float32Array.from({ length }, (_, i) => Math.sin(i * i));
}

/** Self-attention that no machine ends within a test: 7 * 10^13 operations, and its arrays. A signal stops it. */
function longWork() {
    const [heads, dim, queries] = [1, 64, 1 << 19];
    const half = attn.tensor(heads * queries * dim); // which is not copied
    half.data.fill(0.5);
    return {
        plan: attn.plan({ heads, queries, dim }),
        arrays: { query: half, key: half, value: half },
    };
}

const isCode = (code) => (error) => error instanceof AttnError && error.code === code;

test("runAsync computes what run computes, for every backend", async () => {
    for (const [build, library] of libraries) {
        for (const { id, features } of library.backends()) {
            const plan = library.plan({ ...small.sizes, backend: id });
            const lse = features.includes("lse");
            const arrays = { ...arraysOf(small), lse };
            assert.deepEqual(await plan.runAsync(arrays), plan.run(arrays), `${build} ${id}`);
            plan.dispose();
        }
    }
});

test("attentionAsync computes what attention computes, with every input", async () => {
    const { query, key, value, sizes } = small;
    const { batch, heads, queries, keys } = sizes;
    const options = {
        ...sizes,
        causal: "bottom-right",
        bias: random(queries * keys),
        mask: Uint8Array.from({ length: queries * keys }, (_, i) => i % 3),
        kvLengths: Array.from({ length: batch }, (_, b) => keys - 5 * b),
        sinks: random(heads),
        slopes: random(heads).map(Math.abs),
    };
    const out = new Float32Array(batch * heads * queries * sizes.valueDim);
    const expected = attn.attention(query, key, value, options);
    assert.equal(await attn.attentionAsync(query, key, value, { ...options, out }), out);
    assert.deepEqual(out, expected);
});

test("many runs at a time, each with its own result", async () => {
    const plan = attn.plan(small.sizes);
    const problems = Array.from({ length: 20 }, (_, i) => makeProblem(small.sizes, 100 + i));
    const results = await Promise.all(problems.map((problem) => plan.runAsync(arraysOf(problem))));
    for (const [i, problem] of problems.entries()) {
        assert.deepEqual(results[i], plan.run(arraysOf(problem)));
    }
    plan.dispose();
});

test("errors of the library and of arguments reject, and are the run's own", async () => {
    const linear = attn.plan({ ...small.sizes, backend: "linear" });
    const refused = linear.runAsync({ ...arraysOf(small), scores: true });
    assert.throws(() => attn.plan({ queries: 0, dim: 1 }), isCode("ATTN_ERROR_SHAPE")); // meanwhile
    await assert.rejects(refused, isCode("ATTN_ERROR_UNSUPPORTED"));
    await assert.rejects(linear.runAsync({}), isCode("ATTN_ERROR_ARGUMENT"));
    await assert.rejects(linear.runAsync({ ...arraysOf(small), sginal: 1 }), /unknown "sginal"/);
    await assert.rejects(linear.runAsync({ ...arraysOf(small), signal: 1 }), /AbortSignal/);
    await assert.rejects(attn.attentionAsync(small.query, small.key, small.value), AttnError);
    linear.dispose();
    await assert.rejects(linear.runAsync(arraysOf(small)), isCode("ATTN_ERROR_DISPOSED"));
});

test("the results do not depend on threads, and threads are named", async () => {
    const threaded = await init({ threads: 3, fallback: false });
    assert.equal(threaded.threads, 3);
    assert.equal(attn.threads, 1);
    for (const { id } of attn.backends()) {
        const plans = [attn, threaded].map((one) => one.plan({ ...small.sizes, backend: id }));
        const [one, three] = plans.map((plan) => plan.run(arraysOf(small)));
        assert.deepEqual(three, one, id);
        const both = [1, 2].map(() => plans[1].runAsync(arraysOf(small)));
        for (const result of await Promise.all(both)) assert.deepEqual(result, one, id);
    }
    threaded.dispose();
});

test("every tier up to the best, and none beyond", async () => {
    const exact = exactAttention(small);
    for (const tier of ["scalar", attn.tier]) {
        const one = await init({ tier, fallback: false });
        assert.equal(one.tier, tier);
        const plan = one.plan(small.sizes);
        assertClose(plan.run(arraysOf(small)).out, exact.out, exact.outBound, tier);
        one.dispose();
    }
    await assert.rejects(init({ tier: "vax" }), isCode("ATTN_ERROR_NOT_FOUND"));
    for (const threads of [0, -1, 1025, 2 ** 40]) {
        await assert.rejects(init({ threads }), {
            ...{ name: "AttnError", code: "ATTN_ERROR_RANGE" },
            message: `threads: ${threads} is outside 1..1024`,
        });
        await assert.rejects(init({ threads, addon: "./none" }), isCode("ATTN_ERROR_RANGE"));
    }
    await assert.rejects(init({ threads: 1.5 }), /threads must be an integer/);
    await assert.rejects(init({ thread: 2 }), /unknown "thread"/);
});

test("where there is no addon the module serves, and says so", async () => {
    const other = await init({ addon: "./no-such.node" });
    assert.match(other.build, /^(relaxed|simd)$/);
    assert.match(other.reason, /no-such\.node: not installed/);
    assert.equal(other.threads, 1);
    const { out } = await other.plan(small.sizes).runAsync(arraysOf(small));
    const exact = exactAttention(small);
    assertClose(out, exact.out, exact.outBound, "out");
    other.dispose();
    assert.equal(attn.reason, null);
    const damaged = await init({
        addon: fileURLToPath(new URL("../../package.json", import.meta.url)),
    });
    assert.match(damaged.reason, /no addon of this version/);
    const required = init({ addon: "./no-such.node", fallback: false });
    await assert.rejects(required, isCode("ATTN_ERROR_LOAD"));
});

test("the event loop turns during a run, and a signal stops the run", async () => {
    const reason = new Error("enough");
    const { plan, arrays } = longWork();
    const control = new AbortController();
    const { signal } = control;
    let ended = false;
    const running = plan.runAsync({ ...arrays, signal }).finally(() => (ended = true));
    for (let turns = 0; turns < 10; turns++) await new Promise((turn) => setTimeout(turn));
    assert.equal(ended, false);
    control.abort(reason);
    await assert.rejects(running, (error) => error === reason);
    await assert.rejects(plan.runAsync({ ...arrays, signal }), (error) => error === reason);
    const { query, key, value } = arrays;
    const quick = attn.attentionAsync(query, key, value, { ...plan.sizes, signal });
    await assert.rejects(quick, (error) => error === reason);
    plan.dispose();
    const again = attn.plan(small.sizes);
    const fresh = { signal: new AbortController().signal };
    assert.deepEqual(
        await again.runAsync({ ...arraysOf(small), ...fresh }),
        again.run(arraysOf(small)),
    );
});

test("dispose() during a run waits for it", async () => {
    const one = await init({ fallback: false });
    const plan = one.plan(small.sizes);
    const expected = plan.run(arraysOf(small));
    const running = plan.runAsync(arraysOf(small));
    plan.dispose();
    one.dispose();
    assert.throws(() => plan.run(arraysOf(small)), isCode("ATTN_ERROR_DISPOSED"));
    assert.deepEqual(await running, expected);
});

/* What JavaScript can do to the memory of an array, each of which may free it or a part. */
const WAYS = {
    "resized to nothing": { how: (buffer) => buffer.resize(0), resizable: true },
    "made smaller": { how: (buffer) => buffer.resize(8), resizable: true },
    "transferred and dropped": { how: (buffer) => void buffer.transfer() },
    "transferred to less": { how: (buffer) => void buffer.transfer(8) },
    "cloned with transfer": {
        how: (buffer) => void structuredClone(buffer, { transfer: [buffer] }),
    },
    "posted to a port": {
        how(buffer) {
            const { port1 } = new MessageChannel();
            port1.postMessage(buffer, [buffer]);
            port1.close();
        },
    },
};
for (const [name, { how, resizable }] of Object.entries(WAYS)) {
    const skip = !ArrayBuffer.prototype[/transferred/.test(name) ? "transfer" : "resize"];
    test(`arrays that are ${name} during a run`, { skip }, async () => {
        const problem = makeProblem({ heads: 8, queries: 700, dim: 64 }, 84);
        const { heads, queries, keys } = problem.sizes;
        const given = {
            ...arraysOf(problem),
            bias: random(queries * keys),
            mask: new Uint8Array(queries * keys).fill(1),
            sinks: random(heads),
            slopes: random(heads).map(Math.abs),
        };
        const plan = attn.plan({ ...problem.sizes, inputs: Object.keys(given).slice(3) });
        const expected = plan.run(given);
        const copy = (array) => {
            const options = resizable ? { maxByteLength: 2 * array.byteLength } : {};
            const room = new array.constructor(new ArrayBuffer(array.byteLength, options));
            room.set(array);
            return room;
        };
        const read = {};
        for (const key in given) read[key] = copy(given[key]);
        const running = plan.runAsync(read);
        for (const key in read) how(read[key].buffer);
        globalThis.gc?.();
        assert.deepEqual(await running, expected, "inputs are read as they were");

        for (const [key, length] of [
            ["out", expected.out.length],
            ["lse", heads * queries],
            ["scores", heads * queries * keys],
        ]) {
            const array = copy(new Float32Array(length));
            const written = plan.runAsync({ ...given, [key]: array });
            how(array.buffer);
            await assert.rejects(written, {
                ...{ name: "AttnError", code: "ATTN_ERROR_SHAPE" },
                message: `${key} was transferred or resized during the run`,
            });
        }
        plan.dispose();
    });
}

test("a run beside computes where tensors and shared memory are, also where that grows", async () => {
    const plan = attn.plan(small.sizes);
    const expected = plan.run(arraysOf(small));
    const growable = (array) => {
        const options = { maxByteLength: 4 * array.byteLength };
        const shared = new Float32Array(new SharedArrayBuffer(array.byteLength, options));
        shared.set(array);
        return shared;
    };
    const given = { ...arraysOf(small), key: growable(small.key), value: growable(small.value) };
    given.query = attn.tensor(small.query);
    const out = growable(expected.out.fill(-1).slice());
    const running = plan.runAsync({ ...given, out });
    for (const { buffer } of [given.key, given.value, out]) buffer.grow?.(2 * buffer.byteLength);
    const result = await running;
    assert.equal(result.out, out);
    assert.deepEqual(out.slice(0, expected.out.length), plan.run(arraysOf(small)).out);

    const tensor = attn.tensor(expected.out.length);
    const inPlace = await plan.runAsync({ ...arraysOf(small), out: tensor });
    assert.equal(inPlace.out, tensor.data);
    plan.dispose();
});

test("an array that a getter takes away between check and run is an error", () => {
    const plan = attn.plan(small.sizes);
    for (const taken of ["query", "key", "value"]) {
        const arrays = arraysOf(small);
        arrays[taken] = arrays[taken].slice();
        const steal = () => void structuredClone(null, { transfer: [arrays[taken].buffer] });
        Object.defineProperty(arrays, "layout", { get: steal, enumerable: true });
        assert.throws(() => plan.run(arrays), isCode("ATTN_ERROR_SHAPE"));
    }
    plan.dispose();
});

test("an output over an input, and outputs over each other", () => {
    const problem = makeProblem({ heads: 2, queries: 64, dim: 32 }, 83);
    const plan = attn.plan(problem.sizes);
    const { query, key, value } = problem;
    const expected = plan.run({ query, key, value, lse: true });
    const room = new Float32Array(query.length + 100);
    for (const shift of [0, 1, 100]) {
        room.set(query);
        const out = room.subarray(shift, shift + query.length);
        plan.run({ query: room.subarray(0, query.length), key, value, out });
        assert.deepEqual(out, expected.out);
    }
    const shared = new SharedArrayBuffer(4 * query.length);
    new Float32Array(shared).set(query);
    const out = new Float32Array(structuredClone(shared));
    plan.run({ query: new Float32Array(shared), key, value, out });
    assert.deepEqual(out.slice(), expected.out);
    plan.dispose();
});

test("arrays of resizable memory", { skip: !ArrayBuffer.prototype.resize }, () => {
    const plan = attn.plan(small.sizes);
    const size = small.query.byteLength;
    const query = new Float32Array(new ArrayBuffer(size, { maxByteLength: 2 * size }));
    query.set(small.query);
    const expected = plan.run(arraysOf(small));
    assert.deepEqual(plan.run({ ...arraysOf(small), query }), expected);
    query.buffer.resize(size / 2);
    assert.throws(() => plan.run({ ...arraysOf(small), query }), isCode("ATTN_ERROR_SHAPE"));
    plan.dispose();
});
