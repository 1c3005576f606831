// attn sketch: the same Y from dense files, archives and arrays of CSR, its report, and what it refuses.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { exactAttention } from "../exact/exact.mjs";
import { random } from "./attention.mjs";
import { assertClose, assertRefused, attn, attnAfter, isWasi } from "./command.mjs";
import { succeed, withFiles } from "./command.mjs";
import { csr, csrFiles, format, ints, members } from "./csr.mjs";
import { npy, read } from "./npy.mjs";
import { zip } from "./zip.mjs";

const [n, d] = [6, 700];
const methods = [
    "gaussian",
    "ams",
    "osnap",
    "srht",
    "leverage",
    "approximate",
    "uniform",
    "deterministic",
];

/** Sparse rows of length sqrt(r); the last feature has an element. */
function rows(r) {
    const raw = random(n * d, 5).map((x, i) => (i % 5 === 2 || i === d - 1 ? x : 0));
    return Array.from({ length: n }, (_, i) => {
        const row = raw.slice(i * d, (i + 1) * d);
        const length = Math.hypot(...row);
        return row.map((x) => Math.fround((0.9999 * x * Math.sqrt(r)) / length));
    });
}

const x = rows(0.05);
const { data, indices, indptr } = csr(x);
const archive = members(x);
const files = { "x.npy": npy([n, d], x.flat()), ...csrFiles(x) };
const asArrays = ["data.npy", "--x-indptr", "indptr.npy", "--x-indices", "indices.npy"];

describe("attn sketch", () => {
    for (const method of methods)
        test(`${method}: dense, archives, arrays and both algebras give one Y`, () => {
            withFiles(files, (folder) => {
                const settings = ["--method", method, "--size", "60", "-o", "y.npy", "--seed", "3"];
                const y = (input, ...more) => {
                    succeed(["sketch", ...input, ...settings, ...more], folder);
                    return read(folder, "y.npy");
                };
                const first = y(["x.npy"], "--algebra", "plain");
                assert.equal(first.shape[0], n);
                assert.ok(first.shape[1] <= 60 && first.shape[1] > n);
                for (const input of [
                    ["x.npy"],
                    ["deflated.npz"],
                    ["fixed.npz"],
                    ["stored.npz"],
                    ["letters.npz"],
                    asArrays,
                ]) {
                    const other = y(input);
                    assert.deepEqual(other.shape, first.shape);
                    other.data.forEach((value, i) => {
                        assert.ok(Math.abs(value - first.data[i]) < 2 ** -20, `${input}: ${i}`);
                    });
                }
            });
        });

    test("the report is what Y is", () => {
        withFiles(files, (folder) => {
            const command = ["sketch", "deflated.npz", "--size", "150", "--report", "--json"];
            const told = JSON.parse(
                succeed([...command, "-o", "y.npy", "--scores", "s.npy"], folder),
            );
            const { data: y, shape } = read(folder, "y.npy");
            const scores = read(folder, "s.npy").data;
            assert.deepEqual([told.method, told.n, told.d, told.m], ["approximate", n, d, 150]);
            assert.deepEqual(shape, [n, 150]);
            assert.equal(told.stored, data.length);
            assert.equal(told.rank, n);
            assert.equal(scores.length, d);
            const sum = scores.reduce((a, b) => a + b, 0);
            assert.ok(Math.abs(sum - told.score_sum) < 1e-4 * sum);
            assert.ok(told.r < 0.05 && told.r > 0.0499);
            assert.ok(Math.abs(told.bound - 12 * told.r) < 1e-6 * told.bound);
            assert.ok(told.distortion > 0 && told.distortion < 1);

            const weights = (row) => {
                const sums = row.map(Math.exp);
                const total = sums.reduce((a, b) => a + b, 0);
                return sums.map((s) => s / total);
            };
            const dot = (a, b) => a.reduce((total, value, i) => total + value * b[i], 0);
            const attention = (list) => list.map((a) => weights(list.map((b) => dot(a, b))));
            const sketched = Array.from({ length: n }, (_, i) => y.slice(i * 150, (i + 1) * 150));
            const [before, after] = [attention(x).flat(), attention(sketched).flat()];
            const entry = Math.max(...before.map((value, i) => Math.abs(value - after[i])));
            assert.ok(Math.abs(entry - told.entry) < 1e-9, `${entry}, ${told.entry}`);
            assert.ok(told.entry < told.bound);
        });
    });

    test("--factor: the bound asks for as many times the features, for the same sum of scores", () => {
        withFiles(files, (folder) => {
            const [three, six] = ["3", "6"].map((factor) => {
                const args = ["sketch", "x.npy", "--size", "9", "--json", "--factor", factor];
                const { asked, score_sum } = JSON.parse(succeed(args, folder));
                return asked / score_sum;
            });
            assert.ok(Math.abs(six / three - 2) < 0.01, `${six} and ${three}`);
            assertRefused(
                attn(["sketch", "x.npy", "--factor", "1.9"], folder),
                /--factor: 1.9 is outside 2 to 1000/,
            );
        });
    });

    test("where 12 r bounds nothing it says so, with a report and without", () => {
        const near = npy([n, d], rows(0.095).flat());
        withFiles(
            { ...files, "large.npy": npy([n, d], rows(0.5).flat()), "near.npy": near },
            (folder) => {
                for (const report of [[], ["--report"]]) {
                    const command = ["sketch", "large.npy", "--size", "300", ...report];
                    const { status, stderr, stdout } = attn(command, folder);
                    assert.equal(status, 0);
                    assert.match(stdout, /^r, max \|X X\^T\| +0\.49\d+$/m);
                    assert.match(
                        stderr,
                        /^attn: warning: max \|X X\^T\| is 0.5, .*12 r bounds nothing here\n$/,
                    );
                }
                const { stderr: near } = attn(["sketch", "near.npy", "--size", "300"], folder);
                assert.match(near, /12 r is 1\.1\d*, and no weight moves by more than 1/);
                const small = attn(["sketch", "x.npy", "--size", "300"], folder);
                assert.equal(small.stderr, "");
                assert.match(small.stdout, /^12 r, where the distortion is below 1 +0\.\d+$/m);
                const { stderr } = attn(["sketch", "large.npy", "--size", "700"], folder);
                assert.equal(stderr, "", "Y is X, and nothing moves");
            },
        );
    });

    test("attn run sketch by deterministic is attention on the Y that attn sketch makes", () => {
        const q = rows(2).map((row) => row.map((value) => value * 3));
        const k = rows(1.5).map((row, i) => row.map((_, j) => row[(j * 7 + i) % d]));
        const v = random(2 * n, 4);
        const arrays = {
            "q.npy": npy([n, d], q.flat()),
            "k.npy": npy([n, d], k.flat()),
            "v.npy": npy([n, 2], v),
        };
        withFiles(arrays, (folder) => {
            const of = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "-o", "o.npy"];
            const set = ["--set", "method=deterministic", "--set", "size=50"];
            const told = succeed(["run", "sketch", ...of, ...set], folder);
            assert.match(told, /within 1 \+- 0\.791 of X X\^T, X = \[Q; K\], always/); // q = 50 / 12
            const method = ["--method", "deterministic", "--size", "50", "-o", "y.npy"];
            attn(["sketch", "q.npy", "--k", "k.npy", ...method], folder); // warns of r
            const { data: y, shape } = read(folder, "y.npy");
            const out = read(folder, "o.npy").data;
            const sizes = { batch: 1, heads: 1, kvHeads: 1, queries: n, keys: n, valueDim: 2 };
            const [query, key] = [y.slice(0, n * shape[1]), y.slice(n * shape[1])];
            const exact = exactAttention(
                { ...sizes, dim: shape[1] },
                { query, key, value: v },
                { scale: 1 / Math.sqrt(d) },
            );
            assertClose(out, exact.out, exact.outBound, "out");
        });
    });

    test("attn run sketch tells r of Q and K, or of X, times the scale", () => {
        const v = npy([n, 2], random(2 * n, 4));
        const nan = npy([n, d], [NaN, ...rows(2).flat().slice(1)]);
        withFiles(
            { ...files, "large.npy": npy([n, d], rows(2).flat()), "nan.npy": nan, "v.npy": v },
            (folder) => {
                const run = (...more) =>
                    succeed(["run", "sketch", "--v", "v.npy", "-o", "o.npy", ...more], folder);
                const told = /weights +r = max \|scale X X\^T\| is ([\d.e-]+), (.*)/;
                const dense = (q, k) => ["--q", q, "--k", k];
                for (const x of [dense("x.npy", "x.npy"), ["--x", "stored.npz"]]) {
                    const [, r, says] = run(...x, "--scale", "1").match(told);
                    assert.ok(Math.abs(Number(r) - 0.05) < 2e-5, r);
                    assert.match(
                        says,
                        /^12 r 0\.(599|6)\d*, for a sketch of distortion below 1 \(Lemmas 3\.1 to 3\.4\)$/,
                    );
                }
                for (const [q, k] of ["large.npy", "x.npy"].map((q, i, list) => [q, list[1 - i]])) {
                    const [, r] = run(...dense(q, k)).match(told);
                    assert.ok(Math.abs(Number(r) - 2 / Math.sqrt(d)) < 1e-4, r);
                    const [, , says] = run(...dense(q, k), "--scale", "-0.1").match(told);
                    assert.equal(says, "not below 0.1: 12 r bounds nothing here");
                }
                assert.doesNotMatch(run(...dense("x.npy", "x.npy"), "--set", `size=${d}`), /12 r/);
                for (const pair of [dense("nan.npy", "x.npy"), dense("x.npy", "nan.npy")]) {
                    const args = ["run", "sketch", ...pair, "--v", "v.npy", "-o", "o.npy"];
                    assert.match(
                        attn(args, folder).stdout,
                        /X X\^T\| is no number: X = \[Q; K\] has NaN, and 12 r bounds nothing here/,
                    );
                }
            },
        );
    });

    test("an X of zeros is told, and attn compare tells r, too", () => {
        const v = npy([n, 2], random(2 * n, 4));
        const arrays = {
            "large.npy": npy([n, d], rows(2).flat()),
            "zeros.npy": npy([n, d], new Array(n * d).fill(0)),
            "v.npy": v,
        };
        withFiles(arrays, (folder) => {
            const inputs = (x) => ["--q", x, "--k", x, "--v", "v.npy"];
            const says = (x, ...more) => {
                const only = ["--backends", "sketch,softmax", "--time", "0", "--json"];
                const { rows } = JSON.parse(
                    succeed(["compare", ...inputs(x), ...only, ...more], folder),
                );
                assert.doesNotMatch(rows[1].note ?? "", /X X\^T/);
                return rows[0].note;
            };
            const nothing = /; r = max \|scale X X\^T\| is 0, all logits are 0: .* nothing moves$/;
            for (const method of methods.slice(0, 5)) {
                const set = ["--set", `method=${method}`];
                const of = [...inputs("zeros.npy"), "-o", "o.npy", ...set];
                assert.match(succeed(["run", "sketch", ...of], folder), /all logits are 0:/);
                assert.match(says("zeros.npy", "--set", `sketch.method=${method}`), nothing);
            }
            assert.match(
                says("large.npy", "--scale", "1"),
                /; r = max \|scale X X\^T\| is (?:2|1\.99\d+), not below 0\.1: 12 r bounds nothing here$/,
            );
            assert.doesNotMatch(says("large.npy", "--set", `sketch.size=${d}`), /X X\^T/);
        });
    });

    test("the backend's eps and delta have the same limits", () => {
        withFiles(files, (folder) => {
            const run = (setting) =>
                attn(
                    ["run", "sketch", "--q", "x.npy", "--k", "x.npy", "--v", "x.npy"].concat([
                        "-o",
                        "o.npy",
                        "--set",
                        setting,
                    ]),
                    folder,
                );
            for (const name of ["eps", "delta"]) {
                assert.equal(run(`${name}=0.999`).status, 0);
                for (const value of ["0", "1"])
                    assertRefused(run(`${name}=${value}`), /is outside/);
            }
        });
    });

    test("exact scores add up to the rank, however near to each other rows are", () => {
        const [first, ...others] = Array.from({ length: 8 }, (_, i) => random(40, 50 + i));
        const near = others.map((row, i) =>
            row.map((x, j) => first[j] + x * 10 ** (-8 * ((i + 1) / 7))),
        );
        withFiles({ "near.npy": npy([8, 40], [first, ...near].flat()) }, (folder) => {
            for (const algebra of ["plain", "best"]) {
                const args = [
                    "sketch",
                    "near.npy",
                    "--method",
                    "leverage",
                    "--size",
                    "20",
                    "--json",
                ];
                const told = JSON.parse(attn([...args, "--algebra", algebra], folder).stdout);
                assert.ok(told.rank < 8 && told.rank > 3);
                assert.ok(Math.abs(told.score_sum / told.rank - 1) < 1e-8, "the digits told");
            }
        });
    });

    test("rows of K go below those of Q", () => {
        withFiles(files, (folder) => {
            const to = ["--method", "leverage", "--size", "100", "-o", "y.npy", "--json"];
            const told = JSON.parse(succeed(["sketch", "x.npy", "--k", "x.npy", ...to], folder));
            assert.deepEqual([told.n, told.rank], [2 * n, n]);
            const { data: y } = read(folder, "y.npy");
            assert.deepEqual(y.slice(0, n * 100), y.slice(n * 100));
        });
    });

    test("all features: Y is X, and it is said", () => {
        withFiles(files, (folder) => {
            for (const input of ["x.npy", "stored.npz"]) {
                const to = ["-o", "y.npy", "--report", "--json"];
                const told = JSON.parse(succeed(["sketch", input, "--eps", "0.1", ...to], folder));
                assert.deepEqual([told.exact, told.m], [1, d]);
                assert.ok(told.entry < 2 ** -40, "sums are in another order");
                assert.ok(told.asked > d);
                assert.deepEqual(
                    readFileSync(join(folder, "y.npy")).subarray(-4 * n * d),
                    files["x.npy"].subarray(-4 * n * d),
                );
            }
        });
    });

    // Threads of a BLAS that could not all start under a limit would be waited for at exit.
    const limited = 'ulimit -v 100000; exec timeout 20 "$0" "$@"';
    const fits = !isWasi && attnAfter(limited, ["--version"]).status === 0;
    test("a limit of memory is no reason to hang", { skip: !fits && "no such limit" }, () => {
        withFiles(files, (folder) => {
            for (const method of methods) {
                const args = ["sketch", "x.npy", "--method", method, "--size", "60", "-o", "y.npy"];
                const done = attnAfter(limited, [...args, "--report"], folder);
                assert.equal(done.status, 0, `${method}: ${done.stderr}`);
                assertRefused(attnAfter(limited, [...args, "--eps", "5"], folder), /eps is 5/);
            }
        });
    });

    test(
        "of more rows than features memory is for those",
        { skip: !fits && "no such limit" },
        () => {
            const [many, few] = [4000, 8]; // many^2 doubles would be more than the limit
            const [left, right] = [random(many * 3, 1), random(3 * few, 2)];
            const product = Array.from({ length: many * few }, (_, at) =>
                [0, 1, 2].reduce(
                    (sum, k) =>
                        sum +
                        (left[Math.floor(at / few) * 3 + k] * right[k * few + (at % few)]) / 99,
                    0,
                ),
            );
            withFiles({ "tall.npy": npy([many, few], product) }, (folder) => {
                for (const method of methods) {
                    const report = method === "deterministic" ? ["--report"] : []; // many^2 exponentials
                    const size = ["--method", method, "--size", "6", "--json"];
                    const args = ["sketch", "tall.npy", ...size, ...report];
                    const done = attnAfter(limited, args, folder);
                    assert.equal(done.status, 0, `${method}: ${done.stderr}`);
                    const { rank, m, entry, bound } = JSON.parse(done.stdout);
                    assert.ok((rank ?? 3) === 3 && m <= 6, method);
                    if (report.length > 0) assert.ok(entry > 0 && entry < bound);
                }
            });
        },
    );

    test("what has no bound asks for none", () => {
        withFiles(files, (folder) => {
            const args = ["sketch", "x.npy", "--method", "uniform", "--size", "60"];
            assert.match(succeed(args, folder), /^features that the bound .* asks +none$/m);
            assert.equal(JSON.parse(succeed([...args, "--json"], folder)).asked, null);
        });
    });

    test("algebra that is not needed is not loaded", () => {
        withFiles(files, (folder) => {
            for (const [method, algebra] of [
                ["osnap", /^none$/],
                ["approximate", /^none$/],
                ["leverage", /^(lapack|plain)$/],
            ]) {
                const args = ["sketch", "x.npy", "--method", method, "--size", "200", "--json"];
                assert.match(JSON.parse(succeed(args, folder)).algebra, algebra);
            }
        });
    });

    test("what a file is its first bytes say, and standard input's too", () => {
        const named = { ...files, "deflated.bin": files["deflated.npz"] };
        withFiles(named, (folder) => {
            const run = (input, from) => {
                const options = from && { input: named[from] };
                const args = ["sketch", input, "--size", "60", "-o", "y.npy", "--method", "osnap"];
                succeed(args, folder, options);
                return read(folder, "y.npy");
            };
            const y = run("deflated.npz");
            assert.deepEqual(run("deflated.bin"), y);
            assert.deepEqual(run("-", "deflated.npz"), y);
            assert.deepEqual(run("-", "x.npy"), y);
            const v = ["--v", "x.npy", "-o", "o.npy", "--set", "size=60"];
            succeed(["run", "sketch", "--x", "deflated.bin", ...v], folder);
        });
    });

    test("counts are written out, and what is large and no count is not", () => {
        const one = csrFiles([[1, ...new Array(9).fill(0)]]);
        const large = npy([n, d], rows(1e60).flat());
        withFiles({ ...one, "large.npy": large }, (folder) => {
            const { stdout } = attn(["sketch", "large.npy", "--size", "60"], folder);
            assert.match(stdout, /^r, max \|X X\^T\| +\d\.\d+e\+59$/m);
            const args = ["data.npy", "--x-indptr", "indptr.npy", "--x-indices", "indices.npy"];
            args.push("--columns", "1048576", "--method", "osnap", "--size", "4");
            assert.match(attn(["sketch", ...args], folder).stdout, /^features d +1048576$/m);
        });
    });

    const damaged = (at) => {
        const bytes = Buffer.from(files["deflated.npz"]);
        bytes[at < 0 ? bytes.length + at : at] ^= 0xff;
        return bytes;
    };
    const wrong = {
        "coo.npz": zip({ ...archive, "format.npy": format("coo") }),
        "less.npz": zip({ "format.npy": archive["format.npy"] }),
        "far.npz": zip({ ...archive, "shape.npy": ints([n, 10], "<i8") }),
        "rows.npz": zip({ ...archive, "shape.npy": ints([n + 1, d], "<i8") }),
        "cut.npz": files["deflated.npz"].subarray(0, 900),
        "bits.npz": damaged(200),
        "text.npz": "no archive",
        "nan.npy": npy([2, 3], [1, 2, 3, NaN, 5, 6]),
        "zeros.npy": npy([2, 3], [0, 0, 0, 0, 0, 0]),
        "empty.npz": zip(members([[0, 0, 0]])),
        "none.npy": npy([0], []),
        "late.npy": ints([1, ...indptr.slice(1)], "<i8"),
        "huge.npy": ints([...indices.slice(1), 2 ** 31], "<i8"),
        "four.npy": npy([2, 4], [1, 2, 3, 4, 5, 6, 7, 8]),
        "bad.npy": npy([2, 4], [1, 2, 3, 4, 5, 6, NaN, 8]),
        "large.npy": npy([2, 2], [1, 1e300, 3, 4], { descr: "<f8" }),
    };
    const refused = [
        [["coo.npz"], /another form than CSR/],
        [["less.npz"], /has no shape.npy in it/],
        [["far.npz"], /has column \d+, must be 0 to 9/],
        [["rows.npz"], /indptr is of 6 rows, not 7/],
        [["cut.npz"], /is cut off: an archive ends with a directory/],
        [["bits.npz"], /indices.npy in it is damaged/],
        [["text.npz"], /is no .npz file/],
        [["nan.npy"], /element 3 is NaN/],
        [["zeros.npy", "--size", "1"], /rank 0/],
        [["empty.npz", "--size", "1"], /X has no elements: it has rank 0/],
        [
            ["none.npy", "--x-indptr", "late.npy", "--x-indices", "none.npy"],
            /none.npy has elements of float32/,
        ],
        [["data.npy", "--x-indptr", "none.npy", "--x-indices", "indices.npy"], /none.npy/],
        [["data.npy", "--x-indptr", "late.npy", "--x-indices", "indices.npy"], /begins with 1/],
        [["data.npy", "--x-indptr", "indptr.npy"], /come together/],
        [
            [
                ...["data.npy", "--x-indptr", "indptr.npy", "--x-indices", "huge.npy"],
                ...["--columns", "700"],
            ],
            /has column 2147483648, must be 0 to 699/,
        ],
        [["four.npy", "--k", "bad.npy"], /bad.npy: X: element 6 is NaN/],
        [["large.npy"], /float64 at element 1 that is beyond the largest float32/],
        [["x.npy", "--k", "four.npy"], /four.npy: has 4 features, x.npy has 700/],
        [["x.npy", "--method", "magic"], /'magic' is none of gaussian/],
        ...["0", "1", "-1"].flatMap((e) => [
            [["x.npy", "--eps", e], /eps is -?[01], has to be 0\.001 to 0\.999/],
            [["x.npy", "--delta", e], /delta is -?[01], has to be 1e-06 to 0\.999/],
        ]),
        [["x.npy", "--eps", "0.99900001"], /--eps is 0\.99900001, has to be 0\.001 to 0\.999/],
        [["x.npy", "--size", "0"], /--size/],
        [["x.npy", "--eps", "5"], /^attn: --eps is 5/],
        [["x.npy", "--seed", "18446744073709551616"], /--seed: 18446744073709551616 is outside 0/],
        [["x.npy", "--seed", "9007199254740993"], /--seed: 9007199254740993 is outside 0/],
        [["x.npy", "--seed", "1.5"], /'1.5' is not a whole number/],
        [
            ["x.npy", "--method", "leverage", "--factor", "8"],
            /--factor: method leverage has no such parameter/,
        ],
        [
            ["x.npy", "--method", "uniform", "--size", "5", "--eps", "0.3"],
            /--eps: method uniform has no such/,
        ],
        [
            ["x.npy", "--method", "gaussian", "--sparsity", "2"],
            /--sparsity: method gaussian has no such/,
        ],
        [
            ["x.npy", "--method", "deterministic", "--delta", "0.2"],
            /--delta: method deterministic has no/,
        ],
        [["x.npy", "--factor", "0"], /--factor: 0 is outside 2 to 1000/],
        [
            ["x.npy", "--method", "deterministic", "--size", "6"],
            /6 features are too few: deterministic takes more than the rank of X, 6/,
        ],
        [["x.npy", "--method", "uniform"], /has to be given a size/],
        [["x.npy", "--method", "gaussian", "--scores", "s.npy"], /method gaussian has none/],
        [["x.npy", "--algebra", "magic"], /'magic' is none of best, lapack, plain/],
        [["x.npy", "--report", "--scores", "-"], /--report prints to standard output, where/],
    ];
    for (const [args, says] of refused)
        test(`refused: ${args.join(" ")}`, () => {
            withFiles({ ...files, ...wrong }, (folder) => {
                assertRefused(attn(["sketch", ...args, "-o", "y.npy"], folder), says);
            });
        });

    test("ATTN_CPU limits the instruction set, and changes no bit", { skip: isWasi }, () => {
        withFiles(files, (folder) => {
            const sketch = (tier) => {
                const env = { ...process.env, ATTN_CPU: tier };
                return attn(["sketch", "x.npy", "--size", "9", "-o", "y.npy"], folder, { env });
            };
            assertRefused(sketch("nonsense"), /unknown tier 'nonsense'/);
            const [best, scalar] = ["", "scalar"].map((tier) => {
                assert.equal(sketch(tier).status, 0);
                return readFileSync(join(folder, "y.npy"));
            });
            assert.deepEqual(best, scalar);
        });
    });
});
