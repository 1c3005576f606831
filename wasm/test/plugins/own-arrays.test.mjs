/* Arrays that a backend declares of its own: plugins/own.c, and the template's, in every engine. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { init } from "libattn";
import { init as initNative } from "libattn/native";
import { init as initWorker } from "libattn/worker";
import { BUILDS, floats, makeProblem, numbers, swapHeadsAndRows } from "../support.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "libattn-own-"));
after(() => rmSync(folder, { recursive: true }));

function build(name, source, ...options) {
    const out = join(folder, `${name}.wasm`);
    execFileSync(join(root, "dev"), ["plugin", join(root, source), "-o", out, ...options]);
    return readFileSync(out);
}

const own = build("own", "wasm/test/plugins/own.c");
const template = build("template", "plugins/template/template.c");
const taken = build("taken", "wasm/test/plugins/own.c", "-DOWN_TAKEN");

const [OWN, TEMPLATE] = ["org.example.own", "org.libattn.template"];
const entries = {};
for (const build of BUILDS.filter((name) => name !== "threads")) {
    entries[build] = await init({ build });
    await entries[build].loadPlugin(own);
}
entries.worker = await initWorker({ build: "simd" });
await entries.worker.loadPlugin(own);
const addon = fileURLToPath(new URL("../../dist/own.node", import.meta.url));
entries.native = await initNative({ addon, fallback: false });

const { sizes, query, key, value } = makeProblem(
    { batch: 2, heads: 4, kvHeads: 2, queries: 3, keys: 10, dim: 5, valueDim: 6 },
    3,
);
const { batch, heads, kvHeads, queries, keys, valueDim } = sizes;
const blocks = 3; // of 4 keys
const gates = floats(batch * kvHeads * keys, numbers(4));
const kept = Array.from({ length: keys }, (_, j) => j % 3 > 0);
const offsets = [3, -5, 0, 2 ** 20];
const table = Uint16Array.from(
    { length: blocks * valueDim },
    (_, i) => ((i % 16) << 8) + (14 << 10),
);
const half = (bits) => (1 + (bits & 1023) / 1024) * 2 ** ((bits >> 10) - 15);

/** What run() of own.c computes, its bound beside it. */
function expected({ gateOf, isKept = () => true, offset = () => 0, addend = () => 0 }) {
    const out = new Float64Array(batch * heads * queries * valueDim);
    const bound = new Float64Array(out.length);
    const state = new Float64Array(batch * kvHeads * valueDim);
    const stateBound = new Float64Array(state.length);
    for (let b = 0; b < batch; b++) {
        for (let h = 0; h < heads; h++) {
            const kv = b * kvHeads + Math.floor(h / (heads / kvHeads));
            for (let c = 0; c < valueDim; c++) {
                let [sum, size] = [0, 0];
                for (let j = 0; j < keys; j++) {
                    if (!isKept(j)) continue;
                    const term = gateOf(kv, j) * value[(kv * keys + j) * valueDim + c];
                    sum += term;
                    size += Math.abs(term);
                }
                // each term is rounded once by its product and at most keys times by the sum
                state[kv * valueDim + c] = sum;
                stateBound[kv * valueDim + c] = (keys + 1) * 2 ** -24 * size * 1.001;
                const more = offset(h) + addend(c);
                const most = Math.abs(offset(h)) + addend(c) + size / keys;
                for (let i = 0; i < queries; i++) {
                    const at = ((b * heads + h) * queries + i) * valueDim + c;
                    out[at] = sum / keys + more;
                    bound[at] = (keys + 1 + blocks + 4) * 2 ** -24 * most * 1.001;
                }
            }
        }
    }
    return { out, bound, state, stateBound };
}

function assertNear(actual, wanted, bound, what) {
    assert.equal(actual.length, wanted.length, what);
    for (const [i, x] of wanted.entries())
        assert.ok(Math.abs(actual[i] - x) <= bound[i], `${what}[${i}] is ${actual[i]}, not ${x}`);
}

const gateOf = (kv, j) => gates[kv * keys + j];
const addend = (c) =>
    Array.from({ length: blocks }, (_, r) => (r + 1) * half(table[r * valueDim + c])).reduce(
        (sum, x) => sum + x,
    );
const problem = { ...sizes, backend: OWN };
const arrays = { query, key, value, gates };
const everything = { ...arrays, keptKeys: kept, offsets, blockTable: table };
const all = { isKept: (j) => kept[j], offset: (h) => offsets[h], addend, gateOf };
const inputs = ["keptKeys", "offsets", "blockTable"];

for (const [name, attn] of Object.entries(entries))
    describe(`own arrays: ${name}`, () => check(attn));

function check(attn) {
    const call = async (options) => attn.attention({ ...problem, ...options });

    test("backends() says what they are", () => {
        const { arrays: declared } = attn.backends().find(({ id }) => id === OWN);
        const mine = declared.filter((array) => array.own);
        assert.deepEqual(
            mine.map((array) => array.name),
            ["gates", ...inputs, "state", "rowCounts"],
        );
        assert.deepEqual(mine[0], {
            ...{ name: "gates", role: "input", presence: "required", dtype: "f32" },
            axes: ["batch", "kvHeads", "keys", "one"],
            broadcast: [true, true, false, false],
            ...{ own: true, replaces: [], help: "" },
        });
        assert.deepEqual(mine[3].axes, ["one", "one", "plan", "valueDim"]);
    });

    test("attention() and plans take them, and give those that are outputs", async () => {
        const some = expected({ gateOf });
        const first = await call(arrays);
        assertNear(first.out, some.out, some.bound, "out");
        assert.equal(first.state, undefined);
        const wanted = expected(all);
        const asked = { state: true, rowCounts: new BigInt64Array(batch * heads * queries) };
        const plan = await attn.plan({ ...problem, inputs });
        assert.deepEqual(plan.inputs, inputs);
        for (const run of [
            () => call({ ...everything, ...asked }),
            () => plan.run({ ...everything, ...asked }),
        ]) {
            const result = await run();
            assertNear(result.out, wanted.out, wanted.bound, "out");
            assertNear(result.state, wanted.state, wanted.stateBound, "state");
            assert.equal(result.rowCounts, asked.rowCounts);
            assert.deepEqual(
                [...asked.rowCounts.fill(0n, 0, 0)],
                Array(asked.rowCounts.length).fill(6n),
            );
            asked.rowCounts.fill(0n);
        }
        if (plan.runAsync) {
            const result = await plan.runAsync({ ...everything, rowCounts: true });
            assertNear(result.out, wanted.out, wanted.bound, "out");
            assert.deepEqual(result.rowCounts, new BigInt64Array(asked.rowCounts.length).fill(6n));
        }
        plan.dispose();
    });

    test("with shapes, the same for all, and in other forms", async () => {
        const one = gates.slice(0, keys);
        const wanted = expected({ gateOf: (kv, j) => one[j] });
        const shaped = [
            one, // the same for batches and heads, as it is so long
            { data: one, shape: [1, 1, keys] },
            { data: one, shape: [keys] },
        ];
        for (const given of shaped) {
            const { out } = await call({ ...arrays, gates: given });
            assertNear(out, wanted.out, wanted.bound, "out");
        }
        const byHead = expected({ gateOf: (kv, j) => gates[(kv % kvHeads) * keys + j] });
        const heady = { data: gates.slice(0, kvHeads * keys), shape: [1, kvHeads, keys] };
        const { out } = await call({ ...arrays, gates: heady });
        assertNear(out, byHead.out, byHead.bound, "out");
        const forms = [Int32Array.from(offsets), BigInt64Array.from(offsets, BigInt)];
        for (const form of forms) {
            const shifted = expected({ gateOf, offset: (h) => offsets[h] });
            const { out } = await call({ ...arrays, offsets: form });
            assertNear(out, shifted.out, shifted.bound, "out");
        }
        const bytes = Uint8Array.from(kept, Number);
        const masked = expected({ gateOf, isKept: (j) => kept[j] });
        const plan = await attn.plan({ ...problem, inputs: ["keptKeys"] });
        const result = await plan.run({ ...arrays, keptKeys: bytes, rowCounts: false });
        assertNear(result.out, masked.out, masked.bound, "out");
        assert.equal(result.rowCounts, undefined);
        const weights = await plan.weights({
            query,
            key,
            gates,
            keptKeys: bytes,
            head: 3,
            count: 1,
        });
        assertNear(
            weights,
            Float64Array.from({ length: keys }, (_, j) => gateOf(1, j) / keys),
            Array(keys).fill(2 ** -24),
            "weights",
        );
        const error = await plan.error({ ...arrays, keptKeys: bytes, out: result.out });
        assert.ok(error > 0);
        plan.dispose();
    });

    test("the shape that the plan says follows its parameters", async () => {
        const plan = await attn.plan({ ...problem, inputs: ["blockTable"], params: { block: 10 } });
        const blockTable = table.slice(0, valueDim);
        const { out } = await plan.run({ ...arrays, blockTable });
        const wanted = expected({ gateOf, addend: (c) => half(table[c]) });
        assertNear(out, wanted.out, wanted.bound, "out");
        await assert.rejects(async () => plan.run({ ...arrays, blockTable: table }), {
            code: "ATTN_ERROR_SHAPE",
            message: "blockTable has 18 elements, but plan * valueDim = 1 * 6 is 6 elements",
        });
        plan.dispose();
    });

    test("what is wrong is said as of the library's arrays", async () => {
        const refuse = (options, wanted) =>
            assert.rejects(call({ ...everything, ...options }), wanted);
        const shape = (message) => ({ code: "ATTN_ERROR_SHAPE", message });
        await refuse({ gates: null }, { code: "ATTN_ERROR_ARGUMENT", message: "gates is missing" });
        await refuse(
            { gates: new Float64Array(40) },
            /^TypeError: gates must be a Float32Array, not a Float64Array/,
        );
        await refuse(
            { gates: gates.slice(1) },
            shape(
                "gates has 39 elements, but batch * kvHeads * keys = 2 * 2 * 10 is 40 elements; { data, shape } may have axes of 1",
            ),
        );
        await refuse(
            { gates: { data: gates, shape: [2, 2, 5, 2] } },
            shape(
                "gates.shape is (2, 2, 5, 2), must be (2, 2, 10, 1) or 1 for all: (batch, kvHeads, keys, 1)",
            ),
        );
        await refuse(
            { gates: { data: gates, shape: [2, 20] } },
            shape(
                "gates.shape is (2, 20), must be (2, 2, 10) or 1 for all: (batch, kvHeads, keys)",
            ),
        );
        const [whole, short] = [
            [2, 2, 10, 1],
            [2, 2, 10],
        ].map((shape) => call({ ...everything, gates: { data: gates, shape } }));
        assert.deepEqual((await whole).out, (await short).out);
        await refuse(
            { keptKeys: new Float32Array(10) },
            /keptKeys must be a Uint8Array or an array of booleans/,
        );
        await refuse({ keptKeys: [true, 1] }, /keptKeys\[1\] must be true or false, not 1/);
        await refuse({ offsets: [1, 2, 3, 0.5] }, /offsets\[3\] must be an integer, not 0.5/);
        await refuse(
            { offsets: [1, 2, 3] },
            shape(
                "offsets has 3 elements, but heads = 4 is 4 elements; { data, shape } may have axes of 1",
            ),
        );
        await refuse({ blockTable: gates }, /blockTable must be a Uint16Array or Float16Array/);
        await refuse(
            { blockTable: table.slice(1) },
            shape(/^blockTable has 17 .*plan \* valueDim = 3 \* 6/),
        );
        await refuse({ rowCounts: [1] }, /rowCounts must be a BigInt64Array, not an Array/);
        await refuse(
            { state: new Float32Array(3) },
            shape(/^state has 3 elements, but batch \* kvHeads \* valueDim = /),
        );
        await refuse(
            { state: { data: new Float32Array(3), shape: [3] } },
            shape(/^state\.shape is \(3\), .*: \(batch, kvHeads, valueDim\)$/),
        );
        await refuse({ blockTables: table }, /unknown "blockTables" \(did you mean blockTable\?\)/);
        await refuse({ backend: "softmax" }, /^TypeError: attention: unknown "gates"/);
        const plan = await attn.plan({ ...problem, inputs: ["offsets"] });
        const run = async (options) => plan.run({ ...arrays, offsets, ...options });
        await assert.rejects(run({ keptKeys: kept }), {
            code: "ATTN_ERROR_ARGUMENT",
            message: "keptKeys is given, but not among the plan's inputs",
        });
        await assert.rejects(run({ offsets: null }), { message: "offsets is missing" });
        await assert.rejects(
            async () => attn.plan({ ...problem, inputs: ["gates"] }),
            /^TypeError: inputs\[0\] must be .*"offsets" or "blockTable", not "gates"/,
        );
        plan.dispose();
    });

    test("a stream's state has as many rows as the map has features", async () => {
        const options = { heads: 2, kvHeads: 1, dim: 3, valueDim: 4, backend: "linear" };
        const more = { causal: true, params: { feature_map: "taylor2" } };
        const state = { stateOut: true, stateZOut: true };
        const [q, k, v] = [30, 15, 20].map((length, i) => floats(length, numbers(i + 5)));
        const batch = await attn.attention({
            ...{ query: q, key: k, value: v, ...options, ...more, ...state },
        });
        const stream = await attn.stream({ ...options, ...more, maxKeys: 8 });
        await stream.append(k, v);
        const result = await stream.query(q, state);
        assert.deepEqual([result.stateOut.length, result.stateZOut.length], [10 * 4, 10]);
        // On both sides 5 terms, each of at most phi(k) v: 3 roundings of phi, 1 of the product, 4 of the sum.
        const largest = (x) => Math.max(...[...x].map(Math.abs));
        const bound =
            2 * 5 * (3 + 1 + 4) * 2 ** -24 * Math.max(1, largest(k) ** 2) * Math.max(1, largest(v));
        for (const name of Object.keys(state)) {
            batch[name].forEach((x, i) => assert.ok(Math.abs(x - result[name][i]) <= bound));
        }
        const into = new Float32Array(40);
        assert.equal((await stream.query(q, { stateOut: into })).stateOut, into);
        assert.deepEqual(into, result.stateOut);
        stream.dispose();
    });

    test("an input goes with arrays one after the other as by name", async () => {
        const options = { heads: 2, dim: 3, backend: "linear", causal: true };
        const [q, k, v] = [30, 30, 30].map((length, i) => floats(length, numbers(i + 5)));
        const decay = floats(30, numbers(8)).map((x) => -Math.abs(x));
        const beta = floats(10, numbers(9)).map((x) => Math.abs(x) / 8);
        for (const more of [
            { params: { rule: "gated" }, decay },
            { params: { rule: "gated_delta" }, decay, beta },
        ]) {
            const all = { ...options, ...more };
            const { out } = await attn.attention({ query: q, key: k, value: v, ...all });
            assert.deepEqual(await attn.attention(q, k, v, all), out);
        }
        const gated = { ...options, params: { rule: "gated" } };
        const byHead = decay.slice(0, 10); // (kvHeads, keys)
        const by = (decay) => attn.attention(q, k, v, { ...gated, decay });
        await assert.rejects(async () => by(byHead), {
            code: "ATTN_ERROR_SHAPE",
            message:
                "decay has 10 elements, but batch * kvHeads * keys * dim = 1 * 2 * 5 * 3 is 30 elements; { data, shape } may have axes of 1",
        });
        const repeated = Float32Array.from({ length: 30 }, (_, i) => byHead[Math.floor(i / 3)]);
        const alike = await by({ data: byHead, shape: [2, 5, 1] });
        assert.deepEqual(alike, await by(repeated));
    });

    test("gates lie by the layout or by strides, and a column of one may be said", async () => {
        const [heads, keys, dim] = [2, 5, 3];
        const options = { heads, dim, backend: "linear", causal: true };
        const all = { ...options, params: { rule: "gated_delta" } };
        const swap = (array) =>
            swapHeadsAndRows(array, 1, heads, keys, array.length / heads / keys);
        const [query, key, value] = [5, 6, 7].map((seed) => floats(30, numbers(seed)));
        const decay = floats(30, numbers(8)).map((x) => -Math.abs(x));
        const beta = floats(10, numbers(9)).map((x) => Math.abs(x) / 8);
        const run = async (arrays) => (await attn.attention({ ...all, ...arrays })).out;
        const expected = await run({ query, key, value, decay, beta });
        const swapped = Object.fromEntries(
            Object.entries({ query, key, value, decay, beta }).map(([name, x]) => [name, swap(x)]),
        );
        const turned = swap(expected);
        assert.deepEqual(await run({ ...swapped, layout: "bnhd" }), turned);
        const shaped = {
            decay: { data: swapped.decay, shape: [keys, heads, dim] },
            beta: { data: swapped.beta, shape: [keys, heads, 1] },
        };
        assert.deepEqual(await run({ ...swapped, ...shaped, layout: "bnhd" }), turned);
        for (const shape of [
            [heads, keys],
            [heads, keys, 1],
            [1, heads, keys, 1],
        ])
            assert.deepEqual(
                await run({ query, key, value, decay, beta: { data: beta, shape } }),
                expected,
            );
        const strides = { decay: [0, dim, heads * dim, 1], beta: [0, 1, heads, 0] };
        const gates = { decay: swapped.decay, beta: swapped.beta };
        const sizes = { queries: keys };
        assert.deepEqual(await run({ query, key, value, ...gates, strides, ...sizes }), expected);
        const byHead = decay.slice(0, 10);
        const one = { data: byHead, shape: [heads, keys, 1] };
        const held = await run({ query, key, value, decay: one, beta });
        const alone = { decay: [0, 1, heads, 0] };
        const turnedOne = { data: swap(byHead), shape: [heads, keys, 1] };
        assert.deepEqual(
            await run({ query, key, value, decay: turnedOne, beta, strides: alone, ...sizes }),
            held,
        );
        await assert.rejects(
            async () =>
                run({ query, key, value, ...gates, strides: { state: [0, 0, 0, 0] }, ...sizes }),
            {
                name: "TypeError",
                message: /strides.*"?state/,
            },
        );
        const byStream = async ({ query, ...tokens }, layout) => {
            const stream = await attn.stream({ ...all, maxKeys: 8, inputs: ["decay", "beta"] });
            await stream.append({ ...tokens, layout });
            const { out } = await stream.query({ query, layout });
            stream.dispose();
            return out;
        };
        const streamed = await byStream({ query, key, value, decay, beta }, "bhnd");
        assert.deepEqual(await byStream(swapped, "bnhd"), swap(streamed));
    });

    test("a stream's: those with keys come with tokens, all others with queries", async () => {
        const options = { heads: 2, dim: 4, maxKeys: 8, backend: OWN, inputs: ["offsets"] };
        const stream = await attn.stream(options);
        const tokens = floats(2 * 3 * 4, numbers(1));
        const three = Float32Array.of(1, 2, 4);
        await stream.append({ key: tokens, value: tokens, gates: three });
        await stream.append(tokens, tokens, { gates: { data: three, shape: [1, 1, 3] } });
        const call = { query: tokens.slice(0, 16), offsets: [7, -2], rowCounts: true };
        const { out, rowCounts, lse } = await stream.query(call);
        const wanted = [...Array(8).fill(14 + 7), ...Array(8).fill(14 - 2)];
        assert.deepEqual([...out], wanted);
        assert.deepEqual([...rowCounts], [0n, 1n, 0n, 1n]);
        assert.equal(lse, null);
        const into = new BigInt64Array(4);
        const { query, ...more } = { ...call, rowCounts: into };
        assert.equal((await stream.query(query, more)).rowCounts, into);
        assert.deepEqual(into, rowCounts);
        const wrong = async (method, options, error) =>
            assert.rejects(async () => stream[method](options), error);
        await wrong("append", { key: tokens, value: tokens }, { message: "gates is missing" });
        await wrong(
            "append",
            { key: tokens, value: tokens, gates: gates.slice(0, 4) },
            /gates has 4 elements/,
        );
        await wrong(
            "append",
            { key: tokens, value: tokens, gates: three, offsets: [1, 2] },
            /unknown "offsets"/,
        );
        await wrong("query", { query: tokens }, { message: "offsets is missing" });
        await wrong("query", { ...call, gates: three }, /unknown "gates"/);
        assert.equal(stream.length, 6);
        stream.dispose();
        await assert.rejects(async () => attn.stream({ ...options, inputs: ["mask"] }), {
            code: "ATTN_ERROR_ARGUMENT",
        });
    });
}

test("the template's widths stand for its parameter, in a worker too", async () => {
    const worker = await initWorker({ build: "simd" });
    for (const attn of [await init({ build: "simd" }), worker]) {
        const plugin = await attn.loadPlugin(template);
        const some = { ...sizes, backend: TEMPLATE };
        const named = await attn.plan({ ...some, inputs: ["widths"] });
        const wide = await named.run({
            query,
            key,
            value,
            widths: new Float32Array(heads).fill(3),
        });
        const plan = await attn.plan({ ...some, params: { width: 3 } });
        assert.deepEqual(wide.out, (await plan.run({ query, key, value })).out);
        for (const width of [0, -1, NaN]) {
            const widths = Float32Array.of(1, 2, width, 3);
            await assert.rejects(async () => named.run({ query, key, value, widths }), {
                code: "ATTN_ERROR_RANGE",
                message: /^widths: .* must be positive and finite$/,
            });
        }
        for (const one of [named, plan]) one.dispose();
        await plugin.unload();
        await assert.rejects(async () => attn.plan(some), { code: "ATTN_ERROR_NOT_FOUND" });
        attn.dispose();
    }
});

test("an array cannot have the name of an option", async () => {
    const attn = await init({ build: "simd" });
    const before = attn.backends();
    await assert.rejects(attn.loadPlugin(taken, { name: "taken" }), {
        code: "ATTN_ERROR_PLUGIN",
        message: "plugin 'taken': its array window has the name of an option",
    });
    assert.deepEqual(attn.backends(), before);
});

after(() => {
    for (const attn of Object.values(entries)) attn.dispose();
});
