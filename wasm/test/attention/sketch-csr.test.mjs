/* A sparse X as arrays of the backend sketch. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { init as initWorker } from "libattn/worker";
import { libraries } from "../support.mjs";

const sizes = { batch: 2, heads: 3, queries: 5, dim: 40, valueDim: 4 };
const rows = sizes.batch * sizes.heads * sizes.queries;
// Small whole numbers: no sum of a sketch to 16 features by AMS is rounded, so that both forms give the same bits.
const x = Float32Array.from({ length: rows * sizes.dim }, (_, i) =>
    i % 3 && (i + 1) % sizes.dim ? 0 : ((i * 7) % 5) - 2,
);
const value = Float32Array.from({ length: rows * sizes.valueDim }, (_, i) => Math.sin(i));
const csr = { xIndptr: [0], xIndices: [], xData: [] };
for (let r = 0; r < rows; r++) {
    for (let j = 0; j < sizes.dim; j++) {
        const element = x[r * sizes.dim + j];
        if (element === 0) continue;
        csr.xIndices.push(j);
        csr.xData.push(element);
    }
    csr.xIndptr.push(csr.xData.length);
}
csr.xData = Float32Array.from(csr.xData);
const inputs = ["xIndptr", "xIndices", "xData"];
const params = { method: "ams", size: 16, seed: 3 };
const given = (more = {}) => ({
    ...{ backend: "sketch", ...sizes, inputs },
    params: { ...params, elements: csr.xData.length },
    ...more,
});
const arrays = { ...csr, value, lse: true };
const refused = (call, pattern) => assert.throws(call, (error) => pattern.test(error.message));

for (const [name, attn] of libraries) {
    describe(`sketch of a sparse X, ${name}`, () => {
        const sparse = (more) => attn.plan(given(more));
        const dense = attn.plan({ backend: "sketch", ...sizes, params });
        const wanted = dense.run({ query: x, key: x, value, lse: true });

        test("is what that of a dense X is", async () => {
            const plan = sparse();
            for (const xIndptr of [csr.xIndptr, Int32Array.from(csr.xIndptr)]) {
                const results = [plan.run({ ...arrays, xIndptr })];
                if (plan.runAsync) results.push(await plan.runAsync({ ...arrays, xIndptr }));
                for (const result of results) {
                    assert.deepEqual(result.out, wanted.out);
                    assert.deepEqual(result.lse, wanted.lse);
                }
            }
            const which = { batch: 1, head: 2, first: 1, count: 3 };
            assert.deepEqual(
                plan.weights({ ...csr, ...which }),
                dense.weights({ query: x, key: x, ...which }),
            );
            plan.dispose();
        });

        test("says for what its arrays stand", () => {
            const { arrays } = attn.backends().find(({ id }) => id === "sketch");
            for (const { name, own, replaces } of arrays)
                assert.deepEqual(replaces, own ? ["query", "key"] : [], name);
        });

        test("refuses what is none", () => {
            const plan = sparse();
            const run = (more) => plan.run({ ...csr, value, ...more });
            refused(() => run({ query: x }), /^query: given, but other inputs stand/);
            refused(() => run({ xData: undefined }), /xData is missing/);
            refused(() => run({ xData: csr.xData.subarray(1) }), /xData has \d+ elements/);
            refused(() => run({ xIndptr: [1, ...csr.xIndptr.slice(1)] }), /begins with 1/);
            refused(() => run({ xIndices: [40, ...csr.xIndices.slice(1)] }), /must be 0 to 39/);
            refused(() => run({ xIndices: [-1, ...csr.xIndices.slice(1)] }), /column -1/);
            refused(() => run({ xIndices: [0.5, ...csr.xIndices.slice(1)] }), /an integer/);
            refused(
                () => run({ xData: csr.xData.map((e, i) => (i ? e : NaN)) }),
                /element 0 is NaN/,
            );
            refused(() => plan.error({ ...csr, value, out: wanted.out }), /query is missing/);
            plan.dispose();
            refused(() => sparse({ params }), /'elements' has to be/);
            refused(() => sparse({ inputs: ["xData"] }), /come together/);
            refused(() => sparse({ keys: 6 }), /X stands for queries and keys/);
            refused(
                () => attn.stream({ backend: "sketch", dim: 4, maxKeys: 3, inputs }),
                /no input in place/,
            );
            refused(() => sparse({ gradients: true }), /a sparse X has no gradients/);
        });

        test("dense queries and keys are needed where the plan names no such input", () => {
            refused(() => dense.run({ value }), /query is missing/);
            refused(
                () => dense.run({ query: x, key: x, ...csr, value }),
                /xIndptr is given, but not among/,
            );
        });
    });
}

test("a sparse X goes to a worker", async () => {
    const attn = await initWorker({ build: "simd" });
    const plan = await attn.plan(given());
    const { out } = await plan.run(arrays);
    assert.deepEqual(out, libraries.get("simd").plan(given()).run(arrays).out);
    await attn.dispose();
});
