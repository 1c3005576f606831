// attn bench: which problems its options pose, and what its numbers count.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { inputFiles } from "./attention.mjs";
import { assertRefused, attn, succeed, withFiles } from "./command.mjs";
import { npy } from "./npy.mjs";

const PRINTED = 1e-8; // digits of a number in JSON, relative: at least nine
const SIZES = { H: 4, Hkv: 2, d: 8, dv: 6 };
const sizes = ["--heads=4", "--kv-heads=2", "--d=8", "--dv=6", "--time=0", "--json"];

const bench = (...args) => JSON.parse(succeed(["bench", ...sizes, ...args])).rows;

/** Bytes of a key and its value in all key/value heads. */
const keyBytes = ({ Hkv, d, dv }, dtype) =>
    Hkv * { f32: 4 * (d + dv), f16: 2 * (d + dv), bf16: 2 * (d + dv), i8: d + 4 + dv + 4 }[dtype];

/** Bytes of a query and its result in all heads, which are f32. */
const queryBytes = ({ H, d, dv }) => H * 4 * (d + dv);

function assertCounts({ gbps, gflops, ms }, { bytes, pairs }) {
    const near = (actual, expected, what) =>
        assert.ok(Math.abs(actual - expected) <= 3 * PRINTED * expected, `${what}: ${actual}`);
    near(gbps * ms * 1e6, bytes, `bytes, expected ${bytes}`);
    near(gflops * ms * 1e6, 2 * pairs * (SIZES.d + SIZES.dv), `flops of ${pairs} pairs`);
}

const TYPES = ["f32", "f16", "bf16", "i8"];

/**
 * How far a result may be from the truth for the same rounded keys and values: each of the logits' d terms, of the
 * weights' exponents and of the sums over m keys rounds a few times.
 */
function assertExact({ error, d, m }) {
    assert.ok(error > 0 && error < (d + 2 * m) * 8 * 2 ** -24, error);
}

test("--dtype: rows in each element type, with its bytes and its errors", () => {
    const rows = bench("--backend=softmax", "--n=2", "--m=50", `--dtype=${TYPES}`);
    assert.deepEqual(
        rows.map(({ dtype }) => dtype),
        TYPES,
    );
    for (const row of rows) {
        const bytes = 2 * queryBytes(SIZES) + 50 * keyBytes(SIZES, row.dtype);
        assertCounts(row, { bytes, pairs: 4 * 2 * 50 });
        assertExact(row);
    }
});

test("--q-dtype: queries and results of another type", () => {
    for (const type of ["f16", "bf16"]) {
        const args = ["--n=2", "--m=50", "--dtype=f32", `--q-dtype=${type}`];
        const [row] = bench("--backend=softmax", ...args);
        assert.equal(row.q_dtype, type);
        assertCounts(row, {
            bytes: queryBytes(SIZES) + 50 * keyBytes(SIZES, "f32"),
            pairs: 4 * 2 * 50,
        });
        const rounding = type === "f16" ? 2 ** -11 : 2 ** -8;
        assert.ok(row.error > rounding / 16 && row.error < rounding, row.error);
    }
});

test("a row has intensity and roofline, and says which peak its share is of", () => {
    const args = ["--backend=softmax", "--n=200", "--m=200"];
    for (const more of [[], ["--set=precision=int8"], ["--dtype=bf16", "--q-dtype=bf16"]]) {
        const document = JSON.parse(succeed(["bench", ...sizes, ...args, ...more]));
        const [row] = document.rows;
        const bytes = row.gbps * row.ms * 1e6;
        const flops = row.gflops * row.ms * 1e6;
        const near = (a, b) => assert.ok(Math.abs(a - b) <= 4 * PRINTED * b, `${a}, not ${b}`);
        near(row.intensity, flops / bytes);
        const peak = (100 * row.gflops) / row.percent_of_peak;
        near(row.roofline_gflops, Math.min(peak, row.intensity * document.read_gbps));
        const [set, , precision] = row.kernel.split(" ");
        const format = { bf16: "bf16", bf16x6: "bf16", int8: "(8|16)-bit" }[precision] ?? "f32";
        assert.match(row.peak_of, new RegExp(`^${set} ${format}( / 6)?$`));
        if (row.peak_of.endsWith(" f32")) near(peak, document.peak_gflops);
    }
});

test("--rounds: all rows by turns, each the median of its rounds", () => {
    const args = ["bench", ...sizes, "--backend=softmax", "--n=2,3", "--m=50", "--rounds=5"];
    const { rows, rounds_ms } = JSON.parse(succeed(args));
    assert.deepEqual(
        rows.map(({ n }) => n),
        [2, 3],
    );
    for (const [i, times] of rounds_ms.entries()) {
        const sorted = times.toSorted((a, b) => a - b);
        assert.equal(sorted.length, 5);
        assert.equal(rows[i].ms, sorted[2]);
        assert.deepEqual([rows[i].ms_low, rows[i].ms_high], [sorted[0], sorted[4]]);
    }
    assert.equal(
        JSON.parse(succeed(args.filter((word) => word !== "--rounds=5"))).rounds_ms,
        undefined,
    );
});

test("--counters: what the processor counts, or why it does not", () => {
    const args = ["bench", ...sizes, "--backend=softmax", "--n=50,100", "--counters"];
    const { status, stdout, stderr } = attn(args);
    if (status) {
        assert.equal(status, 2);
        assert.match(stderr, /^attn: --counters: [^\n]+ (none|paranoid\)|programs)\n$/);
        return;
    }
    const [few, many] = JSON.parse(stdout).rows;
    assert.ok(few.cycles > 0 && many.cycles > few.cycles);
    for (const row of [few, many])
        assert.ok(row.instructions === null || row.instructions > 1000, row.instructions);
});

test("--batch: so many sequences, each with its bytes", () => {
    const rows = bench("--backend=softmax", "--n=2", "--m=50", "--batch=1,3");
    for (const [i, batch] of [1, 3].entries()) {
        assert.equal(rows[i].batch, batch);
        const bytes = batch * (2 * queryBytes(SIZES) + 50 * keyBytes(SIZES, "f32"));
        assertCounts(rows[i], { bytes, pairs: batch * 4 * 2 * 50 });
    }
});

describe("--kv-lens: bytes and pairs are of the keys that count", () => {
    const lengths = [7, 50, 0, 7];
    for (const [rules, seen] of [
        [[], (length) => [length, 2 * length]],
        [["--causal"], (length) => [Math.min(length, 2), length ? 3 : 0]],
        [["--causal=bottom-right"], (length) => [length, length ? 2 * length - 1 : 0]],
        [
            ["--causal=bottom-right", "--window=3,0"],
            (length) => [Math.min(length, 5), length ? 8 : 0],
        ],
    ])
        for (const dtype of ["f32", "i8"])
            test(`${rules.join(" ") || "all keys"}, ${dtype}`, () => {
                const args = ["--n=2", "--m=50", "--batch=4", `--kv-lens=${lengths}`, ...rules];
                const [row] = bench("--backend=softmax", ...args, `--dtype=${dtype}`);
                let bytes = 4 * 2 * queryBytes(SIZES);
                let pairs = 0;
                for (const length of lengths) {
                    const [keys, visible] = seen(length);
                    bytes += keys * keyBytes(SIZES, dtype);
                    pairs += 4 * visible;
                }
                assertCounts(row, { bytes, pairs });
                const share = pairs / (4 * 4 * 2 * 50);
                assert.ok(Math.abs(row.pairs - share) <= PRINTED * share, row.pairs);
                assertExact(row);
            });

    test("from a file, for arrays of files", () => {
        const files = inputFiles({ B: 2, H: 2, n: 3, m: 12, d: 4, dv: 3 }, 4);
        withFiles({ ...files, "l.npy": npy([2], [5, 12], { descr: "<i8" }) }, (folder) => {
            const args = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--kv-lens", "l.npy"];
            const all = ["bench", "--backend=softmax", ...args, "--time=0", "--json"];
            const [{ batch, pairs, gbps, ms }] = JSON.parse(succeed(all, folder)).rows;
            assert.equal(batch, 2);
            assert.ok(Math.abs(pairs - 17 / 24) < PRINTED);
            const bytes = 4 * 2 * (4 + 3) * (2 * 3 + 17);
            assert.ok(Math.abs(gbps * ms * 1e6 - bytes) <= 3 * PRINTED * bytes);
        });
    });
});

test("--past: queries stand behind it, and m counts it", () => {
    for (const [args, keys, visible] of [
        [["--past=10", "--n=3", "--causal"], 13, 11 + 12 + 13],
        [["--past=10", "--n=3", "--m=20", "--causal"], 13, 11 + 12 + 13],
        [["--past=10", "--n=3", "--m=20", "--window=1,1"], 5, 9],
        [["--past=0", "--n=3", "--m=20", "--causal"], 3, 6],
    ]) {
        const [row] = bench("--backend=softmax", ...args);
        const bytes = 3 * queryBytes(SIZES) + keys * keyBytes(SIZES, "f32");
        assertCounts(row, { bytes, pairs: 4 * visible });
        assert.equal(row.past, Number(args[0].slice(7)));
    }
});

describe("--stream: tokens one by one", () => {
    test("give what a run gives, and each reads the keys that it sees", () => {
        for (const dtype of ["f32", "bf16", "i8"]) {
            const args = ["--n=3", "--m=20", "--causal=bottom-right", `--dtype=${dtype}`];
            const [row] = bench("--backend=softmax", "--stream", ...args);
            const bytes = 3 * queryBytes(SIZES) + (18 + 19 + 20) * keyBytes(SIZES, dtype);
            assertCounts(row, { bytes, pairs: 4 * (18 + 19 + 20) });
            assert.equal(row.stream, true);
            assertExact(row);
        }
    });

    test("are the last of m, unless a corner or a past says otherwise", () => {
        for (const [args, seen] of [
            [["--causal", "--n=1", "--m=300"], [300]],
            [
                ["--causal", "--n=2", "--m=300"],
                [299, 300],
            ],
            [
                ["--causal=top-left", "--n=2", "--m=300"],
                [1, 2],
            ],
            [
                ["--causal", "--past=4", "--n=2", "--m=300"],
                [5, 6],
            ],
        ]) {
            const [row] = bench("--backend=softmax", "--stream", ...args);
            const keys = seen.reduce((sum, count) => sum + count, 0);
            const bytes = seen.length * queryBytes(SIZES) + keys * keyBytes(SIZES, "f32");
            assertCounts(row, { bytes, pairs: 4 * keys });
            assertExact(row);
        }
    });

    test("name the kernel that a token runs", () => {
        const long = ["--backend=softmax", "--n=200", "--causal"];
        assert.match(bench(...long)[0].kernel, / prefill$/);
        assert.match(bench(...long, "--stream")[0].kernel, / decode$/);
    });

    test("in a window, with a past, in batches", () => {
        const args = ["--past=5", "--n=4", "--causal", "--window=2,-1", "--batch=2"];
        const [row] = bench("--backend=softmax", "--stream", ...args);
        const bytes = 2 * 4 * (queryBytes(SIZES) + 3 * keyBytes(SIZES, "f32"));
        assertCounts(row, { bytes, pairs: 2 * 4 * 4 * 3 });
        assertExact(row);
    });

    test("of every backend have the errors of its runs", () => {
        const args = ["--n=3", "--m=40", "--causal=bottom-right", "--set=sketch.size=4"];
        const streams = bench("--stream", ...args);
        const runs = bench(...args);
        assert.equal(streams.length, runs.length);
        for (const [i, row] of streams.entries()) {
            assert.ok(row.ms > 0, row.backend);
            const rounding = (8 + 2 * 40) * 8 * 2 ** -24; // of both
            assert.ok(Math.abs(row.error - runs[i].error) < 2 * rounding, row.backend);
            assert.equal(row.gbps === null, row.backend === "linear", "linear keeps no keys");
        }
    });

    test("a backend without a stream has a row without numbers", () => {
        const args = ["--n=3", "--m=20", "--causal=bottom-right", "--set=method=leverage"];
        const all = ["bench", ...sizes, "--backend=sketch,softmax", "--stream", ...args];
        const { status, stdout, stderr } = attn(all);
        assert.equal(status, 0, stderr);
        assert.match(stderr, /^attn: warning: sketch with n = 3, m = 20: [^\n]+\n$/);
        const [sketch, softmax] = JSON.parse(stdout).rows;
        for (const name of ["ms", "gflops", "gbps", "pairs", "error"])
            assert.equal(sketch[name], null, name);
        assert.ok(softmax.ms > 0);
    });
});

describe("refuses", () => {
    const files = { ...inputFiles({ H: 2, n: 3, m: 12, d: 4, dv: 3 }, 3) };
    const half = (shape) =>
        npy(shape, Array(shape.reduce((a, b) => a * b)).fill(0), { descr: "<f2" });
    for (const name of ["k", "v"]) files[`h${name}.npy`] = half([2, 12, name === "k" ? 4 : 3]);
    const arrays = ["--q=q.npy", "--k=k.npy", "--v=v.npy"];
    for (const [args, says] of [
        [["--dtype=f8"], /--dtype: 'f8' is none of f32, f16, bf16 and i8\n/],
        [["--q-dtype=i8"], /--q-dtype: 'i8' is none of f32, f16 and bf16\n/],
        [["--q-dtype=f16,f32"], /--q-dtype: 'f16,f32' is none of/],
        [["--q-dtype=f8"], /--q-dtype: 'f8' is none of/],
        [["--q-dtype=f16", "--backward"], /--backward measures gradients in f32, and Q is f16/],
        [["--counters", "--stream", "--causal"], /--counters is for runs, not for --stream/],
        [["--counters", "--backward"], /--counters is for runs, not for --backward/],
        [["--rounds=0"], /--rounds: 0 is outside 1 to 100/],
        [["--dtype="], /the value of --dtype is empty/],
        [["--dtype=f16,"], /--dtype: '' is none of/],
        [["--dtype=f16,f32,f16"], /--dtype: f16 is given twice/],
        [
            ["--dtype=f16", "--backward"],
            /--backward measures gradients in f32, and K and V are f16/,
        ],
        [["--past=9", "--n=2", "--m=8"], /--past: 9 keys of 8/],
        [["--past=-1"], /--past: -1 is outside 0 to/],
        [["--past=3", "--causal=bottom-right", "--n=2"], /past \(3\) contradicts the bottom-right/],
        [["--batch=0"], /--batch: 0 is outside 1 to/],
        [["--batch=2", "--kv-lens=3", "--n=4"], /--kv-lens: 1 value for 2 batches/],
        [["--kv-lens=9", "--n=4"], /9/],
        [
            ["--key-scales=s.npy", "--dtype=i8"],
            /--key-scales: is for --k and --v; --dtype=i8 makes/,
        ],
        [["--input=value_scales=s.npy", "--dtype=i8"], /--input value_scales: is for --k and --v/],
        [["--stream"], /--stream needs --causal/],
        [["--stream", "--causal", "--backward"], /--stream and --backward exclude each other/],
        [["--stream", "--causal", "--kv-lens=3", "--n=4"], /--stream has no --kv-lens/],
        [["--stream", "--causal", "--input=kv_lengths=3"], /--stream has no --input kv_lengths/],
        [["--stream", "--causal=bottom-right", "--n=9", "--m=4"], /--stream: 9 queries from/],
        [[...arrays, "--dtype=f16"], /--dtype: --k and --v have element types of their own/],
        [[...arrays, "--q-dtype=f16"], /--q-dtype: --q has an element type of its own/],
        [[...arrays, "--batch=2"], /--batch: --q, --k and --v have sizes of their own/],
        [[...arrays, "--past=2"], /--past: --q, --k and --v have sizes of their own/],
        [
            ["--q=q.npy", "--k=hk.npy", "--v=hv.npy", "--backward"],
            /--backward measures gradients in f32, and K and V are f16/,
        ],
        ...[
            "batch=2",
            "past=1",
            "dtype=f16",
            "q-dtype=f16",
            "rounds=2",
            "counters",
            "stream",
            "kv-lens=3",
            "mask=m.npy",
        ].flatMap((option) =>
            ["kernels", "calibrate"].map((mode) => [
                [`--${mode}`, `--${option}`],
                new RegExp(`--${mode} has no --${option.split("=")[0]}\n`),
            ]),
        ),
    ])
        test(args.join(" "), () => {
            withFiles(files, (folder) => {
                const all = ["bench", "--backend=softmax", "--time=0", ...args];
                const alone = all.filter((word) => !/^--backend=/.test(word));
                const isAlone = args.some((word) => /^--(kernels|calibrate)$/.test(word));
                assertRefused(attn(isAlone ? alone : all, folder), says);
            });
        });
});
