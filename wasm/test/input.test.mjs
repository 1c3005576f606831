/* Wrong input: each case is one clear line, of the right class, and changes nothing. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AttnError } from "libattn";
import { libraries, makeProblem, npyBytes } from "./support.mjs";

function detached(length) {
    const array = new Float32Array(length);
    structuredClone(array.buffer, { transfer: [array.buffer] });
    return array;
}

/** A Float32Array whose buffer has shrunk below it. */
function shrunk(length) {
    const buffer = new ArrayBuffer(4 * length, { maxByteLength: 4 * length });
    const array = new Float32Array(buffer, 0, length);
    buffer.resize(4);
    return array;
}

function assertRefused(act, kind, message) {
    assert.throws(act, (error) => {
        if (kind === TypeError) {
            assert.equal(error.constructor, TypeError);
        } else {
            assert.ok(error instanceof AttnError, `${error.stack}`);
            assert.match(error.code, new RegExp(`^ATTN_ERROR_(${kind})$`));
            assert.equal(error.name, "AttnError");
        }
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /[\n\r\u2028\u2029]/);
        return true;
    });
}

for (const build of ["simd", "native"]) describe(`the ${build} build`, () => refuse(build));

function refuse(build) {
    const attn = libraries.get(build);
    const { query, key, value, sizes } = makeProblem({ heads: 2, queries: 4, keys: 6, dim: 8 }, 1);
    const plan = attn.plan(sizes);
    const tiny = { queries: 2, dim: 2 };
    /* Past the address space of 32 bits, or of 64. */
    const huge = {
        queries: build === "simd" ? 2 ** 30 : 2 ** 52,
        dim: build === "simd" ? 64 : 1024,
    };

    const run = (changes) => () => plan.run({ query, key, value, ...changes });
    const weights = (changes) => () => plan.weights({ query, key, ...changes });
    const quick =
        (options, q = query) =>
        () =>
            attn.attention(q, key, value, options);
    const make = (options) => () => attn.plan({ ...tiny, ...options });
    const ruled = (inputs) => quick({ ...sizes, ...inputs });
    const masked = attn.plan({ ...sizes, inputs: ["mask"] });
    const strided = (strides) => run({ strides });
    const bytes = new Int8Array(96);
    const scales = new Float32Array(12).fill(1);
    const quantised = attn.plan({ ...sizes, kvDtype: "i8" });
    const i8 = (changes) => () =>
        quantised.run({
            ...{ query, key: bytes, value: bytes, keyScales: scales, valueScales: scales },
            ...changes,
        });

    /* What is done, the error's class or code, and what its message has to name. */
    const cases = [
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
        ["a backend of two lines", make({ backend: "a\nb" }), "NOT_FOUND", /backend 'a b'/],
        ["a parameter of two lines", make({ params: { "a\u2028b": 1 } }), "NOT_FOUND", /'a b'/],
        ["a value in two lines", make({ params: { "a\rb": {} } }), TypeError, /params.a b must be/],
        [
            "halves where there are none",
            make({ backend: "linear", dtype: "f16" }),
            "UNSUPPORTED",
            /linear.*f16/,
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
        ["a head too many", weights({ head: 2 }), "RANGE", /^head: 2 is outside 0..1$/],
        ["a negative batch", weights({ batch: -1 }), "RANGE", /^batch: -1 is outside 0..0$/],
        [
            "a fraction of a query",
            weights({ first: 0.5 }),
            TypeError,
            /first must be an integer, not 0.5/,
        ],
        [
            "more rows than queries",
            weights({ first: 3, count: 2 }),
            "RANGE",
            /^count: 2 is outside 1..1$/,
        ],
        ["no rows", weights({ count: 0 }), "RANGE", /^count: 0 is outside 1..4$/],
        ["a query past the last", weights({ first: 4 }), "RANGE", /^first: 4 is outside 0..3$/],
        [
            "a stride of 0",
            () => plan.error({ query, key, value, out: query }, 0),
            "RANGE",
            /stride is 0/,
        ],
        ["a past below 0", make({ past: -1 }), "RANGE", /past is -1/],
        ["a past that is no integer", make({ past: 1.5 }), TypeError, /past must be an integer/],
        [
            "a past that contradicts the corner",
            make({ past: 2, causal: "bottom-right" }),
            "ARGUMENT",
            /past \(2\)/,
        ],
        [
            "a window of one side",
            make({ window: [3] }),
            TypeError,
            /window must be \[left, right\]/,
        ],
        ["a window that is a number", make({ window: 3 }), TypeError, /window must be/],
        [
            "half a key",
            make({ window: [1, 0.5] }),
            TypeError,
            /window\[1\] must be an integer, not 0.5/,
        ],
        ["a window of -2", make({ window: [-2, 1] }), "RANGE", /window \(-2, 1\)/],
        ["a window against causal", make({ causal: true, window: [1, 1] }), "ARGUMENT", /window/],
        ["a negative softcap", make({ softcap: -1 }), "RANGE", /softcap is -1/],
        ["a softcap of NaN", make({ softcap: NaN }), TypeError, /softcap must be a finite number/],
        ["an unknown mode", make({ scoresMode: 3 }), TypeError, /scoresMode must be .*not 3/],
        [
            "an unknown input",
            make({ inputs: ["biases"] }),
            TypeError,
            /^inputs\[0\] must be .*"biases"/,
        ],
        ["inputs that are no list", make({ inputs: "bias" }), TypeError, /inputs must be an array/],
        [
            "a window where there is none",
            make({ backend: "linear", window: [1, 1] }),
            "UNSUPPORTED",
            /linear.*sliding windows/,
        ],
        [
            "a mask where there is none",
            make({ backend: "sketch", inputs: ["mask"] }),
            "UNSUPPORTED",
            /sketch.*masks/,
        ],
        [
            "scores where there are none",
            () =>
                attn.plan({ ...sizes, backend: "linear" }).run({ query, key, value, scores: true }),
            "UNSUPPORTED",
            /linear.*scores/,
        ],
        [
            "scores too short",
            run({ scores: new Float32Array(3) }),
            "SHAPE",
            /scores has 3 .*= 1 \* 2/,
        ],
        ["a mask nobody declared", run({ mask: new Uint8Array(24) }), "ARGUMENT", /mask is given/],
        [
            "a declared mask that is missing",
            () => masked.run({ query, key, value }),
            "ARGUMENT",
            /^mask is missing$/,
        ],
        [
            "weights without the declared mask",
            () => masked.weights({ query, key }),
            "ARGUMENT",
            /^mask is missing$/,
        ],
        [
            "a mask of floats",
            ruled({ mask: new Float32Array(24) }),
            TypeError,
            /mask must be a Uint8Array or an array of booleans, not a Float32Array/,
        ],
        ["a bias of bytes", ruled({ bias: new Uint8Array(24) }), TypeError, /bias .*Float32Array/],
        ["a bias too short", ruled({ bias: new Float32Array(23) }), "SHAPE", /bias has 23 .* 48 /],
        [
            "a bias of a wrong shape",
            ruled({ bias: { data: new Float32Array(12), shape: [1, 2, 1, 5] } }),
            "SHAPE",
            /bias.shape must be \(1, 2, 4, 6\)/,
        ],
        [
            "a shape of five axes",
            ruled({ bias: { data: new Float32Array(24), shape: [1, 1, 1, 4, 6] } }),
            "SHAPE",
            /bias.shape has 5 axes, must have 1 to 4/,
        ],
        [
            "data that its shape is not",
            ruled({ mask: { data: new Uint8Array(7), shape: [1, 1, 1, 6] } }),
            "SHAPE",
            /mask has 7 elements/,
        ],
        ["a detached bias", ruled({ bias: detached(24) }), "SHAPE", /bias is detached/],
        ["lengths of other batches", ruled({ kvLengths: [1, 2] }), "SHAPE", /kvLengths has 2 of 1/],
        ["lengths past the keys", ruled({ kvLengths: [7] }), "RANGE", /kvLengths: 7 .* 6 keys/],
        ["a length below 0", ruled({ kvLengths: [-1] }), "RANGE", /kvLengths: -1/],
        [
            "half a length",
            ruled({ kvLengths: [0.5] }),
            TypeError,
            /kvLengths\[0\] must be an integer, not 0.5/,
        ],
        ["a length alone", ruled({ kvLengths: 3 }), TypeError, /kvLengths must be an array, not 3/],
        [
            "too few sinks",
            ruled({ sinks: new Float32Array(1) }),
            "SHAPE",
            /sinks has 1 .*heads = 2/,
        ],
        ["slopes as a list", ruled({ slopes: [1, 2] }), TypeError, /slopes must be a Float32Array/],
        ["an unknown backend", make({ backend: "sofmax" }), "NOT_FOUND", /sofmax/],
        [
            "a backend that is no text",
            make({ backend: 3 }),
            TypeError,
            /backend must be a string, not 3/,
        ],
        ["a NUL in a name", make({ backend: "softmax\0" }), TypeError, /NUL/],
        ["a misspelt option", make({ casual: true }), TypeError, /unknown "casual"/],
        [
            "an unknown corner",
            make({ causal: "left" }),
            TypeError,
            /causal must be .*"bottom-right", not "left"/,
        ],
        ["a scale of NaN", make({ scale: NaN }), TypeError, /scale must be a finite number/],
        ["a scale past float32", make({ scale: 1e300 }), "ARGUMENT|RANGE|SHAPE", /scale/],
        ["no queries", () => attn.plan({ dim: 4 }), "ARGUMENT", /^queries is missing$/],
        ["no dim", () => attn.plan({ queries: 4 }), "ARGUMENT", /^dim is missing$/],
        ["no maxKeys", () => attn.stream({ dim: 4 }), "ARGUMENT", /^maxKeys is missing$/],
        [
            "attention to no value",
            () => attn.attention(query, key),
            "ARGUMENT",
            /^value is missing/,
        ],
        ["0 queries", make({ queries: 0 }), "SHAPE", /queries.* 0/],
        ["negative keys", make({ keys: -3 }), "SHAPE", /keys.* -3/],
        ["a size of NaN", make({ dim: NaN }), TypeError, /dim must be an integer, not NaN/],
        ["a size past 2^53", make({ dim: 2 ** 60 }), TypeError, /dim/],
        ["a size as text", make({ heads: "8" }), TypeError, /heads must be an integer, not "8"/],
        ["heads that do not share", make({ heads: 4, kvHeads: 3 }), "SHAPE", /4.*3/],
        ["sizes past the address space", make(huge), "SHAPE|MEMORY", /./],
        ["sizes whose product overflows", make({ queries: 2 ** 52, heads: 2 ** 30 }), "SHAPE", /./],
        [
            "params that are no object",
            make({ params: "block=4" }),
            TypeError,
            /params must be a plain object/,
        ],
        ["params in a Map", make({ params: new Map() }), TypeError, /params must be a plain/],
        ["a Date for options", quick(new Date()), TypeError, /attention must be a plain object/],
        ["a promise of a plan", () => attn.plan(Promise.resolve(tiny)), TypeError, /plan must be/],
        [
            "options that are inherited",
            () => attn.plan(Object.create(tiny)),
            TypeError,
            /plan must be a plain object, not an instance of a class/,
        ],
        ["strides in a Map", strided(new Map()), TypeError, /strides must be a plain object/],
        [
            "an unknown parameter",
            make({ backend: "sparse", params: { blok: 4 } }),
            "NOT_FOUND",
            /blok/,
        ],
        ["a parameter of a backend without", make({ params: { block: 4 } }), "NOT_FOUND", /block/],
        [
            "a value below its range",
            make({ backend: "sparse", params: { block: -1 } }),
            "RANGE",
            /block.*-1/,
        ],
        [
            "a value above its range",
            make({ backend: "sparse", params: { block: 1e9 } }),
            "RANGE",
            /block/,
        ],
        [
            "a fraction for an integer",
            make({ backend: "sparse", params: { block: 2.5 } }),
            "ARGUMENT",
            /2\.5/,
        ],
        [
            "text for a number",
            make({ backend: "sparse", params: { block: "many" } }),
            "ARGUMENT",
            /many/,
        ],
        ["an empty value", make({ backend: "sparse", params: { block: "" } }), "ARGUMENT", /block/],
        [
            "a value of NaN",
            make({ backend: "sparse", params: { block: NaN } }),
            TypeError,
            /params.block/,
        ],
        [
            "a value that is an object",
            make({ backend: "sparse", params: { block: {} } }),
            TypeError,
            /params.block/,
        ],
        [
            "an unknown choice",
            make({ backend: "sketch", params: { method: "magic" } }),
            "RANGE",
            /magic/,
        ],
        ["nothing to infer from", quick({}), "SHAPE", /dim, queries or keys/],
        ["a dim that does not divide", quick({ dim: 7 }), "SHAPE", /query has 64 .* = 7/],
        [
            "queries that do not fit",
            quick({ ...sizes, queries: 3 }),
            "SHAPE",
            /query has 64 elements/,
        ],
        ["a valueDim that does not fit", quick({ ...sizes, valueDim: 9 }), "SHAPE", /value has 96/],
        [
            "empty arrays",
            () => attn.attention(query.subarray(64), key, value, { dim: 8 }),
            "SHAPE",
            /query has 0/,
        ],
        ["no options", () => attn.attention(query, key, value), "SHAPE", /dim, queries or keys/],
        ["text that is none", () => attn.embed(5, 8), TypeError, /text must be a string/],
        ["a dim of 1", () => attn.embed("a", 1), "SHAPE", /dim is 1/],
        [
            "vectors past the address space",
            () => attn.embed("a b", 2 ** 40),
            "MEMORY",
            /bytes of the vectors/,
        ],
        [
            "bytes that are none",
            () => attn.readNpy("x.npy"),
            TypeError,
            /bytes must be an ArrayBuffer/,
        ],
        ["no .npy file", () => attn.readNpy(new Uint8Array(200)), "ARGUMENT", /the file/],
        ["an empty .npy file", () => attn.readNpy(new ArrayBuffer(0)), "ARGUMENT", /the file/],
        [
            "a truncated .npy file",
            () => attn.readNpy(npyBytes([4, 4], new Float32Array(15))),
            "ARGUMENT",
            /truncated.* 60 .* 64/,
        ],
        [
            "integers",
            () => attn.readNpy(npyBytes([2, 2], new Int32Array(4), { descr: "<i4" })),
            "DTYPE",
            /i4/,
        ],
        [
            "big-endian floats",
            () => attn.readNpy(npyBytes([2, 2], new Float32Array(4), { descr: ">f4" })),
            "DTYPE",
            /f4/,
        ],
        ["a rank of 1", () => attn.readNpy(npyBytes([4], new Float32Array(4))), "SHAPE", /1/],
        [
            "a rank of 5",
            () => attn.readNpy(npyBytes([1, 1, 1, 2, 2], new Float32Array(4))),
            "SHAPE",
            /5/,
        ],
        ["counting in doubles", () => attn.countNonfinite(new Float64Array(2)), TypeError, /array/],
    ];

    for (const [name, act, kind, message] of cases) {
        test(name, () => assertRefused(act, kind, message));
    }

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
}
