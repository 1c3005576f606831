/* Element types: f16, bf16, and i8 with scales, through every call that takes arrays. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
    decodeF16,
    assertClose,
    exactAttention,
    largestError,
    libraries,
    makeProblem,
    numbers,
} from "../support.mjs";

const SIZES = { batch: 2, heads: 4, kvHeads: 2, keys: 21, dim: 12, valueDim: 7 };

/* What a number of a format is, from its definition. */
const HALVES = { f16: decodeF16, bf16: decodeBf16 };

function decodeBf16(bits) {
    const exponent = (bits >> 7) & 255;
    const size = exponent ? (128 + (bits & 127)) * 2 ** (exponent - 134) : (bits & 127) * 2 ** -133;
    return bits & 0x8000 ? -size : size;
}

/** Random elements of a type, and the numbers they stand for (of i8: before scales). */
function random(dtype, count, next) {
    if (dtype === "f32") return same(Float32Array.from({ length: count }, () => 2 * next()));
    if (dtype === "i8") return same(Int8Array.from({ length: count }, () => 127.9 * next()));
    // From the least there is, denormal, to 4.
    const top = dtype === "f16" ? 0x4400 : 0x4080;
    const low = dtype === "f16" ? 0x3000 : 0x3d80;
    const bits = () => (next() > 0.9 ? 1 : low + ((next() + 1) / 2) * (top - low));
    const array = Uint16Array.from({ length: count }, () => bits() + (next() < 0 ? 0x8000 : 0));
    return { array, numbers: Float64Array.from(array, HALVES[dtype]) };
}

function same(array) {
    return { array, numbers: Float64Array.from(array) };
}

/** A problem in these types: its arrays as a run takes them, and in numbers. */
function makeTyped(dtype, kvDtype, queries, seed) {
    const { batch, heads, kvHeads, keys, dim, valueDim } = SIZES;
    const next = numbers(seed);
    const tokens = batch * kvHeads * keys;
    const query = random(dtype, batch * heads * queries * dim, next);
    const key = random(kvDtype, tokens * dim, next);
    const value = random(kvDtype, tokens * valueDim, next);
    const arrays = { query: query.array, key: key.array, value: value.array };
    if (kvDtype === "i8") {
        const scales = () => Float32Array.from({ length: tokens }, () => 0.02 + 0.015 * next());
        Object.assign(arrays, { keyScales: scales(), valueScales: scales() });
    }
    const sizes = { ...SIZES, queries };
    const plain = { query: query.numbers, key: key.numbers, value: value.numbers };
    const dtypes = { dtype, kvDtype };
    const exact = exactAttention({ sizes, ...arrays, ...plain }, dtypes);
    return { sizes, dtypes, arrays, exact, values: value.numbers };
}

/** Allow for weights that are rounded to bf16, as the product of such a kernel takes them: each is off by 2^-8 of itself. */
function roundWeights({ sizes, exact, values }) {
    const { batch, heads, kvHeads, queries, keys, valueDim } = sizes;
    for (let row = 0; row < batch * heads * queries; row++) {
        const head = Math.floor(row / queries);
        const kvHead =
            Math.floor(head / heads) * kvHeads + Math.floor(((head % heads) * kvHeads) / heads);
        for (let j = 0; j < keys; j++)
            for (let c = 0; c < valueDim; c++)
                exact.outBound[row * valueDim + c] +=
                    2 ** -8 *
                    exact.weights[row * keys + j] *
                    Math.abs(values[(kvHead * keys + j) * valueDim + c]);
    }
}

function assertOut(out, { dtypes, exact }, what) {
    const decode = HALVES[dtypes.dtype];
    assertClose(decode ? Float64Array.from(out, decode) : out, exact.out, exact.outBound, what);
}

const PAIRS = [
    ["f16", "f16"],
    ["bf16", "bf16"],
    ["f32", "f16"],
    ["f32", "bf16"],
    ["bf16", "f32"],
    ["f32", "i8"],
    ["f16", "i8"],
];

for (const [build, attn] of libraries) {
    describe(`element types in the ${build} build`, () => {
        for (const [dtype, kvDtype] of PAIRS) {
            for (const queries of [1, 3, 19]) {
                test(`${dtype} with ${kvDtype}, ${queries} queries`, () => {
                    const problem = makeTyped(dtype, kvDtype, queries, 11 + queries);
                    const { sizes, dtypes, arrays, exact } = problem;
                    const plan = attn.plan({ ...sizes, ...dtypes });
                    if (/ bf16 /.test(plan.kernel)) roundWeights(problem);
                    const { out, lse } = plan.run({ ...arrays, lse: true });
                    assert.equal(out.constructor, arrays.query.constructor);
                    assertOut(out, problem, "out");
                    assertClose(lse, exact.lse, exact.lseBound, "lse");

                    const given = new arrays.query.constructor(out.length);
                    assert.equal(plan.run({ ...arrays, out: given }).out, given);
                    assert.deepEqual(given, out);

                    const { query, key, keyScales } = arrays;
                    const rows = plan.weights({ query, key, keyScales, batch: 1, head: 3 });
                    const [expected, bounds] = [exact.weights, exact.weightsBound].map((array) =>
                        array.subarray(-rows.length),
                    );
                    assertClose(rows, expected, bounds, "weights");
                    const error = plan.error({ ...arrays, out });
                    const most = largestError(exact);
                    assert.ok(error > 0 && error <= most, `error ${error}, at most ${most}`);
                    plan.dispose();

                    const { query: q, key: k, value: v, ...scales } = arrays;
                    const options = { ...sizes, ...dtypes, ...scales };
                    assert.deepEqual(attn.attention(q, k, v, options), out);
                });
            }

            test(`a stream of ${dtype} with ${kvDtype}`, () => {
                const problem = makeTyped(dtype, kvDtype, 2, 17);
                const { sizes, dtypes, arrays } = problem;
                const { query, key, value, ...scales } = arrays;
                const { queries, keys, ...shape } = sizes;
                const stream = attn.stream({ ...shape, ...dtypes, maxKeys: keys });
                stream.append(key, value, scales);
                const { out } = stream.query(query);
                assert.equal(out.length, sizes.batch * sizes.heads * queries * sizes.valueDim);
                assertOut(out, problem, "out");
                const copy = stream.fork();
                assert.deepEqual(copy.query(query).out, out);
                copy.truncate(0).restore(stream.save());
                assert.deepEqual(copy.query(query).out, out);
                copy.dispose();
                stream.dispose();
            });
        }

        test("a Float16Array is as good as its bits", { skip: !globalThis.Float16Array }, () => {
            const { sizes, dtypes, arrays } = makeTyped("f16", "f16", 5, 23);
            const floats = {};
            for (const name in arrays) floats[name] = new Float16Array(arrays[name].buffer);
            const plan = attn.plan({ ...sizes, ...dtypes });
            const { out } = plan.run(arrays);
            const twin = plan.run(floats).out;
            assert.ok(twin instanceof Float16Array);
            assert.deepEqual(new Uint16Array(twin.buffer), out);
            const bits = new Uint16Array(out.length); // its own type counts, not the query's
            assert.deepEqual(plan.run({ ...floats, out: bits }).out, out);
            plan.dispose();
        });
    });
}

test("without a kvDtype, keys and values are of the query's type", () => {
    const { sizes, arrays } = makeTyped("bf16", "bf16", 4, 29);
    const attn = libraries.get("simd");
    const { query, key, value } = arrays;
    const out = attn.attention(query, key, value, { ...sizes, dtype: "bf16" });
    const both = attn.attention(query, key, value, { ...sizes, dtype: "bf16", kvDtype: "bf16" });
    assert.deepEqual(out, both);
});

test("half the bits stay f32 by default", () => {
    const { query, key, value, sizes } = makeProblem({ queries: 4, dim: 8 }, 1);
    const attn = libraries.get("simd");
    assert.ok(attn.attention(query, key, value, sizes) instanceof Float32Array);
});
