// attn run: every result is checked against exact attention.

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";

import { attention, arrays, inputFiles, leading, random } from "./attention.mjs";
import { assertClose, attn, contents, isWasi, plugin, succeed, withFiles } from "./command.mjs";
import { npy, read } from "./npy.mjs";

const INPUTS = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"];
const noPlugin = (!plugin || isWasi) && "no plugin to load";

describe("attn run softmax", () => {
    const cases = [
        { name: "self-attention", rank: 2, sizes: { n: 37, d: 16 } },
        { name: "cross-attention, dv != d", rank: 3, sizes: { H: 2, n: 5, m: 41, d: 24, dv: 7 } },
        { name: "batches", rank: 4, sizes: { B: 2, H: 3, n: 9, m: 17, d: 8 } },
        { name: "grouped heads", rank: 3, sizes: { H: 6, Hkv: 2, n: 7, m: 19, d: 8 } },
        { name: "one query, one key", rank: 2, sizes: { n: 1, d: 2 } },
        { name: "float64", rank: 3, sizes: { H: 2, n: 11, d: 8 }, file: { descr: "<f8" } },
        {
            name: "Fortran order",
            rank: 4,
            sizes: { B: 2, H: 3, n: 5, m: 7, d: 4 },
            file: { fortran: true },
        },
        {
            name: "float64 in Fortran order",
            rank: 2,
            sizes: { n: 5, m: 9, d: 4 },
            file: { descr: "<f8", fortran: true },
        },
        { name: "version 2.0", rank: 2, sizes: { n: 3, d: 4 }, file: { version: 2 } },
        { name: "version 3.0", rank: 2, sizes: { n: 3, d: 4 }, file: { version: 3 } },
        {
            name: "--scale",
            rank: 2,
            sizes: { n: 12, d: 8, scale: 0.75 },
            args: ["--scale", "0.75"],
        },
        {
            name: "--causal",
            rank: 3,
            sizes: { H: 2, n: 13, d: 8, causal: "top-left" },
            args: ["--causal"],
        },
        {
            name: "--causal=bottom-right",
            rank: 2,
            sizes: { n: 6, m: 15, d: 8, causal: "bottom-right" },
            args: ["--causal=bottom-right"],
        },
        {
            name: "rows without a key",
            rank: 2,
            sizes: { n: 9, m: 4, d: 8, causal: "bottom-right" },
            args: ["--causal=bottom-right"],
        },
        {
            name: "--cpu=scalar",
            rank: 2,
            sizes: { n: 33, d: 20 },
            args: ["--cpu", "scalar"],
            native: true,
        },
        {
            name: "--threads=2",
            rank: 3,
            sizes: { H: 4, n: 33, d: 8 },
            args: ["--threads=2"],
            native: true,
        },
    ];
    for (const { name, rank, sizes, file, args = [], native } of cases) {
        test(name, { skip: native && isWasi && "native only" }, () => {
            withFiles(inputFiles(sizes, rank, file), (folder) => {
                const outputs = ["-o", "o.npy", "--lse", "l.npy", "--weights", "w.npy"];
                const report = succeed(["run", "softmax", ...INPUTS, ...outputs, ...args], folder);
                assert.match(report, /^backend +softmax /);
                assert.match(report, /non-finite +0 in Q, 0 in K, 0 in V/);
                assert.match(report, /^pairs +\S+% of n m$/m);

                const { B = 1, H = 1, n, m = n, d, dv = d } = sizes;
                const exact = attention(sizes, ...arrays(sizes));
                const o = read(folder, "o.npy");
                assert.deepEqual(o.shape, [...leading(rank, B, H), n, dv]);
                assertClose(o.data, exact.out, exact.outBound, "out");
                const l = read(folder, "l.npy");
                assert.deepEqual(l.shape, [...leading(rank, B, H), n]);
                assertClose(l.data, exact.lse, exact.lseBound, "lse");
                const w = read(folder, "w.npy");
                assert.deepEqual(w.shape, [...leading(rank, B, H), n, m]);
                assertClose(w.data, exact.weights, exact.weightsBound, "weights");
                assert.equal(Object.keys(contents(folder)).length, 6);
            });
        });
    }
});

describe("attn run", () => {
    const sizes = { H: 2, n: 64, d: 16 };
    const settings = [
        ["softmax"],
        ["linear"],
        ["linear", "--set", "feature_map=relu"],
        ["sparse"],
        ["sparse", "--set", "block=4", "--set=local=2", "--set", "global=0"],
        ...["gaussian", "ams", "osnap", "leverage", "srht"].map((method) => [
            "sketch",
            "--set",
            `method=${method}`,
            "--set",
            "size=8",
            "--seed",
            "7",
        ]),
    ];
    for (const [backend, ...args] of settings) {
        for (const causal of [[], ["--causal"]]) {
            test(`${[backend, ...args, ...causal].join(" ")}: out is weights times V`, () => {
                withFiles(inputFiles(sizes, 3), (folder) => {
                    const outputs = ["-o", "o.npy", "--weights", "w.npy"];
                    succeed(["run", backend, ...INPUTS, ...outputs, ...args, ...causal], folder);
                    const { H, n, d } = sizes;
                    const [, , v] = arrays(sizes);
                    const weights = read(folder, "w.npy").data;
                    const expected = [];
                    const tolerance = [];
                    for (let row = 0; row < H * n; row++) {
                        for (let c = 0; c < d; c++) {
                            const terms = Array.from({ length: n }, (_, j) => {
                                const kv = Math.floor(row / n) * n + j;
                                return weights[row * n + j] * v[kv * d + c];
                            });
                            expected.push(terms.reduce((a, b) => a + b, 0));
                            // Both sides round: sums of n products over logits or features of d terms.
                            const magnitude = terms.reduce((a, b) => a + Math.abs(b), 0);
                            tolerance.push(2 ** -23 * (n + 4 * d + 32) * magnitude);
                        }
                        if (causal.length) {
                            const later = weights.slice(row * n + (row % n) + 1, (row + 1) * n);
                            assert.ok(
                                later.every((w) => w === 0),
                                "a weight on a later key",
                            );
                        }
                    }
                    assertClose(read(folder, "o.npy").data, expected, tolerance, "out");
                });
            });
        }
    }

    test("the seed decides the sketch", () => {
        withFiles(inputFiles(sizes, 3), (folder) => {
            const outputs = [1, 1, 2].map((seed, i) => {
                const o = `o${i}.npy`;
                succeed(
                    ["run", "sketch", ...INPUTS, "-o", o, "--set=size=8", `--seed=${seed}`],
                    folder,
                );
                return contents(folder)[o];
            });
            assert.equal(outputs[0], outputs[1]);
            assert.notEqual(outputs[0], outputs[2]);
            succeed(["run", "softmax", ...INPUTS, "-o", "o.npy", "--seed", "3"], folder);
        });
    });

    test("NaN and infinity are computed with and counted", () => {
        withFiles(inputFiles({ n: 8, d: 4 }, 2), (folder) => {
            const q = random(32, 1);
            q[5] = NaN;
            q[9] = -Infinity;
            const files = { "q.npy": npy([8, 4], q, { descr: "<f8" }) };
            withFiles(files, (other) => {
                const path = join(other, "q.npy");
                const args = ["run", "softmax", "--q", path, ...INPUTS.slice(2), "-o", "o.npy"];
                const { status, stdout, stderr } = attn(args, folder);
                assert.equal(status, 0);
                assert.match(
                    stderr,
                    /^attn: warning: NaN or infinite elements: 2 in Q, 0 in K, 0 in V;.*\n$/,
                );
                assert.match(stdout, /non-finite +2 in Q, 0 in K, 0 in V/);
                const rows = read(folder, "o.npy").data;
                assert.ok(rows.slice(4, 8).every(Number.isNaN), "the row of a NaN query");
                assert.ok(rows.slice(12).every(Number.isFinite), "the rows of other queries");
            });
        });
    });

    test("an output may replace an input, and be a device", () => {
        withFiles(inputFiles({ n: 8, d: 4 }, 2), (folder) => {
            const [q, k, v] = arrays({ n: 8, d: 4 });
            succeed(["run", "softmax", ...INPUTS, "--output=q.npy"], folder);
            const exact = attention({ n: 8, d: 4 }, q, k, v);
            assertClose(read(folder, "q.npy").data, exact.out, exact.outBound, "out");
            succeed(["run", "softmax", ...INPUTS, "-o", "/dev/null"], folder);
            assert.equal(Object.keys(contents(folder)).length, 3);
        });
    });

    test("a plugin runs like a built-in backend", { skip: noPlugin }, () => {
        withFiles(inputFiles({ n: 8, d: 4 }, 2), (folder) => {
            const id = JSON.parse(succeed(["list", "--json", "--plugin", plugin], folder)).at(
                -1,
            ).id;
            const args = ["--plugin", plugin, "-o", "o.npy"];
            assert.match(
                succeed(["run", id, ...INPUTS, ...args], folder),
                new RegExp(`^backend +${id} `),
            );
            assert.deepEqual(read(folder, "o.npy").shape, [8, 4]);
        });
    });
});
