/* Tensors: floats where the engine computes. They give what arrays give, bit for bit. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { init } from "libattn";
import { libraries, makeProblem } from "../support.mjs";

const SIZES = { heads: 2, queries: 21, keys: 40, dim: 12, valueDim: 5 };

for (const [build, attn] of libraries) {
    describe(`the ${build} build`, () => {
        const { query, key, value } = makeProblem(SIZES, 7);

        test("tensors are read and written in place", () => {
            const plan = attn.plan(SIZES);
            const expected = plan.run({ query, key, value, lse: true });
            const tensors = [query, key, value].map((array) => attn.tensor(array));
            const [q, k, v] = tensors;
            const out = attn.tensor(2 * 21 * 5);
            const lse = attn.tensor(2 * 21);
            assert.ok(out.data.every((x) => x === 0));
            const result = plan.run({ query: q, key: k, value: v, out, lse });
            assert.deepEqual(result.out, expected.out);
            assert.deepEqual(out.data, expected.out);
            assert.deepEqual(lse.data, expected.lse);
            assert.equal(result.out.buffer, out.data.buffer); // the same memory
            assert.deepEqual(
                plan.run({ query, key: k, value, out: out.data.slice() }).out,
                expected.out,
            );
            assert.deepEqual(q.data, query);
            for (const tensor of [...tensors, out, lse]) tensor.dispose();
            plan.dispose();
        });

        test("an output may be one of the inputs", () => {
            const sizes = { queries: 30, dim: 8 };
            const arrays = makeProblem(sizes, 3);
            const plan = attn.plan(sizes);
            const expected = plan.run(
                arrays.sizes && { query: arrays.query, key: arrays.key, value: arrays.value },
            ).out;
            const q = attn.tensor(arrays.query);
            plan.run({ query: q, key: arrays.key, value: arrays.value, out: q });
            assert.deepEqual(q.data, expected);
            q.dispose();
            plan.dispose();
        });

        test("of other element types", () => {
            const bits = (count) => Uint16Array.from({ length: count }, (_, i) => 0x3c00 + i);
            const bytes = (count) => Int8Array.from({ length: count }, (_, i) => 7 * i - 100);
            const scales = Float32Array.of(0.1, 0.2, 0.3, 0.4);
            const quantised = {
                dtype: "f16",
                kvDtype: "i8",
                keyScales: scales,
                valueScales: scales,
            };
            const options = { queries: 3, keys: 4, dim: 5, ...quantised };
            const expected = attn.attention(bits(15), bytes(20), bytes(20), options);

            const q = attn.tensor(bits(15), "f16");
            const kv = attn.tensor(bytes(20), "i8");
            const out = attn.tensor(15, "f16");
            assert.deepEqual([q.dtype, kv.dtype], ["f16", "i8"]);
            assert.deepEqual(attn.attention(q, kv, kv, { ...options, out }), expected);
            assert.deepEqual(out.data, expected);
            assert.deepEqual(attn.attention(q, kv, kv, options), expected);
            assert.deepEqual(attn.attention(q, kv, kv, { ...options, out: q }), expected);
            assert.deepEqual(q.data, expected); // 3 x 5, as the query
            for (const tensor of [q, kv, out]) tensor.dispose();
        });

        test("of Float16Arrays", { skip: !globalThis.Float16Array }, () => {
            const data = Float16Array.from({ length: 15 }, (_, i) => i / 8);
            const q = attn.tensor(data, "f16");
            assert.deepEqual(q.data, data);
            const options = { queries: 3, dim: 5, dtype: "f16" };
            const expected = attn.attention(data, data, data, options);
            assert.deepEqual(attn.attention(q, q, q, options), expected);
            assert.deepEqual(attn.attention(q, q, q, { ...options, out: q }), expected);
            q.dispose();
        });

        test("memory that grows leaves tensors what they are", () => {
            const tensor = attn.tensor(Float32Array.of(1, 2, 3));
            const more = Array.from({ length: 4 }, () => attn.tensor(3e6));
            assert.deepEqual([...tensor.data], [1, 2, 3]);
            for (const one of [tensor, ...more]) one.dispose();
        });

        test("streams, attention() and promises take them", async () => {
            const sizes = { queries: 9, dim: 4 };
            const arrays = makeProblem(sizes, 5);
            const [q, k, v] = ["query", "key", "value"].map((name) => attn.tensor(arrays[name]));
            const expected = attn.attention(arrays.query, arrays.key, arrays.value, sizes);
            assert.deepEqual(attn.attention(q, k, v, sizes), expected);
            assert.deepEqual(await attn.attentionAsync(q, k, v, sizes), expected);
            const stream = attn.stream({ dim: 4, maxKeys: 9, causal: false });
            const other = attn.stream({ dim: 4, maxKeys: 9, causal: false });
            stream.append(k, v);
            other.append(arrays.key, arrays.value);
            assert.deepEqual(stream.query(q).out, other.query(arrays.query).out);
            for (const one of [q, k, v, stream, other]) one.dispose();
        });

        test("misuse is an error", () => {
            const code = (name, pattern) => ({ code: `ATTN_ERROR_${name}`, message: pattern });
            assert.throws(() => attn.tensor(0), code("SHAPE", /length is 0, must be at least 1/));
            assert.throws(() => attn.tensor(1.5), /length must be an integer/);
            assert.throws(() => attn.tensor("ten"), /must be a Float32Array/);
            assert.throws(() => attn.tensor(4, "f64"), /dtype must be .*"f64"/);
            assert.throws(() => attn.tensor(new Float32Array(4), "i8"), /must be an Int8Array/);
            assert.throws(
                () => attn.tensor(2 ** 40),
                code("MEMORY", /4398046511104 bytes of a tensor/),
            );
            const tensor = attn.tensor(8);
            const plan = attn.plan({ queries: 2, dim: 4 });
            const bytes = attn.tensor(8, "i8");
            assert.throws(
                () => plan.run({ query: tensor, key: bytes, value: tensor }),
                /key must be a Float32Array, not a tensor of i8/,
            );
            bytes.dispose();
            const short = attn.tensor(7);
            const arrays = { key: tensor, value: tensor };
            assert.throws(
                () => plan.run({ query: short, ...arrays }),
                code("SHAPE", /query has 7/),
            );
            tensor.dispose();
            tensor.dispose();
            assert.throws(() => tensor.data, code("DISPOSED", /the tensor/));
            assert.throws(
                () => plan.run({ query: tensor, key: tensor, value: tensor }),
                code("DISPOSED", /the tensor/),
            );
            plan.dispose();
            short.dispose();
        });
    });
}

test("a tensor is of one instance, and ends with it", async () => {
    const [one, other] = [await init({ build: "simd" }), await init({ build: "simd" })];
    const tensor = one.tensor(8);
    const plan = other.plan({ queries: 2, dim: 4 });
    assert.throws(() => plan.run({ query: tensor, key: tensor, value: tensor }), {
        code: "ATTN_ERROR_ARGUMENT",
        message: /another instance/,
    });
    one.dispose();
    assert.throws(() => tensor.data, { message: /tensor/ });
    other.dispose();
});
