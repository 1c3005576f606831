/* The rules beyond plain attention, in both builds, against exact attention. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
    assertClose,
    exactAttention,
    largestError,
    libraries,
    makeProblem,
    numbers,
    swapHeadsAndRows,
} from "../support.mjs";

const SIZES = { batch: 2, heads: 4, kvHeads: 2, queries: 9, keys: 21, dim: 12, valueDim: 7 };
const { batch, heads, queries, keys } = SIZES;

const next = numbers(71);
const random = (count, factor = 2) => Float32Array.from({ length: count }, () => factor * next());
const bits = (count) =>
    Uint8Array.from({ length: count }, () => (next() > -0.4 ? 1 + (next() > 0) : 0));

const INPUTS = {
    bias: random(batch * heads * queries * keys),
    mask: bits(queries * keys),
    kvLengths: [21, 5],
    sinks: random(heads),
    slopes: random(heads, 0.5).map(Math.abs),
};

/** Element (b, h, i, j) of bias or mask. */
function gridAt(grid, b, h, i, j) {
    const data = grid.data ?? grid;
    const plain =
        data.length === queries * keys ? [1, 1, queries, keys] : [batch, heads, queries, keys];
    const shape = grid.shape ?? plain;
    const [x, y, z] = [b, h, i].map((index, axis) => (shape[axis] === 1 ? 0 : index));
    return data[((x * shape[1] + y) * shape[2] + z) * shape[3] + j];
}

/** Exact attention with a rule's options, bias and mask read through gridAt(). */
function exact(problem, options) {
    const grids = {};
    for (const name of ["bias", "mask"]) {
        const grid = options[name];
        if (grid) grids[name] = (...place) => gridAt(grid, ...place);
    }
    return exactAttention(problem, { ...options, ...grids });
}

const RULES = {
    "a past, top-left": { causal: "top-left", past: 6 },
    "a past, bottom-right with lengths": { causal: "bottom-right", kvLengths: INPUTS.kvLengths },
    "a past without causal": { past: 4, window: [3, 2] },
    "a window to the left": { causal: "top-left", past: 8, window: [5, -1] },
    "a window to both sides": { window: [2, 4] },
    "a window of one key": { window: [0, 0] },
    softcap: { softcap: 0.7 },
    "softcap and scale": { softcap: 3, scale: -0.9 },
    bias: { bias: INPUTS.bias },
    "bias of a row, with -Infinity": {
        bias: { data: random(keys).map((x, j) => (j % 3 ? x : -Infinity)), shape: [1, 1, 1, keys] },
    },
    "bias of a head": { bias: { data: random(heads * keys), shape: [1, heads, 1, keys] } },
    mask: { mask: INPUTS.mask },
    "mask of a batch": { mask: { data: bits(batch * keys), shape: [batch, 1, 1, keys] } },
    "a mask that hides all": { mask: new Uint8Array(queries * keys) },
    "key lengths": { kvLengths: new Int32Array([0, 13]) },
    sinks: { sinks: INPUTS.sinks },
    slopes: { slopes: INPUTS.slopes, past: 5 },
    everything: { causal: "bottom-right", window: [15, 0], softcap: 2, ...INPUTS },
};
const NAMES = Object.keys(INPUTS);
const MODES = ["raw", "capped", "masked", "weights"];

function split(rule) {
    const given = Object.fromEntries(Object.entries(rule).filter(([name]) => NAMES.includes(name)));
    const rules = Object.fromEntries(
        Object.entries(rule).filter(([name]) => !NAMES.includes(name)),
    );
    return { given, rules, inputs: Object.keys(given) };
}

for (const [build, attn] of libraries) {
    describe(`the ${build} build`, () => {
        const problem = makeProblem(SIZES, 31, 2);
        const { query, key, value } = problem;

        for (const [name, rule] of Object.entries(RULES)) {
            test(name, () => {
                const { given, rules, inputs } = split(rule);
                const expected = exact(problem, rule);
                for (const [stage, scoresMode] of MODES.entries()) {
                    const plan = attn.plan({ ...SIZES, ...rules, inputs, scoresMode });
                    const result = plan.run({
                        query,
                        key,
                        value,
                        ...given,
                        lse: true,
                        scores: true,
                    });
                    assertClose(result.out, expected.out, expected.outBound, "out");
                    assertClose(result.lse, expected.lse, expected.lseBound, "lse");
                    const [scores, scoresBound] = [expected.scores, expected.scoresBound];
                    assertClose(result.scores, scores[stage], scoresBound[stage], scoresMode);
                    const where = { batch: 1, head: 2, first: 3, count: 4 };
                    const rows = plan.weights({ query, key, ...given, ...where });
                    const start = ((1 * heads + 2) * queries + 3) * keys;
                    const [all, bounds] = [expected.weights, expected.weightsBound].map((array) =>
                        array.subarray(start, start + 4 * keys),
                    );
                    assertClose(rows, all, bounds, "weights");
                    const error = plan.error({ query, key, value, out: result.out, ...given });
                    const none = expected.out.every((x) => x === 0);
                    assert.ok(none ? !(error > 0) : error <= largestError(expected), `${error}`);
                    plan.dispose();
                }
                const quick = attn.attention(query, key, value, { ...SIZES, ...rules, ...given });
                assertClose(quick, expected.out, expected.outBound, "attention()");
            });
        }

        test("in the other layout", () => {
            const { given, rules } = split(RULES.everything);
            const swapped = attn.attention(
                swapHeadsAndRows(query, batch, heads, queries, SIZES.dim),
                swapHeadsAndRows(key, batch, SIZES.kvHeads, keys, SIZES.dim),
                swapHeadsAndRows(value, batch, SIZES.kvHeads, keys, SIZES.valueDim),
                { ...SIZES, ...rules, ...given, layout: "bnhd" },
            );
            const back = swapHeadsAndRows(swapped, batch, queries, heads, SIZES.valueDim);
            const expected = exact(problem, RULES.everything);
            assertClose(back, expected.out, expected.outBound, "out");
        });

        test("scores go where they are wanted, and nowhere else", () => {
            const plan = attn.plan(SIZES);
            const scores = new Float32Array(batch * heads * queries * keys);
            assert.equal(plan.run({ query, key, value, scores }).scores, scores);
            assert.equal(plan.run({ query, key, value }).scores, null);
            assert.deepEqual(plan.run({ query, key, value, scores: true }).scores, scores);
            plan.dispose();
        });

        test("what is masked does not leak, be it NaN", () => {
            const poisoned = { key: key.slice(), value: value.slice() };
            const last = (array) => array.subarray(array.length - (array.length / keys / 4) * 2);
            last(poisoned.key).fill(NaN);
            last(poisoned.value).fill(Infinity);
            const kvLengths = [keys, 3];
            const clean = attn.attention(query, key, value, { ...SIZES, kvLengths });
            const out = attn.attention(query, poisoned.key, poisoned.value, {
                ...SIZES,
                kvLengths,
            });
            assert.deepEqual(out, clean);
        });
    });
}
