/* Arrays, their types and their strides that are wrong: one line that names it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AttnError } from "libattn";
import { assertRefused, detached, inEach, refuseAll, shrunk } from "../refusal.mjs";

inEach(({ attn, build, query, key, value, sizes, plan, scales, run, quick, make, strided, i8 }) => {
    refuseAll([
        [
            "a query too short",
            run({ query: query.subarray(1) }),
            "SHAPE",
            /query has 63 .*= 1 \* 2 \* 4 \* 8/,
        ],
        ["a key too long", run({ key: new Float32Array(97) }), "SHAPE", /key has 97 elements/],
        ["an out too short", run({ out: new Float32Array(63) }), "SHAPE", /out has 63/],
        ["an lse too long", run({ lse: new Float32Array(9) }), "SHAPE", /lse has 9/],
        ["a detached query", run({ query: detached(64) }), "SHAPE", /query is detached/],
        ["a detached out", run({ out: detached(64) }), "SHAPE", /out is detached/],
        ["a query out of bounds", run({ query: shrunk(64) }), "SHAPE", /query has 0 elements/],
        ["a detached array in attention()", quick(sizes, detached(64)), "SHAPE", /query/],
        ["no query", run({ query: undefined }), "ARGUMENT", /^query is missing$/],
        ["doubles", run({ query: new Float64Array(64) }), TypeError, /not a Float64Array/],
        ["a plain array", run({ value: [...value] }), TypeError, /value .* not an Array/],
        [
            "something that poses",
            run({ key: { length: 96, [Symbol.toStringTag]: "Float32Array" } }),
            TypeError,
            /key/,
        ],
        ["lse that is no array", run({ lse: 1 }), TypeError, /lse must be a Float32Array/],
        [
            "an unknown layout",
            run({ layout: "nhd" }),
            TypeError,
            /layout must be "bhnd" or "bnhd", not "nhd"/,
        ],
        ["an unknown element type", make({ dtype: "f64" }), TypeError, /dtype must be .* "f64"/],
        [
            "queries in i8",
            make({ dtype: "i8" }),
            TypeError,
            /dtype must be "f32" or "f16" or "bf16", not "i8"/,
        ],
        ["an unknown type of keys", make({ kvDtype: "i4" }), TypeError, /or "i8", not "i4"/],
        [
            "a stream in i8",
            () => attn.stream({ dim: 4, maxKeys: 8, dtype: "i8" }),
            TypeError,
            /dtype/,
        ],
        [
            "a negative dim for arrays",
            quick({ dim: -4 }),
            "SHAPE",
            /^dim is -4, must be at least 1$/,
        ],
        ["0 heads for arrays", quick({ dim: 8, heads: 0 }), "SHAPE", /^heads is 0, must be/],
        ["0 in a batch of arrays", quick({ dim: 8, batch: 0 }), "SHAPE", /^batch is 0, must be/],
        [
            "0 keys with strides",
            quick({ ...sizes, keys: 0, strides: {} }),
            "SHAPE",
            /^keys is 0, must/,
        ],
        [
            "a shape with 0",
            quick({}, { data: query, shape: [1, 0, 4, 8] }),
            "SHAPE",
            /^query.shape\[1\] is 0, must be at least 1$/,
        ],
        [
            "a tensor with sizes below 0",
            () => attn.tensor({ data: new Float32Array(4), shape: [-2, -2] }),
            "SHAPE",
            /^elements.shape\[0\] is -2, must be at least 1$/,
        ],
        [
            "a tensor past 2^53",
            () => attn.tensor({ data: new Float32Array(4), shape: [2 ** 52, 2 ** 52] }),
            "SHAPE",
            /^elements has 4 elements, but 4503599627370496 \* 4503599627370496 is more than 2\^53 /,
        ],
        ["a BigInt for a size", make({ heads: 1n }), TypeError, /heads must be an integer, not 1n/],
        [
            "a second input that is none",
            make({ inputs: ["mask", "x"] }),
            TypeError,
            /^inputs\[1\] must be "bias"/,
        ],
        ["a backend of two lines", make({ backend: "a\nb" }), "NOT_FOUND", /backend 'a\\x0ab'/],
        [
            "a parameter of two lines",
            make({ params: { "a\u2028b": 1 } }),
            "NOT_FOUND",
            /'a\\xe2\\x80\\xa8b'/,
        ],
        ["a value in two lines", make({ params: { "a\rb": {} } }), TypeError, /params.a b must be/],
        [
            "halves where there are none",
            make({ backend: "sketch", dtype: "f16" }),
            "UNSUPPORTED",
            /sketch.*f16/,
        ],
        ["bits for floats", run({ query: new Uint16Array(64) }), TypeError, /not a Uint16Array/],
        [
            "floats for bits",
            quick({ ...sizes, dtype: "bf16" }),
            TypeError,
            /query must be a Uint16Array, not a Float32Array/,
        ],
        ["floats for i8", i8({ key }), TypeError, /key must be an Int8Array, not a Float32Array/],
        ["i8 without scales", i8({ keyScales: undefined }), "ARGUMENT", /^keyScales is missing$/],
        ["too few scales", i8({ valueScales: scales.subarray(1) }), "SHAPE", /valueScales has 11/],
        [
            "a scale of 0",
            i8({ keyScales: Float32Array.of(...scales.subarray(1), 0) }),
            "RANGE",
            /keyScales.* key 5 has 0, must be positive/,
        ],
        ["scales of floats", run({ valueScales: scales }), "ARGUMENT", /valueScales: .* not i8/],
        ["strides that are none", strided(3), TypeError, /strides must be a plain object, not 3/],
        ["strides of a misspelt array", strided({ kye: [] }), TypeError, /unknown "kye"/],
        ["three strides", strided({ key: [1, 2, 3] }), TypeError, /strides.key must be \[batch/],
        [
            "half a stride",
            strided({ key: [48, 48, 8, 0.5] }),
            TypeError,
            /strides.key\[3\] must be an integer, not 0.5/,
        ],
        ["a stride back", strided({ key: [0, 48, -8, 1] }), "ARGUMENT", /strides.key .*negative/],
        [
            "strides past the end",
            strided({ key: [96, 48, 9, 1] }),
            "SHAPE",
            /key has 96 elements, but .* strides.key .* 101 elements/,
        ],
        ["strides past 2^53", strided({ key: [0, 2 ** 52, 8, 1] }), "SHAPE", /key has 96/],
        [
            "strides of no out",
            strided({ out: [64, 32, 8, 1] }),
            "ARGUMENT",
            /strides.out needs out/,
        ],
        [
            "an out that overlaps itself",
            run({ out: query.slice(), strides: { out: [0, 0, 8, 1] } }),
            "ARGUMENT",
            /out: with strides \(0, 0, 8, 1\) elements may overlap/,
        ],
        ["a misspelt array", run({ querry: query }), TypeError, /unknown "querry"/],
        [
            "nothing to run on",
            () => plan.run(),
            TypeError,
            /run must be a plain object, not undefined/,
        ],
        [
            "null for options",
            () => attn.plan(null),
            TypeError,
            /plan must be a plain object, not null/,
        ],
    ]);

    test("weights past the address space are refused, and the plan stays usable", () => {
        const length = build === "simd" ? 40000 : 2 ** 23; // squared, in float32: 6.4 GB, 2^48 bytes
        const long = attn.plan({ queries: length, dim: 1 });
        const array = new Float32Array(length);
        assertRefused(
            () => long.weights({ query: array, key: array }),
            "MEMORY",
            /\d{10} bytes of the weights/,
        );
        assert.equal(long.weights({ query: array, key: array, count: 1 }).length, length);
        long.dispose();
    });

    test("nothing is written when something is wrong", () => {
        const out = new Float32Array(64).fill(7);
        const lse = new Float32Array(7).fill(7);
        assert.throws(run({ out, lse }), AttnError);
        assert.ok(out.every((x) => x === 7) && lse.every((x) => x === 7));
    });

    test("after all of this the library still computes", () => {
        assert.equal(attn.countNonfinite(plan.run({ query, key, value }).out), 0);
    });
});
