/* Every call of the interface, in both builds and the addon, against exact attention in double precision. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
    assertClose,
    eachRow,
    exactAttention,
    largestError,
    largestProduct,
    libraries,
    makeProblem,
    relativeBound,
    sketchStretch,
    swapHeadsAndRows,
} from "../support.mjs";

const CASES = [
    { queries: 1, dim: 1 },
    { queries: 3, keys: 5, dim: 4 },
    { queries: 37, keys: 53, dim: 17, valueDim: 9 },
    { batch: 2, heads: 6, kvHeads: 3, queries: 19, keys: 31, dim: 24, valueDim: 33 },
    { batch: 1, heads: 2, queries: 130, keys: 257, dim: 64 },
];
const CORNERS = ["none", "top-left", "bottom-right"];

for (const [build, attn] of libraries) {
    describe(`the ${build} build`, () => {
        test("says what it is", () => {
            assert.match(attn.version, /^\d+\.\d+\.\d+$/);
            assert.equal(attn.build, build);
            assert.match(
                attn.tier,
                { relaxed: /^wasmrelaxed$/, scalar: /^scalar$/, native: /^\w+$/ }[build] ??
                    /^wasm128$/,
            );
        });

        test("describes its backends and their parameters", () => {
            const backends = attn.backends();
            assert.deepEqual(
                backends.map(({ id }) => id),
                ["softmax", "linear", "sparse", "sketch"],
            );
            for (const backend of backends) {
                for (const field of ["name", "version", "description", "reference", "origin"]) {
                    assert.ok(backend[field].length > 0, `${backend.id}.${field}`);
                }
                assert.ok(Array.isArray(backend.features));
                for (const param of backend.params) checkParam(param);
            }
            const block = backends
                .find(({ id }) => id === "sparse")
                .params.find((p) => p.name === "block");
            assert.equal(block.type, "integer");
            assert.equal(typeof block.automatic, "string");
        });

        for (const [index, sizes] of CASES.entries()) {
            for (const causal of CORNERS) {
                test(`softmax ${JSON.stringify(sizes)}, causal ${causal}`, () => {
                    const problem = makeProblem(sizes, index + 1, 2);
                    const exact = exactAttention(problem, { causal });
                    const plan = attn.plan({ ...problem.sizes, causal });
                    const { query, key, value } = problem;
                    const { out, lse, degenerateRows } = plan.run({ query, key, value, lse: true });
                    assertClose(out, exact.out, exact.outBound, "out");
                    assertClose(lse, exact.lse, exact.lseBound, "lse");
                    assert.equal(degenerateRows, 0);
                    assertWeights(plan, problem, exact);
                    plan.dispose();
                });
            }
        }

        test("attention() is run() of a plan, with the sizes inferred", () => {
            const problem = makeProblem(
                { batch: 2, heads: 4, kvHeads: 2, queries: 7, keys: 9, dim: 8, valueDim: 5 },
                11,
            );
            const { query, key, value, sizes } = problem;
            const { batch, heads, kvHeads } = sizes;
            const plan = attn.plan(sizes);
            const expected = plan.run({ query, key, value }).out;
            plan.dispose();
            const shared = { batch, heads, kvHeads, valueDim: 5 };
            assert.deepEqual(attn.attention(query, key, value, { ...shared, dim: 8 }), expected);
            assert.deepEqual(
                attn.attention(query, key, value, { ...shared, queries: 7 }),
                expected,
            );
            assert.deepEqual(attn.attention(query, key, value, { ...shared, keys: 9 }), expected);
            assert.deepEqual(attn.attention(query, key, value, sizes), expected);
            const out = new Float32Array(expected.length);
            assert.equal(attn.attention(query, key, value, { ...sizes, out }), out);
            assert.deepEqual(out, expected);
        });

        test("causal: true is the top left corner", () => {
            const { query, key, value, sizes } = makeProblem({ queries: 6, keys: 8, dim: 4 }, 12);
            const run = (causal) => attn.attention(query, key, value, { ...sizes, causal });
            assert.deepEqual(run(true), run("top-left"));
            assert.deepEqual(run(false), run("none"));
            assert.notDeepEqual(run(true), run("bottom-right"));
        });

        test("scale", () => {
            const problem = makeProblem({ queries: 9, keys: 11, dim: 6 }, 13);
            const { query, key, value, sizes } = problem;
            for (const scale of [0, 1, -0.25, 3.5]) {
                const exact = exactAttention(problem, { scale });
                const out = attn.attention(query, key, value, { ...sizes, scale });
                assertClose(out, exact.out, exact.outBound, `out at scale ${scale}`);
            }
        });

        test("both layouts give the same numbers, and lse the same order", () => {
            const { query, key, value, sizes } = makeProblem(
                { batch: 2, heads: 4, kvHeads: 2, queries: 5, keys: 7, dim: 8, valueDim: 3 },
                14,
            );
            const { batch, heads, kvHeads, queries, keys, dim, valueDim } = sizes;
            for (const backend of attn.backends()) {
                const lse = backend.features.includes("lse");
                const plan = attn.plan({ ...sizes, backend: backend.id });
                const straight = plan.run({ query, key, value, lse });
                const swapped = {
                    query: swapHeadsAndRows(query, batch, heads, queries, dim),
                    key: swapHeadsAndRows(key, batch, kvHeads, keys, dim),
                };
                const swappedValue = swapHeadsAndRows(value, batch, kvHeads, keys, valueDim);
                const other = plan.run({ ...swapped, value: swappedValue, lse, layout: "bnhd" });
                const back = swapHeadsAndRows(other.out, batch, queries, heads, valueDim);
                assert.deepEqual(back, straight.out, backend.id);
                assert.deepEqual(other.lse, straight.lse, backend.id);
                const which = { batch: 1, head: 3, first: 2, count: 2 };
                assert.deepEqual(
                    plan.weights({ ...swapped, ...which, layout: "bnhd" }),
                    plan.weights({ query, key, ...which }),
                    backend.id,
                );
                assert.equal(
                    plan.error({ ...swapped, value: swappedValue, out: other.out, layout: "bnhd" }),
                    plan.error({ query, key, value, out: straight.out }),
                    backend.id,
                );
                plan.dispose();
            }
        });

        test("out and lse go where they are told, also over an input", () => {
            const { query, key, value, sizes } = makeProblem({ heads: 2, queries: 9, dim: 8 }, 15);
            const plan = attn.plan(sizes);
            const expected = plan.run({ query, key, value, lse: true });
            const out = value.slice();
            const lse = new Float32Array(18);
            const result = plan.run({ query, key, value: out, out, lse });
            assert.equal(result.out, out);
            assert.equal(result.lse, lse);
            assert.deepEqual(out, expected.out);
            assert.deepEqual(lse, expected.lse);
            assert.equal(plan.run({ query, key, value }).lse, null);
            plan.dispose();
        });

        test("arrays of shared memory, and views into the middle of a buffer", () => {
            const { query, key, value, sizes } = makeProblem({ queries: 9, dim: 8 }, 16);
            const expected = attn.attention(query, key, value, sizes);
            const shared = (array) => {
                const copy = new Float32Array(new SharedArrayBuffer(array.byteLength + 12), 12);
                copy.set(array);
                return copy;
            };
            const out = shared(expected.slice().fill(7));
            attn.attention(shared(query), shared(key), shared(value), { ...sizes, out });
            assert.deepEqual(out.slice(), expected);
        });

        test("weights times value is the output, for every backend", () => {
            const problem = makeProblem(
                { heads: 2, kvHeads: 1, queries: 21, keys: 40, dim: 16, valueDim: 6 },
                17,
            );
            for (const { id } of attn.backends()) assertWeightsGiveOutput(attn, id, problem);
        });

        test("cost, facts, kernel and workspace", () => {
            const sizes = { heads: 2, queries: 64, dim: 16 };
            for (const { id } of attn.backends()) {
                const plan = attn.plan({ ...sizes, backend: id });
                assert.equal(plan.backend, id);
                assert.deepEqual(plan.sizes, {
                    batch: 1,
                    heads: 2,
                    kvHeads: 2,
                    queries: 64,
                    keys: 64,
                    dim: 16,
                    valueDim: 16,
                });
                assert.ok(plan.kernel.length > 0);
                assert.ok(Number.isInteger(plan.workspaceBytes) && plan.workspaceBytes >= 0);
                assert.ok(plan.cost.flops > 0 && plan.cost.pairs > 0 && plan.cost.form.length > 0);
                assert.ok(plan.cost.computed === 0 || plan.cost.computed >= plan.cost.pairs);
                assert.equal(plan.cost.bytes, 4 * 4 * 2 * 64 * 16); // q, k, v and out, each once
                for (const fact of plan.facts)
                    assert.ok(fact.name && fact.label && "value" in fact);
                plan.dispose();
            }
            const plan = attn.plan({ ...sizes, backend: "sparse" });
            assert.equal(plan.facts.find(({ name }) => name === "block").value, 8); // 2^floor(log2 sqrt 64)
            assert.ok(plan.cost.computed > plan.cost.pairs); // rows of a block have bands of their own
            plan.dispose();
            const open = attn.plan({ ...sizes, backend: "sparse", params: { pattern: "lsh" } });
            const { flops, pairs, computed } = open.cost;
            assert.deepEqual([flops, pairs, computed], [null, null, null]);
            open.dispose();
        });

        test("params reach the backend as numbers, strings and booleans", () => {
            const block = (params) => {
                const plan = attn.plan({ backend: "sparse", queries: 64, dim: 4, params });
                const { value } = plan.facts.find(({ name }) => name === "block");
                plan.dispose();
                return value;
            };
            assert.equal(block({ block: 16 }), 16);
            assert.equal(block({ block: "32" }), 32);
            assert.equal(block({ block: "1.6e1" }), 16);
            assert.equal(block({ block: undefined }), 8);
        });

        test("error() is the relative error in the Frobenius norm", () => {
            const problem = makeProblem({ heads: 2, queries: 20, keys: 24, dim: 8 }, 18);
            const { query, key, value, sizes } = problem;
            const exact = exactAttention(problem);
            const plan = attn.plan(sizes);
            const wrong = Float32Array.from(exact.out, (x, i) => x + ((i % 7) - 3) / 50);
            const norm = (array) => Math.sqrt(array.reduce((sum, x) => sum + x * x, 0));
            const expected = norm(exact.out.map((x, i) => wrong[i] - x)) / norm(exact.out);
            const actual = plan.error({ query, key, value, out: wrong });
            // Sums of d products, m terms and a few more (exact.c), in doubles, on both sides.
            const doubles = 4 * (8 + 24 + 16) * 2 ** -53;
            assertClose([actual], [expected], doubles * (1 + expected), "error");
            assert.ok(plan.error({ query, key, value, out: wrong, stride: 3 }) > 0);
            assert.ok(
                plan.error({ query, key, value, out: plan.run({ query, key, value }).out }) <=
                    largestError(exact),
            );
            const hole = wrong.with(5, NaN);
            assert.ok(Number.isNaN(plan.error({ query, key, value, out: hole })));
            plan.dispose();
        });

        test("the linear backend counts rows that have no normaliser or are not finite", () => {
            const plan = attn.plan({
                backend: "linear",
                queries: 2,
                keys: 2,
                dim: 1,
                params: { feature_map: "lin" },
            });
            const query = Float32Array.of(1, 1);
            const key = Float32Array.of(1, -1);
            assert.equal(plan.run({ query, key, value: query }).degenerateRows, 2);
            const value = Float32Array.of(1, NaN);
            assert.equal(plan.run({ query, key: query, value: query }).degenerateRows, 0);
            assert.equal(plan.run({ query, key: query, value }).degenerateRows, 2);
            plan.dispose();
        });

        test("NaN and infinities are counted, and computed with", () => {
            assert.equal(attn.countNonfinite(Float32Array.of(1, NaN, -Infinity, 3, Infinity)), 3);
            assert.equal(attn.countNonfinite(new Float32Array(0)), 0);
            const { query, key, value, sizes } = makeProblem({ queries: 4, dim: 4 }, 19);
            value[0] = NaN;
            const out = attn.attention(query, key, value, sizes);
            assert.equal(attn.countNonfinite(out), 4); // column 0 of each row
        });
    });
}

function checkParam(param) {
    assert.ok(["integer", "number", "boolean", "choice"].includes(param.type), param.type);
    assert.ok(param.name && param.label && param.help, param.name);
    assert.ok(param.min <= param.max, param.name);
    if (param.type === "choice") {
        assert.ok(param.choices.includes(param.default), param.name);
    } else if (param.type === "boolean") {
        assert.equal(typeof param.default, "boolean");
    } else {
        assert.ok(param.min <= param.default && param.default <= param.max, param.name);
    }
}

function assertWeights(plan, { sizes, query, key }, exact) {
    const { heads, queries, keys } = sizes;
    const [batch, head] = [sizes.batch - 1, heads - 1];
    const first = Math.floor(queries / 2);
    const rows = plan.weights({ query, key, batch, head, first });
    const start = ((batch * heads + head) * queries + first) * keys;
    const [expected, bounds] = [exact.weights, exact.weightsBound].map((array) =>
        array.subarray(start, start + rows.length),
    );
    assert.equal(rows.length, (queries - first) * keys);
    assertClose(rows, expected, bounds, "weights");
}

function assertWeightsGiveOutput(attn, backend, { sizes, query, key, value }) {
    const { heads, queries, keys, valueDim } = sizes;
    const plan = attn.plan({ ...sizes, backend });
    const { out } = plan.run({ query, key, value });
    const rows = Array.from({ length: heads }, (_, head) => plan.weights({ query, key, head }));
    const stretch = backend === "sketch" ? sketchStretch(plan) : 1;
    plan.dispose();
    const expected = new Float64Array(out.length);
    const tolerance = new Float64Array(out.length);
    // Both sides are float32: twice the bound.
    const bound = 2 * relativeBound(sizes, stretch * largestProduct(sizes, query, key));
    eachRow(sizes, (b, h, i, at) => {
        for (let j = 0; j < keys; j++) {
            for (let c = 0; c < valueDim; c++) {
                const term = rows[h][i * keys + j] * value[at.value + j * valueDim + c];
                expected[at.row * valueDim + c] += term;
                tolerance[at.row * valueDim + c] += bound * Math.abs(term);
            }
        }
    });
    assertClose(out, expected, tolerance, `${backend}: out`);
    assert.equal(rows[0].length, queries * keys);
}
