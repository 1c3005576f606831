/*
 * Arrays that lie in the module's own memory, as `tensor.data` does and what was written to `out:
 * tensor`, given back to any call: memory that grows in the call takes the buffer of such an array away.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { init } from "libattn";
import { init as initNative } from "libattn/native";
import { BUILDS, floats, makeProblem, numbers } from "../support.mjs";

const { sizes, ...plain } = makeProblem({ heads: 4, kvHeads: 2, queries: 150, dim: 32 }, 61);
const { heads, queries, keys } = sizes;
const inputs = {
    bias: floats(heads * queries * keys, numbers(62)),
    mask: Uint8Array.from({ length: queries * keys }, (_, i) => Number(i % 5 > 0)),
    sinks: floats(heads, numbers(63)),
    slopes: floats(heads, numbers(64)).map(Math.abs),
};
const results = {
    out: new Float32Array(heads * queries * sizes.valueDim),
    lse: new Float32Array(heads * queries),
    scores: new Float32Array(heads * queries * keys),
};
const read = { ...plain, ...inputs };
const all = { ...read, ...results };

/** A new library, whose memory is full: every call makes it grow. */
async function open(build) {
    const attn = await (build === "native"
        ? initNative({ fallback: false })
        : init({ build, threads: build === "threads" ? 2 : 1 }));
    attn.tensor(2 ** 20);
    return attn;
}

/** Copies of arrays in the library's memory, as views of it, all as of now. */
function viewsIn(attn, arrays) {
    const tensors = arrays.map((array) => {
        const words = Math.ceil(array.byteLength / 4);
        const tensor = attn.tensor(words);
        const { buffer, byteOffset } = tensor.data;
        new array.constructor(buffer, byteOffset, array.length).set(array);
        return tensor;
    });
    return arrays.map((array, i) => {
        const { buffer, byteOffset } = tensors[i].data;
        return new array.constructor(buffer, byteOffset, array.length);
    });
}

function makePlan(attn) {
    return attn.plan({ ...sizes, inputs: Object.keys(inputs) });
}

/** The names of arrays that are given as views, one by one and all together. */
const choices = [...Object.keys(all).map((name) => [name]), Object.keys(all)];

/** `given` with those arrays as views. */
function withViews(attn, given, names) {
    const those = names.filter((name) => name in given);
    const views = viewsIn(
        attn,
        those.map((name) => given[name]),
    );
    return { ...given, ...Object.fromEntries(those.map((name, i) => [name, views[i]])) };
}

for (const build of [...BUILDS, "native"]) {
    describe(`views of the memory of the ${build} build`, async () => {
        const plainly = await open(build);
        const expected = makePlan(plainly).run({ ...read, lse: true, scores: true });
        const { query, key, value } = plain;

        for (const how of ["run", "runAsync"]) {
            for (const names of choices) {
                test(`${how}: ${names.join(", ")}`, async () => {
                    const attn = await open(build);
                    const plan = makePlan(attn);
                    const fresh = Object.entries(all).map(([name, array]) => [name, array.slice()]);
                    const arrays = withViews(attn, Object.fromEntries(fresh), names);
                    const result = await plan[how](arrays);
                    assert.deepEqual(result, expected);
                    attn.dispose();
                });
            }
        }

        test("attention, weights and error", async () => {
            const attn = await open(build);
            const v = withViews(attn, plain, ["query", "key", "value"]);
            const wanted = plainly.attention(query, key, value, sizes);
            const out = attn.attention(v.query, v.key, v.value, sizes);
            assert.deepEqual(out, wanted);

            const plan = makePlan(attn);
            const names = [...Object.keys(inputs), "query", "key"];
            const rest = Object.fromEntries(names.map((name) => [name, all[name]]));
            const some = withViews(attn, rest, names);
            assert.deepEqual(plan.weights(some), makePlan(plainly).weights(rest));
            const whole = withViews(attn, { ...read, out: expected.out }, [...names, "out"]);
            assert.equal(
                plan.error(whole),
                makePlan(plainly).error({ ...read, out: expected.out }),
            );
            attn.dispose();
        });

        test("what was written to a tensor is an input of the next call", async () => {
            const attn = await open(build);
            const tensor = attn.tensor(query.length);
            const once = attn.attention(query, key, value, { ...sizes, out: tensor });
            const twice = attn.attention(once, key, value, sizes);
            const wanted = plainly.attention(query, key, value, sizes);
            assert.deepEqual(twice, plainly.attention(wanted, key, value, sizes));
            attn.dispose();
        });

        test("an output in the middle of a tensor, also where it is an input", async () => {
            const attn = await open(build);
            const tensor = attn.tensor(new Float32Array(query.length + 100).fill(-7));
            const middle = tensor.data.subarray(50, 50 + query.length);
            middle.set(query);
            const out = attn.attention(middle, key, value, { ...sizes, out: middle });
            assert.equal(out.byteOffset, middle.byteOffset || tensor.data.byteOffset + 200);
            assert.deepEqual(out.slice(), plainly.attention(query, key, value, sizes));
            for (const x of [...tensor.data.subarray(0, 50), ...tensor.data.subarray(-50)]) {
                assert.equal(x, -7);
            }
            attn.dispose();
        });

        test("8 bits with scales, and 16 bits", async () => {
            const kv = Int8Array.from(key, (x) => 100 * x);
            const scales = new Float32Array(2 * keys).fill(0.01);
            const options = { ...sizes, kvDtype: "i8" };
            const wanted = plainly.attention(query, kv, kv, {
                ...options,
                ...{ keyScales: scales, valueScales: scales },
            });
            const attn = await open(build);
            const [k, v, keyScales, valueScales] = viewsIn(attn, [kv, kv, scales, scales]);
            const views = { ...options, keyScales, valueScales };
            assert.deepEqual(attn.attention(query, k, v, views), wanted);

            const half = Uint16Array.from(query, (_, i) => 0x3000 + (i % 100));
            const [bits] = viewsIn(attn, [half]);
            const sixteen = { heads: 4, dim: 32, dtype: "f16" };
            assert.deepEqual(
                attn.attention(bits, bits, bits, { ...sixteen, out: bits }).slice(),
                plainly.attention(half, half, half, sixteen),
            );
            attn.dispose();
        });

        test("streams, tensors, files and counts", async () => {
            const attn = await open(build);
            const options = { heads: 4, kvHeads: 2, dim: 32, maxKeys: 400 };
            const stream = attn.stream(options);
            const other = plainly.stream(options);
            stream.append(...viewsIn(attn, [key, value]));
            other.append(key, value);
            const wanted = other.query(query);
            const [asked, out] = viewsIn(attn, [query, results.out]);
            assert.deepEqual(stream.query(asked, { out }), wanted);
            const saved = other.save();
            stream.truncate(1).restore(...viewsIn(attn, [saved]));
            assert.deepEqual(stream.save(), saved);

            const { bias } = inputs;
            assert.deepEqual(attn.tensor(...viewsIn(attn, [bias])).data.slice(), bias);
            const nan = Float32Array.of(...query, NaN);
            assert.equal(attn.countNonfinite(...viewsIn(attn, [nan])), 1);
            attn.dispose();
        });
    });
}
