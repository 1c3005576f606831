/* statistics(): what the rows of plan.weights() say, in all builds, the addon and a worker. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { statistics } from "libattn/view/words";
import { init } from "libattn/worker";
import { libraries, makeProblem } from "../support.mjs";

const problem = makeProblem({ batch: 2, heads: 4, kvHeads: 2, queries: 140, keys: 61, dim: 8 }, 5);
const { query, key, sizes } = problem;
const PLANS = {
    softmax: {},
    "softmax, causal": { causal: true },
    linear: { backend: "linear", causal: "bottom-right" },
    "linear, signed weights": { backend: "linear", params: { feature_map: "lin" } },
    sparse: { backend: "sparse", params: { block: 8 } },
    sketch: { backend: "sketch" },
};
const WHICH = { batch: 1, head: 3, first: 2, count: 133, top: 5 };

/** Entropy and distance of a row of weights; NaN where they are no shares. */
function spreadOf(row, position) {
    let total = 0;
    for (const weight of row) total += weight >= 0 ? weight : NaN;
    let [entropy, distance] = total > 0 ? [0, 0] : [NaN, NaN];
    row.forEach((weight, j) => {
        const share = weight / total;
        if (share > 0) entropy -= share * Math.log2(share);
        distance += share * Math.abs(position - j);
    });
    return { entropy, distance };
}

function assertNear(actual, wanted) {
    if (Number.isNaN(wanted)) assert.ok(Number.isNaN(actual), `${actual} for NaN`);
    else assert.ok(Math.abs(actual - wanted) <= 2e-5 * Math.max(1, wanted), `${actual} ${wanted}`);
}

function check(found, weights, { first, count, top }, position) {
    const { keys } = sizes;
    const mass = new Float64Array(keys);
    for (let r = 0; r < count; r++) {
        const row = weights.subarray(r * keys, (r + 1) * keys);
        const { entropy, distance } = spreadOf(row, first + r + position);
        assertNear(found.entropy[r], entropy);
        assertNear(found.distance[r], distance);
        row.forEach((weight, j) => (mass[j] += weight));
        const order = [...row.keys()].filter((j) => row[j] > 0);
        order.sort((a, b) => row[b] - row[a] || a - b);
        for (let k = 0; k < top; k++) {
            assert.equal(found.topKeys[r * top + k], order[k] ?? -1);
            assert.equal(found.topWeights[r * top + k], row[order[k]] ?? 0);
        }
    }
    assert.deepEqual(found.columnMass, mass);
}

for (const [build, attn] of libraries)
    describe(`statistics, ${build}`, () => {
        for (const [name, options] of Object.entries(PLANS))
            test(name, async () => {
                const plan = attn.plan({ ...sizes, ...options });
                const { top, ...rows } = WHICH;
                const weights = plan.weights({ query, key, ...rows });
                const position = options.causal === "bottom-right" ? sizes.keys - sizes.queries : 0;
                const found = await statistics(plan, { query, key, position, ...WHICH });
                check(found, weights, { ...rows, top }, position);
                plan.dispose();
            });

        test("all rows and eight keys by default, or all that there are", async () => {
            const plan = attn.plan({ queries: 3, keys: 5, dim: 2 });
            const x = new Float32Array(10);
            const { entropy, topKeys } = await statistics(plan, { query: x.subarray(4), key: x });
            assert.equal(topKeys.length, 15);
            entropy.forEach((bits) => assertNear(bits, Math.log2(5)));
            const wide = attn.plan({ queries: 1, keys: 20, dim: 1 });
            const one = { query: Float32Array.of(1), key: new Float32Array(20) };
            assert.deepEqual([...(await statistics(wide, one)).topKeys], [0, 1, 2, 3, 4, 5, 6, 7]);
            assert.equal((await statistics(wide, { ...one, top: 0 })).topKeys.length, 0);
            for (const done of [plan, wide]) done.dispose();
        });

        test("what is wrong is said", async () => {
            const plan = attn.plan({ queries: 3, keys: 5, dim: 2 });
            const x = new Float32Array(10);
            const wrong = (given, says) =>
                assert.rejects(statistics(plan, { query: x.subarray(4), key: x, ...given }), says);
            await wrong({ top: 6 }, /top: 6 is outside 0..5/);
            await wrong({ head: 1 }, /head: 1 is outside 0..0/);
            await wrong({ first: 2, count: 2 }, /count: 2 is outside 1..1/);
            await wrong({ tops: 2 }, /tops/);
            await wrong({ key: undefined }, /key/);
            plan.dispose();
        });
    });

test("a worker has the same", async () => {
    const attn = await init({ build: "simd" });
    const plan = await attn.plan(sizes);
    const local = libraries.get("simd").plan(sizes);
    assert.deepEqual(
        await statistics(plan, { query, key, ...WHICH }),
        await statistics(local, { query, key, ...WHICH }),
    );
    attn.dispose();
});
