/* What an unknown option's error says to do, and what calls say of arguments that are in the wrong form. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { init as initWorker } from "libattn/worker";
import { inEach, refuseAll } from "../refusal.mjs";
import { libraries, makeProblem } from "../support.mjs";

const { query, key, value, sizes } = makeProblem({ heads: 2, queries: 4, keys: 6, dim: 8 }, 1);
const attn = libraries.get("simd");
const plan = attn.plan(sizes);
const stream = attn.stream({ heads: 2, dim: 8, maxKeys: 9 });
const attend = (more) => () => attn.attention(query, key, value, { ...sizes, ...more });
const named = (more) => () => attn.attention({ query, key, value, ...sizes, ...more });
const planned = (more) => () => attn.plan({ ...sizes, ...more });
const run = (more) => () => plan.run({ query, key, value, ...more });

describe("an unknown option", () => {
    const near = (act, name) => [act, new RegExp(`\\(did you mean ${name}\\?\\)$`)];
    const cases = {
        "of the form with names": [
            attend({ lse: true }),
            /attention\({ query, key, value, lse }\)/,
        ],
        "of the form with names, too": [attend({ scores: true }), /, scores }\), with all in one/],
        "in other languages' spelling": near(named({ kv_heads: 2 }), "kvHeads"),
        "in capitals": near(run({ LSE: true }), "lse"),
        "with a word before it": near(named({ is_causal: true }), "causal"),
        "of PyTorch": near(named({ attn_mask: new Uint8Array(24) }), "mask"),
        "of the command line": near(planned({ dv: 8 }), "valueDim"),
        "by a letter": near(() => plan.run({ q: query, key, value }), "query"),
        "near one that is listed twice": near(run({ strides: { quer: [1, 1, 1, 1] } }), "query"),
        "of init()": [attend({ threads: 2 }), /threads is an option of init\(\)/],
        "of a backend": [
            planned({ backend: "sparse", block: 4 }),
            /go into params: { name: value }/,
        ],
        "of plan(), in a run": [run({ causal: true }), /causal is an option of plan\(\)/],
        "of plan(), called otherwise": [run({ isCausal: true }), /causal is an option of plan\(\)/],
        "of run(), in a plan": [planned({ lse: true }), /lse is an option of run\(\)/],
        "of run(), which is no array": [
            planned({ layout: "bnhd" }),
            /layout is an option of run\(\)/,
        ],
        "that a plan takes as a name": [
            planned({ mask: new Uint8Array(24) }),
            /inputs: \["mask"\]/,
        ],
        "that a call cannot await": [run({ signal: AbortSignal.abort() }), /runAsync\(\)/],
        "of stream()": [() => stream.append({ key, value, causal: true }), /option of stream\(\)/],
        "of append()": [() => stream.query({ query, key }), /key is an option of append\(\)/],
        "that a query always has": [() => stream.query(query, { lse: true }), /returns lse/],
        ...Object.fromEntries(
            ["bias", "mask", "kvLengths"].flatMap((name) => [
                [
                    `${name}, of a stream`,
                    [
                        () => attn.stream({ dim: 8, maxKeys: 9, [name]: true }),
                        new RegExp(`\\(streams take no ${name}; there are `),
                    ],
                ],
                [
                    `${name}, of a stream's query`,
                    [
                        () => stream.query({ query, [name]: value }),
                        new RegExp(`\\(streams take no ${name}; there are query, out, sinks, slo`),
                    ],
                ],
            ]),
        ),
        "that a stream counts": [
            () => attn.stream({ dim: 8, maxKeys: 9, past: 1 }),
            /maxKeys at most/,
        ],
        "that there is nowhere": [
            run({ zzz: 1 }),
            /unknown "zzz" \(there are query, key, value, out/,
        ],
    };
    refuseAll(Object.entries(cases).map(([name, [act, says]]) => [name, act, TypeError, says]));
});

inEach(({ build, attn, plan, run, quick }) => {
    refuseAll([
        [
            "a third of two objects",
            () => attn.attention(query, key, value, sizes, { causal: true }),
            TypeError,
            /attention takes query, key, value and one object of options, not 5 arguments/,
        ],
        [
            "arrays one after the other",
            () => plan.run(query, key, value),
            TypeError,
            /the options of run must be a plain object, not a Float32Array/,
        ],
        [
            "a list as a parameter",
            quick({ ...sizes, params: { precision: [1] } }),
            TypeError,
            /params.precision must be a number, a string or a boolean, not an Array/,
        ],
    ]);

    describe("results in one place", () => {
        const buffer = new Float32Array(2 * 4 * 8 + 8);
        const out = buffer.subarray(0, 64);
        refuseAll([
            [
                "all of lse",
                run({ out, lse: buffer.subarray(0, 8) }),
                "ARGUMENT",
                /out and lse share/,
            ],
            [
                "its end",
                run({ out, lse: buffer.subarray(63, 71) }),
                "ARGUMENT",
                /out and lse share/,
            ],
            [
                "scores in out",
                run({
                    out: new Float32Array(buffer.buffer, 0, 64),
                    scores: buffer.subarray(4, 52),
                }),
                "ARGUMENT",
                /out and scores share memory: each result needs its own/,
            ],
        ]);

        test("one tensor", () => {
            const tensor = attn.tensor(64);
            const act = () =>
                attn.attention({ query, key, value, ...sizes, out: tensor, scores: tensor });
            assert.throws(act, /scores has 64 elements|out and scores share memory/);
            const [narrow, one] = [{ queries: 8, dim: 1, valueDim: 1 }, attn.tensor(8)];
            const arrays = { query: query.subarray(0, 8), key: key.subarray(0, 8) };
            const call = { ...arrays, value: arrays.key, ...narrow, out: one, lse: one };
            assert.throws(() => attn.attention(call), /out and lse share memory/);
            const view = { ...call, lse: one.data };
            assert.throws(() => attn.attention(view), /out and lse share memory/, build);
            for (const made of [tensor, one]) made.dispose();
        });

        test("side by side they are", () => {
            const wanted = plan.run({ query, key, value, lse: true });
            const lse = buffer.subarray(64);
            plan.run({ query, key, value, out, lse });
            assert.deepEqual(out, wanted.out);
            assert.deepEqual(lse, wanted.lse);
        });
    });
});

describe("in a worker", () => {
    test("results in one place are refused", async () => {
        const remote = await initWorker();
        const buffer = new Float32Array(72);
        const call = { query, key, value, ...sizes, out: buffer.subarray(0, 64) };
        await assert.rejects(remote.attention({ ...call, lse: buffer.subarray(60, 68) }), {
            code: "ATTN_ERROR_ARGUMENT",
            message: "out and lse share memory: each result needs its own",
        });
        await remote.attention({ ...call, lse: buffer.subarray(64) });
        remote.dispose();
    });

    test("lists that are mostly holes, and objects that are in themselves", async () => {
        const remote = await initWorker();
        const inside = { block: 2 };
        inside.more = inside;
        const list = [1];
        list.push(list);
        for (const [options, says] of [
            [{ window: new Array(2 ** 32 - 1) }, /^window/],
            [{ inputs: new Array(2 ** 32 - 1) }, /^inputs\[0\] must be/],
            [{ window: list }, /^window\[1\] must be an integer/],
            [{ params: inside }, /^params\.more must be a number/],
        ]) {
            const expected = await attempt(() => attn.plan({ ...sizes, ...options }));
            const found = await attempt(() => remote.plan({ ...sizes, ...options }));
            assert.match(expected.message, says);
            assert.match(found.message, says);
            assert.equal(found.constructor, TypeError);
        }
        remote.dispose();
    });

    async function attempt(act) {
        try {
            await act();
        } catch (error) {
            return error;
        }
        throw new Error("nothing is refused");
    }
});
