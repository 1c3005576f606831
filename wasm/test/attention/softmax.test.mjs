/* libattn/softmax: the same results as the whole library, and clear words for what it has not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { AttnError, init } from "libattn/softmax";
import { init as initSmall } from "../../dist/softmax.js";
import { shareOf } from "../share.mjs";
import { assertClose, exactAttention, libraries, makeProblem, moduleBytes } from "../support.mjs";

const attn = await init();
const CASES = [
    [{ queries: 1, dim: 1 }, "none"],
    [{ heads: 2, queries: 1, keys: 700, dim: 64 }, "bottom-right"], // what the other builds decode
    [{ batch: 2, heads: 6, kvHeads: 3, queries: 19, keys: 31, dim: 24, valueDim: 33 }, "top-left"],
    [{ heads: 2, queries: 130, keys: 257, dim: 64 }, "bottom-right"],
];

for (const [sizes, causal] of CASES) {
    test(`exact attention: ${JSON.stringify(sizes)}, causal ${causal}`, () => {
        const problem = makeProblem(sizes, 1, 2);
        const exact = exactAttention(problem, { causal });
        const plan = attn.plan({ ...problem.sizes, causal });
        const { query, key, value } = problem;
        const { out, lse } = plan.run({ query, key, value, lse: true });
        assertClose(out, exact.out, exact.outBound, "out");
        assertClose(lse, exact.lse, exact.lseBound, "lse");
        plan.dispose();
        assert.throws(() => plan.run({ query, key, value }), { code: "ATTN_ERROR_DISPOSED" });
    });
}

test("every rule, as the whole library has it", () => {
    const { query, key, value, sizes } = makeProblem(
        { heads: 2, queries: 33, keys: 70, dim: 12 },
        2,
    );
    const bias = Float32Array.from({ length: 33 * 70 }, (_, i) => Math.sin(i));
    const mask = Uint8Array.from({ length: 33 * 70 }, (_, i) => Number(i % 5 > 0));
    const rules = {
        ...{ causal: "top-left", past: 20, window: [30, 0], softcap: 5, scale: 0.5 },
        kvLengths: [61],
        sinks: Float32Array.of(0.5, -1),
        slopes: Float32Array.of(0.1, 0.2),
    };
    const exact = exactAttention(
        { sizes, query, key, value },
        {
            ...rules,
            bias: (b, h, i, j) => bias[i * 70 + j],
            mask: (b, h, i, j) => mask[i * 70 + j],
        },
    );
    for (const library of [attn, libraries.get("simd")]) {
        const out = library.attention(query, key, value, { ...sizes, ...rules, bias, mask });
        assertClose(out, exact.out, exact.outBound, "out");
    }
});

test("says what it is, and what it has not", () => {
    assert.equal(attn.build, "simd");
    assert.equal(attn.tier, "wasm128");
    assert.throws(() => attn.plan({ queries: 2, dim: 0 }), AttnError);
    const x = new Float32Array(4);
    const plan = attn.plan({ queries: 2, dim: 2 });
    const more = {
        backend: "softmax",
        params: {},
        dtype: "f32",
        kvDtype: "f32",
        scoresMode: "raw",
    };
    const call = { query: x, key: x, value: x, dim: 2 };
    const calls = [
        [(options) => attn.plan({ queries: 2, dim: 2, ...options }), { ...more, signal: null }],
        [(options) => attn.attention(x, x, x, { dim: 2, ...options }), { ...more, keyScales: x }],
        [(options) => attn.attention({ ...call, ...options }), { ...more, scores: true }],
        [
            (options) => plan.run({ query: x, key: x, value: x, ...options }),
            { keyScales: x, valueScales: x, scores: true },
        ],
    ];
    for (const [act, names] of calls) {
        act({});
        for (const name in names) {
            const unknown = new RegExp(`: unknown "${name}" \\(there are (?!.*\\b${name}\\b)`);
            assert.throws(() => act({ [name]: names[name] }), unknown);
        }
    }
});

test("the file for browsers computes the same, and has no name for what it has not", async () => {
    const small = await initSmall({ source: await moduleBytes("softmax") });
    const { query, key, value, sizes } = makeProblem({ heads: 2, queries: 33, dim: 12 }, 3);
    const options = { ...sizes, causal: true, sinks: Float32Array.of(0.5, -1) };
    const out = small.attention(query, key, value, options);
    assert.deepEqual(out, attn.attention(query, key, value, options));
    for (const name of ["backend", "params", "dtype", "keyScales", "signal"]) {
        const wrong = { ...options, [name]: "f16" };
        assert.throws(() => small.attention(query, key, value, wrong), TypeError, name);
    }
    small.dispose();
});

test("a softcap below 0 is named", () => {
    for (const softcap of [-1.5, -1e-3])
        assert.throws(() => attn.plan({ queries: 1, dim: 1, softcap }), {
            code: "ATTN_ERROR_RANGE",
            message: `softcap is ${softcap}, must be 0 or more`,
        });
});

test("10000 plans, runs and disposes, and then its own", async () => {
    const one = Float32Array.of(1);
    const other = await init();
    for (let i = 0; i < shareOf(10000); i++) {
        const plan = other.plan({ queries: 1, dim: 1 });
        assert.equal(plan.run({ query: one, key: one, value: one }).out[0], 1);
        plan.dispose();
    }
    other.dispose();
    assert.throws(() => other.plan({ queries: 1, dim: 1 }), { code: "ATTN_ERROR_DISPOSED" });
});
