/* Streams: token by token the same as a plan over all tokens; and what goes wrong changes nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AttnError, init } from "libattn";
import {
    assertClose,
    exactAttention,
    largestProduct,
    libraries,
    makeProblem,
    relativeBound,
    sketchStretch,
    swapHeadsAndRows,
} from "../support.mjs";

const SIZES = { batch: 2, heads: 4, kvHeads: 2, dim: 12, valueDim: 7 };
const TOKENS = 150;
const { batch, heads, kvHeads, dim, valueDim } = SIZES;
const tape = makeProblem({ ...SIZES, queries: TOKENS }, 41, 2);

/** Rows [from, to) of each head. */
function cut(array, columns, from, to) {
    const blocks = array.length / (TOKENS * columns);
    const rows = new Float32Array(blocks * (to - from) * columns);
    for (let block = 0; block < blocks; block++) {
        const start = block * TOKENS * columns;
        const part = array.subarray(start + from * columns, start + to * columns);
        rows.set(part, block * (to - from) * columns);
    }
    return rows;
}

const keysOf = (from, to) => cut(tape.key, dim, from, to);
const valuesOf = (from, to) => cut(tape.value, valueDim, from, to);
const queriesOf = (from, to) => cut(tape.query, dim, from, to);
const append = (stream, from, to) => stream.append(keysOf(from, to), valuesOf(from, to));

/** The stream, which holds tokens [0, length), answers as exact attention does. */
function assertAnswers(stream, length, queries, causal) {
    assert.equal(stream.length, length);
    const sizes = { ...SIZES, queries, keys: length };
    const problem = {
        ...{ sizes, query: queriesOf(length - queries, length) },
        ...{ key: keysOf(0, length), value: valuesOf(0, length) },
    };
    const exact = exactAttention(problem, { causal: causal ? "bottom-right" : "none" });
    const { out, lse } = stream.query(problem.query);
    assertClose(out, exact.out, exact.outBound, "out");
    assertClose(lse, exact.lse, exact.lseBound, "lse");
}

/** Backends and settings; the stream of the first is compared with exact attention too, above. */
const SUBJECTS = [
    { backend: "softmax" },
    { backend: "linear" },
    { backend: "linear", params: { feature_map: "relu" } },
    { backend: "sparse", params: { block: 8, local: 2 } },
    { backend: "sketch", params: { size: 6 } },
    { backend: "sketch", params: { method: "osnap", size: 6, seed: 5 } },
];
const nameOf = ({ backend, params }) => `${backend} ${JSON.stringify(params ?? {})}`;

/**
 * How far two correct results of a plan's problem may be from each other, in f32. Weights are positive
 * and sum to 1, so that the largest |v| is the scale of both (linear: tests/support/reference.c).
 */
function allowedBetween(plan, { query, key, value }) {
    const { dim: d, keys } = plan.sizes;
    const largest = value.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    if (plan.backend === "linear") {
        const g = (keys + d + 16) * 2 ** -24;
        return ((4 * g) / (1 - g)) * largest;
    }
    const stretch = plan.backend === "sketch" ? sketchStretch(plan) : 1;
    const term = stretch * largestProduct({ dim: d }, query, key);
    return 2 * relativeBound({ dim: d, keys }, term) * largest;
}

/** The stream, which holds tokens [0, length), answers as a plan over them. */
function assertPlanned(attn, stream, subject, length, queries) {
    const options = { ...SIZES, ...subject, causal: "bottom-right", queries, keys: length };
    const plan = attn.plan(options);
    const query = queriesOf(length - queries, length);
    const arrays = { query, key: keysOf(0, length), value: valuesOf(0, length) };
    const expected = plan.run(arrays);
    const answer = stream.query(query);
    assertClose(answer.out, expected.out, allowedBetween(plan, arrays), nameOf(subject));
    assert.equal(answer.degenerateRows, expected.degenerateRows);
    if (subject.backend === "linear") assert.equal(answer.lse, null);
    else assert.equal(answer.lse.length, batch * heads * queries);
    plan.dispose();
}

const isRefused = (kind) => (error) =>
    error instanceof AttnError && error.code === `ATTN_ERROR_${kind}`;

for (const [build, attn] of libraries) {
    describe(`the ${build} build`, () => {
        for (const causal of [false, true]) {
            test(`one token and many, causal ${causal}`, () => {
                const stream = attn.stream({ ...SIZES, maxKeys: TOKENS, causal });
                let length = 0;
                for (const count of [1, 1, 2, 60, 1, 85]) {
                    append(stream, length, length + count);
                    length += count;
                    assertAnswers(stream, length, 1, causal);
                    assertAnswers(stream, length, Math.min(length, 19), causal);
                }
                assert.throws(() => append(stream, 0, 1), isRefused("RANGE"));
                assertAnswers(stream, length, 3, causal);
                stream.dispose();
            });
        }

        for (const subject of SUBJECTS) {
            test(`${nameOf(subject)}: what a plan over all tokens gives`, () => {
                const options = { ...SIZES, ...subject, maxKeys: TOKENS, causal: true };
                const stream = attn.stream(options);
                assert.equal(stream.backend, subject.backend);
                let length = 0;
                for (const count of [1, 1, 2, 60, 1, 35]) {
                    append(stream, length, length + count);
                    length += count;
                    assertPlanned(attn, stream, subject, length, 1);
                    assertPlanned(attn, stream, subject, length, Math.min(count, 19));
                }
                const fork = stream.fork();
                append(fork, 100, 120);
                assertPlanned(attn, fork, subject, 120, 7);
                fork.truncate(110);
                assertPlanned(attn, fork, subject, 110, 4);
                stream.restore(fork.save());
                append(stream, 110, TOKENS);
                assertPlanned(attn, stream, subject, TOKENS, 9);
                const damaged = stream.save();
                damaged.fill(0xff, 0, 8);
                assert.throws(() => stream.restore(damaged), isRefused("ARGUMENT"));
                stream.truncate(0);
                append(stream, 0, 5);
                assertPlanned(attn, stream, subject, 5, 5);
                for (const one of [stream, fork]) one.dispose();
            });
        }

        test("what is no longer kept is refused, and memory does not grow", () => {
            for (const options of [{ backend: "linear" }, { window: [8, -1] }]) {
                const stream = attn.stream({ ...SIZES, ...options, causal: true, maxKeys: 9999 });
                let most = 0;
                for (let turn = 0; turn < 40; turn++) {
                    for (let at = 0; at < TOKENS; at += 10) append(stream, at, at + 10);
                    if (turn === 1) most = stream.memoryBytes;
                }
                assert.equal(stream.memoryBytes, most);
                assert.equal(stream.length, 40 * TOKENS);
                stream.query(queriesOf(0, 10));
                assert.throws(() => stream.query(queriesOf(0, TOKENS)), isRefused("UNSUPPORTED"));
                assert.throws(() => stream.truncate(1), isRefused("UNSUPPORTED"));
                stream.dispose();
            }
        });

        test("a window and a soft cap are the plan's", () => {
            const rules = { causal: true, window: [6, -1], softcap: 1.5, scale: 0.4 };
            const stream = attn.stream({ ...SIZES, ...rules, maxKeys: 90 });
            append(stream, 0, 90);
            const options = { ...SIZES, ...rules, causal: "bottom-right", queries: 4, keys: 90 };
            const plan = attn.plan(options);
            const query = queriesOf(86, 90);
            const batchResult = plan.run({
                query,
                key: keysOf(0, 90),
                value: valuesOf(0, 90),
                lse: true,
            });
            const { out, lse } = stream.query(query);
            const arrays = { query, key: keysOf(0, 90), value: valuesOf(0, 90) };
            const exact = exactAttention(
                { sizes: plan.sizes, ...arrays },
                { ...rules, causal: "bottom-right" },
            );
            for (const result of [{ out, lse }, batchResult]) {
                assertClose(result.out, exact.out, exact.outBound, "out");
                assertClose(result.lse, exact.lse, exact.lseBound, "lse");
            }
            plan.dispose();
            stream.dispose();
        });

        test("sinks and slopes come with queries", () => {
            const inputs = {
                sinks: Float32Array.of(1, -0.5, 0, 2),
                slopes: Float32Array.of(0.5, 0.25, 0.125, 0.0625),
            };
            const rules = { causal: true, inputs: Object.keys(inputs) };
            const stream = attn.stream({ ...SIZES, ...rules, maxKeys: 90 });
            append(stream, 0, 90);
            const sizes = { ...SIZES, queries: 4, keys: 90 };
            const arrays = { query: queriesOf(86, 90), key: keysOf(0, 90), value: valuesOf(0, 90) };
            const exact = exactAttention(
                { sizes, ...arrays },
                { causal: "bottom-right", ...inputs },
            );
            const { out, lse } = stream.query({ query: arrays.query, ...inputs });
            assertClose(out, exact.out, exact.outBound, "out");
            assertClose(lse, exact.lse, exact.lseBound, "lse");
            assert.throws(() => stream.query(arrays.query), { message: "sinks is missing" });
            stream.dispose();
        });

        test("the other layout, and an array to write to", () => {
            const stream = attn.stream({ ...SIZES, maxKeys: 20 });
            const other = attn.stream({ ...SIZES, maxKeys: 20 });
            append(stream, 0, 20);
            other.append(
                swapHeadsAndRows(keysOf(0, 20), batch, kvHeads, 20, dim),
                swapHeadsAndRows(valuesOf(0, 20), batch, kvHeads, 20, valueDim),
                { layout: "bnhd" },
            );
            const query = queriesOf(15, 20);
            const out = new Float32Array(batch * heads * 5 * valueDim);
            const straight = stream.query(query, { out });
            assert.equal(straight.out, out);
            const swapped = other.query(swapHeadsAndRows(query, batch, heads, 5, dim), {
                layout: "bnhd",
            });
            assert.deepEqual(swapHeadsAndRows(swapped.out, batch, 5, heads, valueDim), out);
            assert.deepEqual(swapped.lse, straight.lse);
            stream.dispose();
            other.dispose();
        });

        test("an empty stream gives zeros", () => {
            const stream = attn.stream({ ...SIZES, maxKeys: 20 });
            const { out, lse } = stream.query(queriesOf(0, 2));
            assert.ok(out.every((x) => x === 0) && lse.every((x) => x === -Infinity));
            stream.dispose();
        });

        test("fork, truncate, save and restore", () => {
            const stream = attn.stream({ ...SIZES, maxKeys: TOKENS });
            append(stream, 0, 40);
            const fork = stream.fork();
            append(fork, 40, 120);
            assertAnswers(stream, 40, 2, false);
            assertAnswers(fork, 120, 2, false);
            const saved = fork.save();
            fork.truncate(70);
            assertAnswers(fork, 70, 2, false);
            stream.restore(saved);
            assertAnswers(stream, 120, 2, false);
            stream.restore(saved.buffer);
            append(stream, 120, TOKENS).dispose();
            assertAnswers(fork, 70, 1, false);
            assert.throws(() => fork.restore(saved.subarray(1)), isRefused("ARGUMENT"));
            assert.throws(() => fork.restore(saved.subarray(0, 99)), isRefused("ARGUMENT"));
            assert.throws(() => fork.restore(new Uint8Array(0)), isRefused("ARGUMENT"));
            assert.throws(() => fork.restore("bytes"), TypeError);
            const narrow = attn.stream({ ...SIZES, dim: 11, maxKeys: TOKENS });
            assert.throws(() => narrow.restore(saved), isRefused("SHAPE"));
            const short = attn.stream({ ...SIZES, maxKeys: 119 });
            assert.throws(() => short.restore(saved), isRefused("RANGE"));
            assert.throws(() => fork.truncate(71), isRefused("RANGE"));
            assert.throws(() => fork.truncate(1.5), TypeError);
            assertAnswers(fork, 70, 5, false);
            for (const one of [fork, narrow, short]) one.dispose();
        });

        test("memory grows with the tokens", () => {
            const stream = attn.stream({ ...SIZES, maxKeys: TOKENS });
            const empty = stream.memoryBytes;
            append(stream, 0, TOKENS);
            const token = 4 * batch * kvHeads * (dim + valueDim);
            assert.equal(stream.memoryBytes - empty, TOKENS * token);
            stream.dispose();
        });

        test("what does not fit", () => {
            const make = (changes) => () => attn.stream({ ...SIZES, maxKeys: 9, ...changes });
            assert.throws(make({ maxKeys: undefined }), isRefused("ARGUMENT"));
            assert.throws(make({ maxKeys: 0 }), isRefused("RANGE"));
            assert.throws(make({ past: 1 }), TypeError);
            assert.throws(make({ kvHeads: 3 }), isRefused("SHAPE"));
            assert.throws(make({ queries: 3 }), TypeError);
            const leverage = { backend: "sketch", params: { method: "leverage", size: 4 } };
            assert.throws(make(leverage), isRefused("UNSUPPORTED"));
            assert.throws(make({ params: { size: 4 } }), isRefused("NOT_FOUND"));
            assert.throws(make({ backend: "magic" }), isRefused("NOT_FOUND"));
            assert.throws(make({ window: [3, -1] }), isRefused("UNSUPPORTED"));
            const stream = append(attn.stream({ ...SIZES, maxKeys: 9 }), 0, 5);
            const [key, value] = [keysOf(5, 7), valuesOf(5, 7)];
            assert.throws(() => stream.append(key), isRefused("ARGUMENT"));
            assert.throws(() => stream.query(queriesOf(4, 5), { sinks: new Float32Array(9) }), {
                message: "sinks is given, but not among the stream's inputs",
            });
            assert.throws(() => stream.append(key.subarray(1), value), isRefused("SHAPE"));
            assert.throws(() => stream.append(key, value.subarray(1)), isRefused("SHAPE"));
            assert.throws(() => stream.append(key.subarray(key.length), value), isRefused("SHAPE"));
            assert.throws(() => stream.append(key, value, { layout: "nope" }), TypeError);
            assert.throws(() => stream.append(key, value, { out: key }), TypeError);
            assert.throws(() => stream.query([1, 2]), TypeError);
            assert.throws(() => stream.query(key.subarray(1)), isRefused("SHAPE"));
            assert.throws(() => stream.query(queriesOf(4, 5), { out: key }), isRefused("SHAPE"));
            assertAnswers(stream, 5, 2, false);
            stream.dispose();
        });
    });
}

/** Modules have fewer parameters than the addon (softmax), and their addresses have 32 bits. */
const SAVED = [
    ...SUBJECTS,
    { backend: "softmax", window: [8, -1] },
    { backend: "sparse", params: { pattern: "strided", block: 8, stride: 4 } },
];
for (const [from, to] of [
    ["native", "simd"],
    ["simd", "native"],
])
    for (const subject of SAVED)
        test(`${nameOf(subject)}: saved by ${from}, goes on in ${to}`, () => {
            const options = { ...SIZES, ...subject, causal: true, maxKeys: TOKENS };
            const [first, then] = [from, to].map((build) => libraries.get(build).stream(options));
            append(first, 0, 60);
            const saved = first.save();
            then.restore(saved);
            assert.deepEqual(then.save(), saved);
            append(then, 60, 75);
            assertPlanned(libraries.get(to), then, subject, 75, 9);
            for (const one of [first, then]) one.dispose();
        });

test("after dispose every use is an error, also when the library went first", async () => {
    const attn = await init();
    const streams = [attn.stream({ ...SIZES, maxKeys: 9 }), attn.stream({ ...SIZES, maxKeys: 9 })];
    streams.push(streams[1].fork());
    const saved = streams[0].save();
    streams[0].dispose();
    streams[0].dispose();
    attn.dispose();
    for (const stream of streams) {
        const uses = [
            () => append(stream, 0, 1),
            () => stream.query(queriesOf(0, 1)),
            () => stream.length,
            () => stream.memoryBytes,
            () => stream.fork(),
            () => stream.truncate(0),
            () => stream.save(),
            () => stream.restore(saved),
        ];
        for (const use of uses) assert.throws(use, isRefused("DISPOSED"), String(use));
    }
    assert.throws(() => attn.stream({ ...SIZES, maxKeys: 9 }), isRefused("DISPOSED"));
    if (Symbol.dispose) streams[0][Symbol.dispose]();
});
