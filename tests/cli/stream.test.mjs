// attn run --stream: tokens that arrive a few at a time give what a run over all of them gives.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { attention, arrays, inputFiles, random } from "./attention.mjs";
import { assertClose, assertRefused, attn, succeed, withFiles } from "./command.mjs";
import { npy, read } from "./npy.mjs";

const INPUTS = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"];
const SIZES = { B: 2, H: 4, Hkv: 2, n: 30, m: 41, d: 8, dv: 5 };
const SKETCH = 4; // features that are left of d

/**
 * How far two correct results may be apart: twice the bound of tests/support/exact.c, for logits of at most T, with
 * elements of Q, K and V within 1 and positive weights whose sum is 1; linear's (reference.c) is below that.
 * Sketches stretch |q| |k| by (1 + sqrt(d/s))^2 (Marchenko and Pastur, 1967).
 */
function allowed({ m, d }) {
    const largestLogit = Math.sqrt(d) * (1 + Math.sqrt(d / SKETCH)) ** 2;
    return 2 * 2 ** -23 * ((d + 12) * largestLogit + 2 * m + 24);
}

const subjects = [
    { name: "softmax", args: ["softmax"], lse: true },
    { name: "softmax in a window", args: ["softmax", "--window=6,-1", "--softcap=3"], lse: true },
    {
        name: "softmax with sinks and slopes",
        args: ["softmax", "--sinks=s.npy", "--alibi"],
        lse: true,
    },
    { name: "linear", args: ["linear"] },
    { name: "sparse", args: ["sparse", "--set", "block=4"], lse: true },
    { name: "sparse, automatic block", args: ["sparse"], lse: true },
    { name: "sketch", args: ["sketch", "--set", `size=${SKETCH}`], lse: true },
];

describe("attn run --stream", () => {
    for (const { name, args, lse } of subjects) {
        for (const chunk of [1, 7, 100]) {
            test(`${name}, ${chunk} at a time`, () => {
                const sinks = { "s.npy": npy([SIZES.H], [0.5, -1, 2, 0]) };
                withFiles({ ...inputFiles(SIZES, 4), ...sinks }, (folder) => {
                    const run = [...args, ...INPUTS, "--causal=bottom-right"];
                    const more = lse ? ["--lse", "l.npy"] : [];
                    const outputs = () =>
                        (lse ? ["o.npy", "l.npy"] : ["o.npy"]).map(
                            (file) => read(folder, file).data,
                        );
                    succeed(["run", ...run, "-o", "o.npy", ...more], folder);
                    const batch = outputs();
                    const stream = ["--stream", String(chunk)];
                    const report = succeed(
                        ["run", ...run, "-o", "o.npy", ...more, ...stream],
                        folder,
                    );
                    assert.match(report, /^stream +\d/m);
                    outputs().forEach((data, i) => {
                        const tolerance = Array(data.length).fill(allowed(SIZES));
                        assertClose(data, batch[i], tolerance, i ? "lse" : "out");
                    });
                });
            });
        }
    }

    test("top-left, and behind a past, as exact attention says", () => {
        const sizes = { ...SIZES, n: 12, m: 12 };
        const [q, k, v] = arrays(sizes);
        const exact = attention({ ...sizes, causal: "top-left" }, q, k, v);
        withFiles(inputFiles(sizes, 4), (folder) => {
            const run = ["run", "softmax", ...INPUTS, "--causal", "-o", "o.npy"];
            succeed([...run, "--stream=5"], folder);
            assertClose(read(folder, "o.npy").data, exact.out, exact.outBound, "out");
            const past = ["--past-k", "k.npy", "--past-v", "v.npy"];
            succeed([...run, ...past], folder);
            const batch = read(folder, "o.npy").data;
            succeed([...run, ...past, "--stream=5"], folder);
            const tolerance = Array(batch.length).fill(allowed({ ...sizes, m: 24 }));
            assertClose(read(folder, "o.npy").data, batch, tolerance, "out behind a past");
        });
    });

    // Keys with a single 1 or -1, decays that keep all or nothing, whole numbers: nothing is rounded, and each
    // way of adding gives the same.
    describe("linear's own arrays", () => {
        const { B, H, Hkv, m, d, dv } = { ...SIZES, m: 30 };
        const whole = (count, seed) => random(count, seed).map((x) => Math.round(4 * x));
        const places = random(B * Hkv * m, 5).map((x) => Math.floor((x + 1) * d));
        const key = places.flatMap((place) =>
            Array.from({ length: 2 * d }, (_, i) => Number(i === place))
                .slice(0, d)
                .map((one, i) => one - Number(i + d === place)),
        );
        const chances = (count, seed, rare, often) =>
            random(count, seed).map((x) => (x > 0.8 ? rare : often));
        const files = {
            "q.npy": npy([B, H, m, d], whole(B * H * m * d, 6)),
            "k.npy": npy([B, Hkv, m, d], key),
            "v.npy": npy([B, Hkv, m, dv], whole(B * Hkv * m * dv, 7)),
            "all.npy": npy([B, Hkv, m, d], chances(B * Hkv * m * d, 8, -Infinity, 0)),
            "tokens.npy": npy([m, 1], chances(m, 9, -Infinity, 0)),
            "one.npy": npy([Hkv, 1, 1], [0, -Infinity]),
            "beta.npy": npy([B, Hkv, m], chances(B * Hkv * m, 10, 0, 1)),
        };
        const gated = ["--set", "rule=gated", "--set", "normaliser=off"];
        for (const [name, args] of [
            ["a decay for each number", [...gated, "--input=decay=all.npy"]],
            ["a decay for each token", [...gated, "--input=decay=tokens.npy"]],
            ["a decay for each head", [...gated, "--input=decay=one.npy"]],
            ["beta", ["--set", "rule=delta", "--input=beta=beta.npy"]],
            [
                "both",
                ["--set=rule=gated_delta", "--input=beta=beta.npy", "--input=decay=tokens.npy"],
            ],
        ])
            for (const chunk of [1, 7, 100])
                test(`${name}, ${chunk} at a time`, () => {
                    withFiles(files, (folder) => {
                        const run = ["run", "linear", ...INPUTS, "--causal", ...args];
                        const outputs = (...more) => {
                            succeed(
                                [
                                    ...run,
                                    "--set=feature_map=lin",
                                    ...["-o", "o.npy", "-o", "state_out=s.npy", ...more],
                                ],
                                folder,
                            );
                            return ["o.npy", "s.npy"].map((file) => {
                                const { data, shape } = read(folder, file);
                                return { data: data.map((x) => x + 0), shape }; // no -0
                            });
                        };
                        const batch = outputs();
                        assert.ok(batch.every(({ data }) => data.some((x) => x !== 0)));
                        assert.deepEqual(outputs(`--stream=${chunk}`), batch);
                    });
                });

        test("refused: a state of keys that come behind the last query", () => {
            withFiles(
                { ...files, "q.npy": npy([B, H, 20, d], whole(B * H * 20 * d, 6)) },
                (folder) => {
                    const run = [
                        "run",
                        "linear",
                        ...INPUTS,
                        "--causal",
                        "--stream=7",
                        "-o",
                        "o.npy",
                    ];
                    succeed(run, folder);
                    assertRefused(
                        attn([...run, "--output=state_out=s.npy"], folder),
                        /output 'state_out' is of all 30 keys, and the last query comes with key 20/,
                    );
                },
            );
        });
    });

    const refused = [
        { args: ["--stream=5"], says: /--stream needs --causal/ },
        { args: ["--stream=0", "--causal"], says: /--stream/ },
        { args: ["--stream=5", "--causal", "--scores", "s.npy"], says: /--scores/ },
        { args: ["--stream=5", "--causal", "--weights", "s.npy"], says: /--weights/ },
        {
            args: ["--stream=5", "--causal", "--kv-lens=3,4"],
            says: /streams take no kv_lengths: they count their tokens/,
        },
    ];
    for (const { args, says } of refused) {
        test(`refused: ${args.join(" ")}`, () => {
            withFiles(inputFiles(SIZES, 4), (folder) => {
                const run = ["run", "softmax", ...INPUTS, "-o", "o.npy"];
                assertRefused(attn([...run, ...args], folder), says);
            });
        });
    }

    test("refused: queries before the first key, and a method that takes all tokens", () => {
        withFiles(inputFiles({ ...SIZES, n: 12, m: 4 }, 4), (folder) => {
            const run = ["run", "sketch", ...INPUTS, "-o", "o.npy", "--stream=3"];
            assertRefused(attn([...run, "--causal=bottom-right"], folder), /12 queries.*4 keys/);
        });
        withFiles(inputFiles(SIZES, 4), (folder) => {
            const run = ["run", "sketch", ...INPUTS, "-o", "o.npy", "--stream=3", "--causal"];
            const leverage = ["--set", "method=leverage", "--set", "size=4"];
            assertRefused(attn([...run, ...leverage], folder), /leverage/);
        });
    });
});
