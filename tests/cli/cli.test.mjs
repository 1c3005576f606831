// The command line's happy paths: every result is checked against double precision.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { largestError } from "../exact/exact.mjs";
import { attention, random } from "./attention.mjs";
import { attn, contents, isWasi, plugin, withFiles } from "./command.mjs";
import { npy, parseNpy } from "./npy.mjs";

const BUILT_IN = ["softmax", "linear", "sparse", "sketch"];
const INPUTS = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"];
/** What printing a number with nine digits changes of it, at most. */
const PRINTED = 0.5e-8;
const noPlugin = (!plugin || isWasi) && "no plugin to load";

function succeed(args, folder, options) {
    const result = attn(args, folder, options);
    assert.equal(result.status, 0, result.signal ?? result.stderr);
    assert.equal(result.stderr, "");
    return result.stdout;
}

const read = (folder, name) => parseNpy(readFileSync(join(folder, name)));

function assertClose(actual, expected, tolerance, what) {
    assert.equal(actual.length, expected.length, what);
    actual.forEach((x, i) => {
        const fits = x === expected[i] || Math.abs(x - expected[i]) <= tolerance[i];
        assert.ok(fits, `${what}[${i}]: ${x}, expected ${expected[i]} +- ${tolerance[i]}`);
    });
}

/** Q, K, V for the sizes, as numbers in C order. */
function arrays({ B = 1, H = 1, Hkv = H, n, m = n, d, dv = d }) {
    return [random(B * H * n * d, 1), random(B * Hkv * m * d, 2), random(B * Hkv * m * dv, 3)];
}

/** Leading sizes that a file of this rank has. */
const leading = (rank, B, H) => [B, H].slice(4 - rank);

function inputFiles(sizes, rank, options = {}) {
    const { B = 1, H = 1, Hkv = H, n, m = n, d, dv = d } = sizes;
    const [q, k, v] = arrays(sizes);
    return {
        "q.npy": npy([...leading(rank, B, H), n, d], q, options),
        "k.npy": npy([...leading(rank, B, Hkv), m, d], k, options),
        "v.npy": npy([...leading(rank, B, Hkv), m, dv], v, options),
    };
}

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
        ...["gaussian", "ams", "osnap", "leverage"].map((method) => [
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

describe("attn list", () => {
    test("names the backends and their parameters", () => {
        const text = succeed(["list"]);
        for (const id of BUILT_IN) assert.match(text, new RegExp(`^${id} .*\\(built-in\\)$`, "m"));
        assert.match(text, /--set feature_map=elu1, lin, relu \(default elu1\)/);
    });

    test("--json has all of it", () => {
        const list = JSON.parse(succeed(["list", "--json"]));
        assert.deepEqual(
            list.map((backend) => backend.id),
            BUILT_IN,
        );
        const names = list.map((backend) => backend.params.map((param) => param.name));
        for (const name of ["block", "local", "global"]) assert.ok(names[2].includes(name));
        for (const name of ["method", "size", "eps", "delta", "seed"])
            assert.ok(names[3].includes(name));
    });

    test("--plugin adds its backends", { skip: noPlugin }, () => {
        const list = JSON.parse(succeed(["list", "--json", "--plugin", plugin]));
        assert.equal(list.length, 5);
        assert.equal(list[4].origin, plugin);
    });
});

describe("attn compare", () => {
    const sizes = { H: 2, n: 48, d: 16 };
    const quick = ["--time", "0.01"];
    const KEYS = [
        ...["backend", "kernel", "ms", "ms_low", "ms_high", "gflops"],
        ...["workspace", "pairs", "error", "degenerate_rows", "note"],
    ];

    test("--json: all backends, with errors that hold", () => {
        withFiles(inputFiles(sizes, 3), (folder) => {
            const report = JSON.parse(succeed(["compare", ...INPUTS, "--json", ...quick], folder));
            assert.deepEqual(report.q, [2, 48, 16]);
            assert.deepEqual(report.nonfinite, { q: 0, k: 0, v: 0 });
            assert.deepEqual(
                report.rows.map((row) => row.backend),
                BUILT_IN,
            );
            const exact = attention(sizes, ...arrays(sizes));
            const norm = Math.hypot(...exact.out);
            for (const row of report.rows) {
                assert.deepEqual(Object.keys(row), KEYS);
                assert.ok(
                    row.ms_low <= row.ms && row.ms <= row.ms_high && row.ms_low > 0,
                    row.backend,
                );
                succeed(["run", row.backend, ...INPUTS, "-o", "o.npy"], folder);
                const out = read(folder, "o.npy").data;
                const error = Math.hypot(...out.map((x, i) => x - exact.out[i])) / norm;
                // Both are of doubles: each sums d products, m terms and a few more (exact.c).
                const doubles = 4 * (48 + 16 + 16) * 2 ** -53;
                assert.ok(
                    Math.abs(row.error - error) <= PRINTED * error + doubles,
                    `${row.backend}: ${row.error}, ${error}`,
                );
            }
            assert.ok(report.rows[0].error <= largestError(exact));
            assert.equal(report.rows[0].pairs, 1);
            assert.ok(report.rows[2].pairs < 1);
        });
    });

    test("--backends, --set and --seed", () => {
        withFiles(inputFiles(sizes, 3), (folder) => {
            const compare = (...args) =>
                JSON.parse(succeed(["compare", ...INPUTS, "--json", ...quick, ...args], folder))
                    .rows;
            const names = compare("--backends", "sketch,softmax").map((row) => row.backend);
            assert.deepEqual(names, ["sketch", "softmax"]);
            // All blocks local: sparse attention is exact; a sketch as wide as d too.
            const [, , sparse, sketch] = compare(
                "--set",
                "sparse.local=65536",
                "--set=size=16",
                "--causal",
            );
            const most = largestError(
                attention({ ...sizes, causal: "top-left" }, ...arrays(sizes)),
            );
            assert.ok(sparse.error <= most && sketch.error <= most);
            const seeds = ["1", "2"].map(
                (seed) => compare("--seed", seed, "--set", "size=4").at(-1).error,
            );
            assert.notEqual(seeds[0], seeds[1]);
        });
    });

    test("degenerate rows are counted, and what is not a number is null", () => {
        const files = inputFiles({ n: 6, d: 4 }, 2);
        files["q.npy"] = npy([6, 4], new Array(24).fill(0));
        withFiles(files, (folder) => {
            const args = ["compare", ...INPUTS, "--json", ...quick, "--backends", "linear"];
            const [row] = JSON.parse(succeed([...args, "--set", "feature_map=lin"], folder)).rows;
            assert.equal(row.degenerate_rows, 6);
        });
        files["v.npy"] = npy([6, 4], new Array(24).fill(NaN));
        withFiles(files, (folder) => {
            const { status, stdout, stderr } = attn(
                ["compare", ...INPUTS, "--json", ...quick],
                folder,
            );
            assert.equal(status, 0);
            assert.match(stderr, /^attn: warning: .* 24 in V;/);
            const report = JSON.parse(stdout);
            assert.equal(report.nonfinite.v, 24);
            assert.equal(report.rows.length, 4);
        });
    });

    test("a backend that cannot stays, with the reason", { skip: noPlugin }, () => {
        withFiles(inputFiles({ H: 4, Hkv: 2, n: 8, d: 4 }, 3), (folder) => {
            const args = ["compare", ...INPUTS, "--json", ...quick, "--plugin", plugin, "--causal"];
            const { rows } = JSON.parse(succeed(args, folder));
            assert.equal(rows.length, 5);
            const refused = rows.filter((row) => row.ms === null);
            for (const row of refused) {
                assert.equal(row.error, null);
                assert.match(row.note, /\S/);
            }
            assert.ok(refused.length < 5);
        });
    });

    test("text, Markdown and CSV have the same rows", () => {
        withFiles(inputFiles(sizes, 3), (folder) => {
            const lines = (...args) =>
                succeed(["compare", ...INPUTS, ...quick, ...args], folder)
                    .trimEnd()
                    .split("\n");
            assert.deepEqual(
                lines()
                    .slice(-4)
                    .map((line) => line.split(" ")[0]),
                BUILT_IN,
            );
            const markdown = lines("--md").slice(-6);
            assert.equal(new Set(markdown.map((line) => line.length)).size, 1);
            assert.match(markdown[1], /^(\| -+:? )+\|$/);
            const csv = lines("--csv");
            assert.equal(csv[0], KEYS.join(","));
            assert.deepEqual(
                csv.slice(1).map((line) => line.split(",")[0]),
                BUILT_IN,
            );
        });
    });
});

describe("attn bench", () => {
    const TOP = ["host", "compiler", "commit", "peak_gflops", "read_gbps", "rows"];
    const KEYS = [
        ...[
            "backend",
            "n",
            "m",
            "d",
            "dv",
            "heads",
            "causal",
            "threads",
            "tier",
            "ms",
            "ms_low",
            "ms_high",
        ],
        ...["gflops", "percent_of_peak", "gbps", "error"],
    ];

    test("--json has the promised form and consistent numbers", () => {
        const report = JSON.parse(
            succeed(["bench", "--json", "--n=32,48", "--d", "16", "--heads=2", "--time=0.01"]),
        );
        assert.deepEqual(Object.keys(report), TOP);
        assert.ok(report.peak_gflops > 0 && report.read_gbps > 0);
        assert.equal(report.rows.length, 8);
        for (const row of report.rows) {
            assert.deepEqual(Object.keys(row), KEYS);
            assert.equal(row.m, row.n);
            assert.equal(row.dv, 16);
            assert.equal(row.causal, false);
            const percent = (100 * row.gflops) / report.peak_gflops;
            assert.ok(Math.abs(row.percent_of_peak - percent) <= 3 * PRINTED * percent);
        }
        for (const n of [32, 48]) {
            const rows = report.rows.filter((row) => row.n === n);
            const [softmax, ...others] = rows.map(({ error }) => error);
            assert.equal(rows[0].backend, "softmax"); // whose error is rounding's, theirs formulas'
            for (const error of others) assert.ok(0 < softmax && softmax < error);
        }
    });

    test("lists multiply, and options reach the problem", () => {
        const args = ["--backend", "softmax", "--backend=linear", "--n=8", "--m=16,24", "--dv=4,8"];
        const json = succeed([
            "bench",
            "--json",
            "--causal",
            "--time=0.005",
            "--d=8",
            "--heads=1,2",
            ...args,
        ]);
        const { rows } = JSON.parse(json);
        assert.equal(rows.length, 2 * 2 * 2 * 2);
        assert.ok(rows.every((row) => row.causal === true && row.n === 8));
        assert.deepEqual(new Set(rows.map((row) => row.m)), new Set([16, 24]));
        assert.deepEqual(new Set(rows.map((row) => row.dv)), new Set([4, 8]));
    });

    test("--kernels times every piece on every tier", () => {
        const rows = JSON.parse(succeed(["bench", "--kernels", "--json", "--time=0.002"]));
        const tiers = new Set(rows.map(({ tier }) => tier));
        assert.ok(tiers.size >= 1);
        assert.equal(rows.length, 7 * tiers.size);
        for (const { piece, rows: queries, ns, gflops, percent_of_peak: percent, gbps } of rows) {
            assert.ok(ns > 0, piece);
            assert.ok(gflops > 0 || queries === null, piece);
            assert.ok(percent > 0 || queries === null, piece);
            assert.ok(gbps > 0 || piece === "exponentials", piece);
        }
    });

    test("text, Markdown and CSV", () => {
        const args = ["bench", "--backend=softmax", "--n=8", "--d=8", "--time=0.005"];
        assert.match(succeed(args), /GFLOP\/s of multiply-adds[^]*\nsoftmax/);
        assert.match(succeed([...args, "--md"]), /^\| softmax/m);
        assert.equal(succeed([...args, "--csv"]).split("\n")[0], KEYS.join(","));
    });
});

describe("attn embed", () => {
    const text = "Don't stop: naïve naïve café, 東京 — stop!\n";

    test("tokens with byte offsets, and vectors of the promised length", () => {
        withFiles({ "text.txt": text }, (folder) => {
            const { tokens } = JSON.parse(
                succeed(["embed", "text.txt", "--dim", "32", "-o", "x.npy", "--json"], folder),
            );
            const words = [
                "Don't",
                "stop",
                ":",
                "naïve",
                "naïve",
                "café",
                ",",
                "東",
                "京",
                "—",
                "stop",
                "!",
            ];
            assert.deepEqual(
                tokens.map((token) => token.text),
                words,
            );
            const bytes = Buffer.from(text);
            for (const { start, end, text } of tokens)
                assert.equal(bytes.toString("utf8", start, end), text);

            const { shape, data } = read(folder, "x.npy");
            assert.deepEqual(shape, [12, 32]);
            const rows = words.map((_, i) => data.slice(32 * i, 32 * i + 32));
            const content = rows.map((row, i) => row.map((x, c) => x - position(i, c, 32)));
            for (const row of content) {
                const logit = row.reduce((sum, x) => sum + x * x, 0) / Math.sqrt(32);
                assert.ok(Math.abs(logit - 4) < 32 * 2 ** -20, `${logit}`);
            }
            const distance = (a, b) => Math.hypot(...content[a].map((x, c) => x - content[b][c]));
            assert.ok(distance(3, 4) < 2 ** -20, "the same word twice");
            assert.ok(distance(1, 10) < 2 ** -20, "the same word far away");
            assert.ok(distance(1, 5) > 1, "different words");
        });
    });

    // Vaswani et al. 2017, section 3.5, with the square of its length sqrt(dim).
    function position(i, c, dim) {
        const angle = i * 10000 ** (-(c - (c % 2)) / dim);
        return Math.sqrt(2 / Math.sqrt(dim)) * (c % 2 ? Math.cos(angle) : Math.sin(angle));
    }

    test("words that share letters are closer", () => {
        withFiles({ "text.txt": "attention attentive zebra" }, (folder) => {
            succeed(["embed", "text.txt", "--dim", "256", "-o", "x.npy"], folder);
            const { data } = read(folder, "x.npy");
            const dot = (a, b) =>
                data
                    .slice(256 * a, 256 * a + 256)
                    .reduce((sum, x, c) => sum + x * data[256 * b + c], 0);
            assert.ok(dot(0, 1) > dot(1, 2) + 0.25 * dot(0, 0));
        });
    });

    test("bytes that are not UTF-8 when it is told to, the smallest dimension, and heads", () => {
        const bytes = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x20, 0xff, 0x00, 0xc3, 0x21]);
        withFiles({ "text.txt": bytes }, (folder) => {
            const args = ["embed", "text.txt", "--dim=2", "--heads=3", "-o", "x.npy", "--json"];
            assert.equal(attn(args, folder).status, 2);
            args.push("--any-bytes");
            const { tokens } = JSON.parse(succeed(args, folder));
            assert.deepEqual(
                tokens.map(({ start, end }) => [start, end]),
                [
                    [0, 4],
                    [5, 6],
                    [7, 8],
                    [8, 9],
                ],
            );
            const { shape, data } = read(folder, "x.npy");
            assert.deepEqual(shape, [3, 4, 2]);
            assert.ok(data.every(Number.isFinite));
        });
    });

    test("standard input, and the result as Q, K and V", () => {
        withFiles({}, (folder) => {
            succeed(["embed", "-", "--dim", "16", "-o", "x.npy"], folder, { input: text });
            succeed(
                ["run", "softmax", "--q", "x.npy", "--k", "x.npy", "--v", "x.npy", "-o", "o.npy"],
                folder,
            );
            assert.deepEqual(read(folder, "o.npy").shape, [12, 16]);
        });
    });
});

describe("help", () => {
    for (const args of [
        ["--help"],
        ...["list", "run", "compare", "bench", "embed"].map((name) => [name, "--help"]),
    ]) {
        test(`attn ${args.join(" ")}`, () => {
            const text = succeed(args);
            assert.match(text, /^usage: attn /);
            const long = text.split("\n").filter((line) => line.length > 100);
            assert.deepEqual(long, []);
        });
    }
    test("attn --version", () => {
        assert.match(succeed(["--version"]), /^attn \d+\.\d+\.\d+\n/);
    });
});
