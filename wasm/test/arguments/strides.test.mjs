/* Arrays whose elements stand anywhere: strides of query, key, value and out. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { libraries, makeProblem } from "../support.mjs";

const { sizes, ...arrays } = makeProblem(
    { batch: 2, heads: 4, kvHeads: 2, queries: 5, keys: 9, dim: 6, valueDim: 3 },
    41,
);

const SHAPES = {
    query: [2, 4, 5, 6],
    key: [2, 2, 9, 6],
    value: [2, 2, 9, 3],
    out: [2, 4, 5, 3],
};

/** Every place of a tensor of this shape, by strides. */
function* places([batches, heads, rows, columns], [b, h, i, c]) {
    for (let x = 0; x < batches; x++)
        for (let y = 0; y < heads; y++)
            for (let z = 0; z < rows; z++)
                for (let w = 0; w < columns; w++) yield x * b + y * h + z * i + w * c;
}

/** Strides for axes in this order in memory, with `gap` elements between rows of the fastest one. */
function strides(shape, order, gap) {
    const result = [];
    let step = 1;
    for (const axis of order) {
        result[axis] = step;
        step = step * shape[axis] + gap;
    }
    return result;
}

function room(shape, stride) {
    return 1 + shape.reduce((last, size, axis) => last + (size - 1) * stride[axis], 0);
}

function spread(array, shape, stride) {
    const result = new Float32Array(room(shape, stride) + 2).fill(NaN); // longer than it must be
    let from = 0;
    for (const at of places(shape, stride)) result[at] = array[from++];
    return result;
}

function gather(array, shape, stride) {
    return Float32Array.from([...places(shape, stride)], (at) => array[at]);
}

const ORDERS = { "columns side by side": [3, 1, 0, 2], "rows side by side": [2, 3, 1, 0] };

for (const [build, attn] of libraries) {
    describe(`strides in the ${build} build`, () => {
        const plan = attn.plan(sizes);
        const expected = plan.run(arrays).out;

        for (const [what, order] of Object.entries(ORDERS)) {
            test(`${what}, with gaps, which stay as they are`, async () => {
                const stride = {};
                for (const name in SHAPES) stride[name] = strides(SHAPES[name], order, 2);
                const given = { strides: stride };
                for (const name in arrays) {
                    given[name] = spread(arrays[name], SHAPES[name], stride[name]);
                }
                const empty = new Float32Array(room(SHAPES.out, stride.out) + 3).fill(-7);
                const check = (out) => {
                    assert.deepEqual(gather(out, SHAPES.out, stride.out), expected);
                    const inside = new Set(places(SHAPES.out, stride.out));
                    out.forEach((x, at) => inside.has(at) || assert.equal(x, -7, `out[${at}]`));
                };
                const out = empty.slice();
                assert.equal(plan.run({ ...given, out }).out, out);
                check(out);
                check((await plan.runAsync({ ...given, out: empty.slice() })).out);
                const { query, key, value } = given;
                const options = { ...sizes, strides: stride, out: empty.slice() };
                check(attn.attention(query, key, value, options));

                const read = { ...stride };
                delete read.out;
                assert.deepEqual(plan.run({ ...given, strides: read }).out, expected);
                assert.deepEqual(
                    plan.weights({ query, key, strides: { query: read.query, key: read.key } }),
                    plan.weights({ query: arrays.query, key: arrays.key }),
                );
                assert.equal(
                    plan.error({ ...given, out }),
                    plan.error({ ...arrays, out: expected }),
                );
            });
        }

        test("a stride of 0: the same for all heads", () => {
            const one = arrays.key.slice(0, 9 * 6);
            const all = new Float32Array(arrays.key.length);
            for (let at = 0; at < all.length; at += one.length) all.set(one, at);
            const stride = { key: [0, 0, 6, 1] };
            const { out } = plan.run({ ...arrays, key: one, strides: stride });
            assert.deepEqual(out, plan.run({ ...arrays, key: all }).out);
        });

        test("out may be where the query is", () => {
            const square = attn.plan({ heads: 2, queries: 4, keys: 4, dim: 5 });
            const { query, key, value } = makeProblem({ heads: 2, queries: 4, dim: 5 }, 7);
            const { out } = square.run({ query, key, value });
            const wide = strides([1, 2, 4, 5], [3, 2, 1, 0], 1);
            const both = spread(query, [1, 2, 4, 5], wide);
            square.run({ query: both, key, value, out: both, strides: { query: wide, out: wide } });
            assert.deepEqual(gather(both, [1, 2, 4, 5], wide), out);
            square.dispose();
        });

        test("elements of out that would overlap are refused, and nothing is written", () => {
            const overlapping = [
                [60, 15, 3, 0],
                [60, 14, 3, 1],
                [0, 15, 3, 1],
                [3, 15, 3, 1],
            ];
            const out = new Float32Array(200).fill(-7);
            for (const stride of overlapping) {
                assert.throws(() => plan.run({ ...arrays, out, strides: { out: stride } }), {
                    name: "AttnError",
                    code: "ATTN_ERROR_ARGUMENT",
                    message: `out: with strides (${stride.join(", ")}) elements may overlap`,
                });
            }
            assert.ok(out.every((x) => x === -7));
        });

        test("tensors of the module too", () => {
            const stride = strides(SHAPES.out, [3, 2, 1, 0], 1);
            const tensor = attn.tensor(new Float32Array(room(SHAPES.out, stride)).fill(-7));
            plan.run({ ...arrays, out: tensor, strides: { out: stride } });
            assert.deepEqual(gather(tensor.data, SHAPES.out, stride), expected);
            assert.equal(tensor.data[3], -7);
            tensor.dispose();
        });
    });
}
