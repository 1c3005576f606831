/* attention() makes a plan for another problem only: what counts plans stands between JavaScript and C. */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Attn } from "../../js/calls/attn.js";
import { init as initSmall } from "../../dist/softmax.js";
import { Heap } from "../../js/engine/heap.js";
import { Native } from "../../js/native/engine.js";
import { floats, makeProblem, moduleBytes, numbers } from "../support.mjs";

/** The functions of C, and how many plans they have made and ended. */
function counted(functions) {
    const plans = { made: 0, ended: 0 };
    const c = {
        ...functions,
        attnjs_plan_create(...args) {
            plans.made++;
            return functions.attnjs_plan_create(...args);
        },
        attnjs_plan_destroy(plan) {
            plans.ended++;
            functions.attnjs_plan_destroy(plan);
        },
    };
    return { c, plans };
}

async function exportsOf(build) {
    const { instance } = await WebAssembly.instantiate(await moduleBytes(build), {});
    instance.exports._initialize();
    return instance.exports;
}

const ENTRIES = {
    async simd() {
        const { c, plans } = counted(await exportsOf("simd"));
        return { attn: new Attn(new Heap(c)), plans };
    },
    async softmax() {
        const { instantiate } = WebAssembly;
        let plans;
        WebAssembly.instantiate = async (...given) => {
            const { exports } = await instantiate(...given);
            const counts = counted(exports);
            plans = counts.plans;
            return { exports: counts.c };
        };
        const attn = await initSmall({ source: await moduleBytes("softmax") });
        WebAssembly.instantiate = instantiate;
        return { attn, plans };
    },
    async native() {
        const { c, plans } = counted(createRequire(import.meta.url)("../../dist/libattn.node"));
        return { attn: new Attn(new Native(c, { threads: 2 })), plans };
    },
};

const [one, two] = [1, 2].map((seed) =>
    makeProblem({ heads: 4, kvHeads: 2, queries: 9, keys: 13, dim: 8 }, seed),
);
const { sizes } = one;
const next = numbers(3);
const bias = floats(9 * 13, next);
const mask = Uint8Array.from({ length: 9 * 13 }, (_, i) => i % 5);
const call = ({ query, key, value }, options) => [query, key, value, { ...sizes, ...options }];

for (const [name, open] of Object.entries(ENTRIES)) {
    const small = name === "softmax";

    test(`${name}: calls of the same problem share a plan, whatever the arrays`, async () => {
        const { attn, plans } = await open();
        const plan = attn.plan(sizes);
        const expected = [one, two].map(({ query, key, value }) => plan.run({ query, key, value }));
        plan.dispose();
        assert.deepEqual(plans, { made: 1, ended: 1 });
        for (let i = 0; i < 5; i++) {
            assert.deepEqual(attn.attention(...call(one)), expected[0].out);
            assert.deepEqual(attn.attention(...call(two)), expected[1].out);
            const { query, key, value } = two;
            const all = attn.attention({ query, key, value, ...sizes, lse: true });
            assert.deepEqual(all.out, expected[1].out);
            assert.equal(all.lse.length, 36);
        }
        assert.deepEqual(plans, { made: 2, ended: 1 });
        attn.dispose();
        assert.deepEqual(plans, { made: 2, ended: 2 });
        attn.dispose();
        assert.deepEqual(plans, { made: 2, ended: 2 });
        assert.throws(() => attn.attention(...call(one)), { code: "ATTN_ERROR_DISPOSED" });
    });

    test(`${name}: whatever else a problem says makes another plan`, async () => {
        const { attn, plans } = await open();
        const calls = [
            {},
            { causal: true },
            { causal: "bottom-right" },
            { scale: 0.5 },
            { past: 3, causal: true },
            { window: [3, 2] },
            { window: [2, 3] },
            { softcap: 5 },
            { bias },
            { mask },
            { bias, mask },
            { kvLengths: [7] },
            { sinks: floats(4, next) },
            { slopes: new Float32Array(4).fill(0.1) },
        ];
        if (!small) {
            calls.push({ backend: "linear" }, { backend: "sketch" }, { backend: "sparse" });
            for (const block of [2, 4]) calls.push({ backend: "sparse", params: { block } });
            calls.push({ backend: "sparse", params: { block: 4, global: 1 } });
        }
        for (const options of calls) {
            const made = plans.made;
            const [first, second] = [0, 1].map(() => attn.attention(...call(one, options)));
            assert.equal(plans.made, made + 1, JSON.stringify(options));
            assert.equal(plans.ended, made);
            assert.deepEqual(first, second);
            const { query, key, value } = one;
            const { bias, mask, kvLengths, sinks, slopes, ...rest } = options;
            const inputs = { bias, mask, kvLengths, sinks, slopes };
            const names = Object.keys(inputs).filter((input) => inputs[input]);
            const plan = attn.plan({ ...sizes, ...rest, inputs: names });
            assert.deepEqual(first, plan.run({ query, key, value, ...inputs }).out);
            plan.dispose();
            plans.made--;
            plans.ended--;
        }
        attn.dispose();
    });

    test(`${name}: a problem that is refused leaves the plan of the last`, async () => {
        const { attn, plans } = await open();
        const expected = attn.attention(...call(one));
        const refused = () => attn.attention(...call(one, { past: 3, causal: "bottom-right" }));
        assert.throws(refused, { code: "ATTN_ERROR_ARGUMENT" });
        assert.throws(refused, { code: "ATTN_ERROR_ARGUMENT" });
        assert.deepEqual(attn.attention(...call(one)), expected);
        assert.deepEqual(plans, { made: 3, ended: 0 });
        attn.dispose();
        assert.deepEqual(plans, { made: 3, ended: 1 });
    });
}

test("attentionAsync shares the plan, also while another run has it, and one that was replaced", async () => {
    for (const name of ["simd", "native"]) {
        const { attn, plans } = await ENTRIES[name]();
        const expected = [one, two].map((problem) => attn.attention(...call(problem)));
        const runs = Array.from({ length: 20 }, (_, i) =>
            attn.attentionAsync(...call([one, two][i % 2])),
        );
        assert.equal(plans.made, 1, name);
        const causal = attn.attentionAsync(...call(one, { causal: true })); // the first has not ended
        assert.equal(plans.made, 2, name);
        for (const [i, out] of (await Promise.all(runs)).entries()) {
            assert.deepEqual(out, expected[i % 2], name);
        }
        assert.deepEqual(await causal, attn.attention(...call(one, { causal: true })));
        assert.equal(plans.made, 2, name);
        const last = attn.attentionAsync(...call(one, { causal: true }));
        attn.dispose();
        assert.equal(plans.ended, 2, name);
        assert.equal((await last).length, expected[0].length);
    }
});
