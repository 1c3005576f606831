// attn list, compare and bench: what they say of backends, errors and speed.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { largestError } from "../exact/exact.mjs";
import { attention, arrays, inputFiles } from "./attention.mjs";
import { assertRefused, attn, isWasi, plugin, succeed, withFiles } from "./command.mjs";
import { npy, read } from "./npy.mjs";

const BUILT_IN = ["softmax", "linear", "sparse", "sketch"];
const INPUTS = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"];
/** What printing a number with nine digits changes of it, at most. */
const PRINTED = 0.5e-8;
const noPlugin = (!plugin || isWasi) && "no plugin to load";

describe("attn list", () => {
    test("names the backends and their parameters", () => {
        const text = succeed(["list"]);
        for (const id of BUILT_IN) assert.match(text, new RegExp(`^${id} .*\\(built-in\\)$`, "m"));
        assert.match(
            text,
            /--set feature_map=elu1, lin, relu, relu2, exp, favor, taylor2 \(default elu1\)/,
        );
    });

    test("one alone", () => {
        const [linear] = succeed(["list"]).match(/^linear [^]*?\n(?=\n)/m);
        assert.equal(succeed(["list", "linear"]), linear);
        assert.match(succeed(["list", "--help"]), /^usage: attn list \[BACKEND\] \[OPTION...\]$/m);
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
        ...["workspace", "stream", "pairs", "computed", "error", "degenerate_rows", "note"],
    ];

    test("a stream of sketched keys keeps size numbers a key, not d", () => {
        const [heads, tokens, dim, size] = [2, 512, 64, 16];
        withFiles(inputFiles({ H: heads, n: tokens, d: dim }, 3), (folder) => {
            const settings = ["--backends", "softmax,sketch", "--set", `size=${size}`];
            const command = ["compare", ...INPUTS, "--json", ...quick, ...settings];
            const streams = (...more) =>
                JSON.parse(succeed([...command, ...more], folder)).rows.map((row) => row.stream);
            const [softmax, sketch] = streams();
            const [numbers, saved] = [dim + dim, dim - size].map((of) => heads * tokens * of * 4);
            assert.ok(softmax >= numbers && softmax < 1.1 * numbers, `${softmax}`);
            const matrix = dim * 4 * 8; // four entries a feature
            assert.ok(sketch < softmax - saved + matrix + 50000, `${sketch}`);
            assert.equal(streams("--set", "method=leverage")[1], null, "it has no stream");
        });
    });

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
            const sparse = report.rows[2];
            assert.ok(sparse.pairs < sparse.computed && sparse.computed <= 1);
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

    test("--set precision: softmax in integers, with the error that they have", () => {
        const many = { ...sizes, n: 96 }; // fewer queries are multiplied as floats
        withFiles(inputFiles(many, 3), (folder) => {
            const exact = attention(many, ...arrays(many)).out;
            const errors = ["f32", "int16", "int8"].map((precision) => {
                const set = ["--set", `precision=${precision}`];
                const args = ["compare", ...INPUTS, "--json", ...quick, ...set];
                const { rows } = JSON.parse(succeed(args, folder));
                assert.deepEqual(
                    rows.map((row) => row.backend),
                    BUILT_IN,
                ); // the others have no such parameter
                assert.equal(/int\d+/.exec(rows[0].kernel)?.[0] ?? "f32", precision);
                succeed(["run", "softmax", ...INPUTS, "-o", "o.npy", ...set], folder);
                const out = read(folder, "o.npy").data;
                const error = Math.hypot(...out.map((x, i) => x - exact[i])) / Math.hypot(...exact);
                const doubles = 4 * (96 + 16 + 16) * 2 ** -53; // as above
                assert.ok(Math.abs(rows[0].error - error) <= PRINTED * error + doubles, precision);
                return error;
            });
            assert.ok(errors[0] < errors[1] && errors[1] < errors[2], errors.join());
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
            "batch",
            "n",
            "m",
            "d",
            "dv",
            "heads",
            "kv_heads",
            "q_dtype",
            "dtype",
            "causal",
            "past",
            "stream",
            "backward",
            "threads",
            "kernel",
            "ms",
            "ms_low",
            "ms_high",
        ],
        ...[
            "gflops",
            "percent_of_peak",
            "peak_of",
            "gbps",
            "intensity",
            "roofline_gflops",
            "pairs",
            "computed",
            "error",
        ],
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
            assert.equal(row.causal, "none");
            if (!row.peak_of.endsWith(" f32")) continue;
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

    test("arrays of files have their own sizes, and the error that compare tells", () => {
        withFiles(inputFiles({ H: 2, n: 12, d: 4, dv: 3 }, 3), (folder) => {
            const files = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--causal", "--json"];
            const more = ["--time=0.005", "--backend", "softmax,linear"];
            const { rows } = JSON.parse(succeed(["bench", ...files, ...more], folder));
            const compared = JSON.parse(
                succeed(["compare", ...files, "--time=0.005"], folder),
            ).rows;
            assert.equal(rows.length, 2);
            for (const row of rows) {
                const sizes = [row.n, row.m, row.d, row.dv, row.heads, row.causal];
                assert.deepEqual(sizes, [12, 12, 4, 3, 2, "top-left"]);
                assert.equal(row.error, compared.find((r) => r.backend === row.backend).error);
            }
        });
    });

    test("pairs that no plan knows are counted", () => {
        const lsh = ["--set=pattern=lsh", "--set=buckets=4", "--n=40", "--heads=2", "--causal"];
        const args = ["bench", "--backend=sparse", ...lsh, "--time=0", "--json"];
        const [row] = JSON.parse(succeed(args)).rows;
        const layout = succeed(["layout", "sparse", ...lsh]);
        const [, kept] = /^kept +(\d+) pairs/m.exec(layout);
        assert.equal(Math.round(row.pairs * 2 * 40 * 40), Number(kept));
        assert.ok(Number(kept) > 80 && Number(kept) < 41 * 40);
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
        assert.ok(rows.every((row) => row.causal === "top-left" && row.n === 8));
        assert.deepEqual(new Set(rows.map((row) => row.m)), new Set([16, 24]));
        assert.deepEqual(new Set(rows.map((row) => row.dv)), new Set([4, 8]));
    });

    test("rules reach the problem, and bytes are of the keys that are seen", () => {
        const sizes = ["--n=1", "--m=512", "--heads=2", "--d=8", "--backend=softmax"];
        const bytes = (...rules) => {
            const args = ["bench", ...sizes, ...rules, "--time=0", "--json"];
            const [{ gbps, ms, pairs }] = JSON.parse(succeed(args)).rows;
            return [gbps * ms * 1e6, pairs];
        };
        for (const [keys, ...rules] of [
            [512],
            [1, "--causal"],
            [512, "--causal=bottom-right"],
            [11, "--causal=bottom-right", "--window=10,0", "--softcap=5"],
            [11, "--window=,10", "--scale=0.5"],
        ]) {
            const [read, pairs] = bytes(...rules);
            const expected = 4 * 2 * (8 + 8) * (1 + keys); // q and o, and each head's k and v
            assert.ok(Math.abs(read - expected) <= 3 * PRINTED * expected, `${rules}: ${read}`);
            assert.ok(Math.abs(pairs - keys / 512) <= PRINTED * pairs, `${rules}: ${pairs}`);
        }
        assertRefused(attn(["bench", ...sizes, "--causal=middle"]), /neither top-left nor/);
        assertRefused(attn(["bench", "--kernels", "--softcap=3"]), /--kernels has no --softcap/);
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

    test("--kernels --cpu ends with that tier", () => {
        const kernels = ["bench", "--kernels", "--json", "--time=0.002"];
        const [{ tier: lowest }] = JSON.parse(succeed(kernels)); // a module has no other
        const rows = JSON.parse(succeed([...kernels, `--cpu=${lowest}`]));
        assert.deepEqual([...new Set(rows.map(({ tier }) => tier))], [lowest]);
    });

    const orderOf = ({ stretches, ahead_bytes: ahead, once }) => [stretches, ahead, once];

    test("--calibrate tells peaks, orders of reading, caches and kernels", () => {
        const out = succeed(["bench", "--calibrate", "--backend=softmax", "--json", "--time=0"]);
        const told = JSON.parse(out);
        const { arithmetic, reading, caches, sizes, kernels } = told;
        assert.ok(arithmetic.every(({ gflops, gops16 }) => gflops > 0 && gops16 > 0));
        assert.ok(
            arithmetic.every(({ tier, gops8 }) =>
                gops8 > 0
                    ? /^(avx512(vnni|bf16)|amx|neon(dot|i8mm|bf16))$/.test(tier)
                    : gops8 === null,
            ),
        );
        assert.equal(arithmetic.filter(({ chosen }) => chosen).length, 1);
        assert.equal(Math.max(...reading.map(({ share }) => share)), 1);
        assert.ok(reading.every(({ gbps, share }) => gbps > 0 && share > 0));
        assert.ok(reading.some(({ stretches }) => stretches === 8));
        const two = told.reading_by_two; // not there without threads
        assert.deepEqual(two?.map(orderOf), isWasi ? undefined : reading.map(orderOf));
        if (two) assert.equal(Math.max(...two.map(({ share }) => share)), 1);
        assert.ok(caches.every(({ level, bytes }) => level >= 1 && bytes > 0));
        assert.ok(sizes.every(({ gbps }) => gbps > 0));
        assert.ok(sizes.length > 10 && sizes[1].bytes === 2 * sizes[0].bytes);
        assert.ok(kernels.every(({ backend, kernel }) => backend === "softmax" && kernel));
        const precise = kernels.filter(({ problem }) => /int(8|16)$/.test(problem));
        for (const [dtype, changes] of [
            ["f32", /^[^,]+ decode,[^,]+ prefill$/],
            ["bf16", / decode,.* prefill$/],
        ]) {
            const named = told.rows.filter((row) => row.dtype === dtype);
            assert.equal(named[0].rows, 1);
            assert.match(named.map(({ kernel }) => kernel).join(), changes);
        }
        if (!isWasi) assert.equal(precise.length, 3);
        for (const { problem, kernel } of precise)
            assert.ok(kernel.split(" ").includes(problem.split(" ").at(-1)));
    });

    test("text, Markdown and CSV", () => {
        const args = ["bench", "--backend=softmax", "--n=8", "--d=8", "--time=0.005"];
        assert.match(succeed(args), /GFLOP\/s of multiply-adds[^]*\nsoftmax/);
        assert.match(succeed([...args, "--md"]), /^\| softmax/m);
        assert.match(succeed([...args, "--md"]), /^(\| -+:? )+\|$/m, "no column without a dash");
        assert.equal(succeed([...args, "--csv"]).split("\n")[0], KEYS.join(","));
    });
});
