// Every rule of `attn run` against attention in double precision.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { largestError } from "../exact/exact.mjs";
import { arrays, attention, leading, random } from "./attention.mjs";
import { assertClose, attn, succeed, withFiles } from "./command.mjs";
import { halfBits, halfValue, npy, read } from "./npy.mjs";

const round = (x) => halfValue(halfBits(x));
const product = (shape) => shape.reduce((a, b) => a * b, 1);

/** An array that broadcasts to (B, H, n, m): a file, and the same as a function of b, h, i, j. */
function broadcast(shape, values, descr = "<f4") {
    const full = [1, 1, 1, 1, ...shape].slice(-4);
    const at = (...index) =>
        values[index.reduce((sum, x, axis) => sum * full[axis] + (full[axis] > 1 ? x : 0), 0)];
    return { file: npy(shape, values, { descr }), at };
}

/** Not always false for a whole row, and never the same for two. */
const truths = (shape, seed) => random(product(shape), seed).map((x) => x > -0.3);
const masks = [
    ["(m)", [11]],
    ["(n, m)", [7, 11]],
    ["(n, 1)", [7, 1]],
    ["(1, n, m)", [1, 7, 11]],
    ["(H, n, m)", [4, 7, 11]],
    ["(H, 1, m)", [4, 1, 11]],
    ["(B, 1, n, m)", [2, 1, 7, 11]],
    ["(B, H, n, m)", [2, 4, 7, 11]],
    ["(B, 1, 1, m)", [2, 1, 1, 11]],
].map(([name, shape], i) => ({ name, shape, seed: 20 + i }));

const base = { B: 2, H: 4, Hkv: 2, n: 7, m: 11, d: 8, dv: 5 };
const geometric = [1, 2, 3, 4].map((i) => 2 ** ((-8 * i) / 4));
/** What get_slopes() of the paper's code gives for 6 and for 12 heads: those of 4 and 8, then every other of 8 and 16. */
const slopesOf6 = [...geometric, 2 ** -1, 2 ** -3];
const slopesOf12 = [
    ...[1, 2, 3, 4, 5, 6, 7, 8].map((i) => 2 ** -i),
    ...[1, 3, 5, 7].map((i) => 2 ** (-i / 2)),
];
const numbers = [0.25, -1, 0.5, 2];

/** {name, rules for attention(), args, files, sizes that differ from base} */
const cases = [
    { name: "--window 3,0", rules: { window: [3, 0] }, args: ["--window", "3,0"] },
    { name: "--window=2,1", rules: { window: [2, 1] }, args: ["--window=2,1"] },
    { name: "--window -1,0", rules: { window: [-1, 0] }, args: ["--window", "-1,0"] },
    { name: "--window 2,", rules: { window: [2, -1] }, args: ["--window", "2,"] },
    { name: "--window ,", rules: {}, args: ["--window", ","] },
    {
        name: "--window 2,0 --causal=bottom-right",
        rules: { window: [2, 0], causal: "bottom-right" },
        args: ["--window", "2,0", "--causal=bottom-right"],
    },
    {
        name: "--causal=top-left",
        rules: { causal: "top-left" },
        args: ["--causal=top-left"],
    },
    { name: "--softcap", rules: { softcap: 0.75 }, args: ["--softcap", "0.75"] },
    {
        name: "--softcap --scale",
        rules: { softcap: 2, scale: 3 },
        args: ["--softcap=2", "--scale=3"],
    },
    ...masks.flatMap(({ name, shape, seed }) => {
        const mask = broadcast(shape, truths(shape, seed), "|b1");
        const bias = broadcast(shape, random(product(shape), seed));
        return [
            {
                name: `--mask ${name}`,
                rules: { mask: mask.at },
                args: ["--mask", "m.npy"],
                files: { "m.npy": mask.file },
            },
            {
                name: `--bias ${name}`,
                rules: { bias: bias.at },
                args: ["--bias", "b.npy"],
                files: { "b.npy": bias.file },
            },
        ];
    }),
    ...["<f2", "<f8"].map((descr) => {
        const values = random(77, 31).map((x) => (x < -0.5 ? -Infinity : round(x)));
        const bias = broadcast([7, 11], values, descr);
        return {
            name: `--bias ${descr}, some -inf`,
            rules: { bias: bias.at },
            args: ["--bias", "b.npy"],
            files: { "b.npy": bias.file },
        };
    }),
    {
        name: "--mask in Fortran order",
        rules: { mask: broadcast([7, 11], truths([7, 11], 5), "|b1").at },
        args: ["--mask", "m.npy"],
        files: { "m.npy": npy([7, 11], truths([7, 11], 5), { descr: "|b1", fortran: true }) },
    },
    {
        name: "rows that a mask leaves without a key",
        rules: { mask: (b, h, i) => i % 3 !== 1 },
        args: ["--mask", "m.npy"],
        files: {
            "m.npy": npy(
                [7, 1],
                [0, 1, 2, 3, 4, 5, 6].map((i) => i % 3 !== 1),
                { descr: "|b1" },
            ),
        },
    },
    { name: "--kv-lens 3,11", rules: { lengths: [3, 11] }, args: ["--kv-lens", "3,11"] },
    { name: "--kv-lens 0,5", rules: { lengths: [0, 5] }, args: ["--kv-lens=0,5"] },
    ...["<i4", "<i8"].map((descr) => ({
        name: `--kv-lens ${descr}, bottom-right`,
        rules: { lengths: [4, 9], causal: "bottom-right" },
        args: ["--kv-lens", "lens.npy", "--causal=bottom-right"],
        files: { "lens.npy": npy([2], [4, 9], { descr }) },
    })),
    {
        name: "--kv-lens, and a mask without the columns that nobody has",
        rules: { lengths: [4, 3], mask: (b, h, i, j) => truths([7, 4], 9)[i * 4 + j] },
        args: ["--kv-lens", "4,3", "--mask", "m.npy"],
        files: { "m.npy": npy([7, 4], truths([7, 4], 9), { descr: "|b1" }) },
    },
    { name: "--sinks a,b", rules: { sinks: numbers }, args: ["--sinks", numbers.join()] },
    {
        name: "--sinks and rows without a key",
        rules: { sinks: numbers, lengths: [0, 6] },
        args: ["--sinks", "s.npy", "--kv-lens", "0,6"],
        files: { "s.npy": npy([4], numbers) },
    },
    { name: "--alibi", rules: { slopes: geometric }, args: ["--alibi"] },
    {
        name: "--alibi of 6 heads",
        rules: { slopes: slopesOf6 },
        args: ["--alibi"],
        sizes: { H: 6, Hkv: 3 },
    },
    {
        name: "--alibi=auto of 12 heads, which share a key/value head",
        rules: { slopes: slopesOf12 },
        args: ["--alibi=auto"],
        sizes: { H: 12, Hkv: 1 },
    },
    {
        name: "--alibi of 1 head",
        rules: { slopes: [2 ** -8] },
        args: ["--alibi"],
        sizes: { H: 1, Hkv: 1 },
    },
    {
        name: "--alibi=auto --causal",
        rules: { slopes: geometric, causal: "top-left" },
        args: ["--alibi=auto", "--causal"],
    },
    {
        name: "--alibi=a,b --causal=bottom-right",
        rules: { slopes: [0.5, 0.25, 1, 0], causal: "bottom-right" },
        args: ["--alibi=0.5,0.25,1,0", "--causal=bottom-right"],
    },
    {
        name: "--alibi=s.npy",
        rules: { slopes: [0.5, 0.25, 1, 0] },
        args: ["--alibi=s.npy"],
        files: { "s.npy": npy([4], [0.5, 0.25, 1, 0], { descr: "<f2" }) },
    },
    ...[[4], [4, 1], [1, 4], [1, 4, 1], [4, 1, 1], [1, 4, 1, 1]].flatMap((shape) => [
        {
            name: `--sinks of shape ${shape}`,
            rules: { sinks: numbers },
            args: ["--sinks=s.npy"],
            files: { "s.npy": npy(shape, numbers, { fortran: shape.length === 3 }) },
        },
        {
            name: `--alibi of shape ${shape}`,
            rules: { slopes: [0.5, 0.25, 1, 0] },
            args: ["--alibi=s.npy"],
            files: { "s.npy": npy(shape, [0.5, 0.25, 1, 0], { descr: "<f8" }) },
        },
    ]),
    ...[
        [2, 1],
        [2, 1, 1],
        [2, 1, 1, 1],
    ].map((shape) => ({
        name: `--kv-lens of shape ${shape}`,
        rules: { lengths: [4, 9] },
        args: ["--kv-lens=lens.npy"],
        files: { "lens.npy": npy(shape, [4, 9], { descr: "<i4" }) },
    })),
    {
        name: "all at once",
        rules: {
            ...{ causal: "bottom-right", window: [4, -1], softcap: 1.5, scale: 0.5 },
            ...{ sinks: numbers, slopes: geometric, lengths: [9, 11] },
            mask: broadcast([7, 11], truths([7, 11], 5)).at,
            bias: broadcast([4, 7, 11], random(308, 6)).at,
        },
        args: [
            ...["--causal=bottom-right", "--window=4,", "--softcap=1.5", "--scale=0.5"],
            ...[`--sinks=${numbers}`, "--alibi", "--kv-lens=9,11"],
            ...["--mask=m.npy", "--bias=b.npy"],
        ],
        files: {
            "m.npy": npy([7, 11], truths([7, 11], 5), { descr: "|b1" }),
            "b.npy": npy([4, 7, 11], random(308, 6)),
        },
    },
];

const INPUTS = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"];
const OUTPUTS = ["-o", "o.npy", "--lse", "l.npy", "--weights", "w.npy", "--scores", "s_out.npy"];

function check(folder, sizes, exact, mode, rank = 4) {
    const { B = 1, H = 1, n, m, dv } = sizes;
    const expect = (name, shape, values, tolerance) => {
        const file = read(folder, name);
        assert.deepEqual(file.shape, shape, name);
        assertClose(file.data, values, tolerance, name);
    };
    expect("o.npy", leading(rank, B, H, n, dv), exact.out, exact.outBound);
    expect("l.npy", leading(rank, B, H, n), exact.lse, exact.lseBound);
    const [weights, logits] = [
        [exact.scores[3], exact.scoresBound[3]],
        [exact.scores[mode], exact.scoresBound[mode]],
    ];
    expect("w.npy", leading(rank, B, H, n, m), ...weights);
    expect("s_out.npy", leading(rank, B, H, n, m), ...logits);
}

describe("attn run softmax with", () => {
    for (const [number, { name, rules, args, files, sizes: others }] of cases.entries()) {
        test(name, () => {
            const sizes = { ...base, ...others };
            const [q, k, v] = arrays(sizes);
            const { B, H, Hkv, n, m, d, dv } = sizes;
            const inputs = {
                "q.npy": npy([B, H, n, d], q),
                "k.npy": npy([B, Hkv, m, d], k),
                "v.npy": npy([B, Hkv, m, dv], v),
            };
            const mode = number % 4;
            withFiles({ ...inputs, ...files }, (folder) => {
                const all = ["run", "softmax", ...INPUTS, ...OUTPUTS, ...args];
                const report = succeed([...all, "--scores-mode", `${mode}`], folder);
                const pairs = new RegExp(
                    `^pairs .* of n m${rules.mask ? ", before mask" : ""}$`,
                    "m",
                );
                assert.match(report, pairs);
                check(folder, sizes, attention({ ...sizes, ...rules }, q, k, v), mode);
            });
        });
    }

    for (const mode of [0, 1, 2, 3]) {
        test(`--scores-mode ${mode}`, () => {
            const sizes = { H: 2, Hkv: 2, B: 1, n: 5, m: 9, d: 8, dv: 8 };
            const [q, k, v] = arrays(sizes);
            const files = {
                "q.npy": npy([2, 5, 8], q),
                "k.npy": npy([2, 9, 8], k),
                "v.npy": npy([2, 9, 8], v),
            };
            withFiles(files, (folder) => {
                const args = ["--causal", "--softcap=0.5", "--alibi", `--scores-mode=${mode}`];
                succeed(["run", "softmax", ...INPUTS, ...OUTPUTS, ...args], folder);
                const rules = { causal: "top-left", softcap: 0.5, slopes: [2 ** -4, 2 ** -8] };
                check(folder, sizes, attention({ ...sizes, ...rules }, q, k, v), mode, 3);
            });
        });
    }

    test("a masked NaN", () => {
        const [q, k, v] = arrays(base);
        const { B, H, Hkv, n, m, d, dv } = base;
        const files = {
            "q.npy": npy([B, H, n, d], q),
            "k.npy": npy(
                [B, Hkv, m, d],
                k.map((x, i) => (Math.floor(i / d) % m === 10 ? NaN : x)),
            ),
            "v.npy": npy(
                [B, Hkv, m, dv],
                v.map((x, i) => (Math.floor(i / dv) % m === 10 ? Infinity : x)),
            ),
            "m.npy": npy(
                [m],
                Array.from({ length: m }, (_, j) => j < 10),
                { descr: "|b1" },
            ),
        };
        const exact = attention({ ...base, lengths: [10, 10] }, q, k, v);
        withFiles(files, (folder) => {
            for (const rule of ["--mask=m.npy", "--kv-lens=10,10"]) {
                const args = ["run", "softmax", ...INPUTS, "-o", "o.npy", rule];
                const { status, stderr } = attn(args, folder);
                assert.equal(status, 0, stderr);
                assert.match(stderr, /warning: NaN or infinite elements: 0 in Q, 32 in K, 20 in V/);
                assertClose(read(folder, "o.npy").data, exact.out, exact.outBound, rule);
            }
        });
    });
});

describe("attn run with a past", () => {
    const [B, Hkv, past, m, d, dv] = [2, 2, 4, 7, 8, 5];
    const sizes = { ...base, m: past + m };
    /** Rows [from, to) of each head. */
    const rows = (values, columns, from, to) =>
        Array.from({ length: B * Hkv }, (_, h) =>
            values.slice((h * (past + m) + from) * columns, (h * (past + m) + to) * columns),
        ).flat();

    function files(options = {}, value = (x) => x) {
        const [q, k, v] = arrays(sizes).map((array) => array.map(value));
        const at = (array, columns, from, to) =>
            npy([B, Hkv, to - from, columns], rows(array, columns, from, to), options);
        const inputs = {
            "q.npy": npy([B, sizes.H, sizes.n, d], q, options),
            "k.npy": at(k, d, past, past + m),
            "v.npy": at(v, dv, past, past + m),
            "pk.npy": at(k, d, 0, past),
            "pv.npy": at(v, dv, 0, past),
        };
        return { q, k, v, inputs };
    }
    const PAST = [...INPUTS, "--past-k", "pk.npy", "--past-v", "pv.npy"];
    const PRESENT = ["--present-k", "k_out.npy", "--present-v", "v_out.npy"];

    for (const [name, args, rules, options] of [
        ["alone", [], {}, {}],
        ["--causal", ["--causal"], { causal: "top-left" }, {}],
        [
            "--window and --alibi",
            ["--window=3,1", "--alibi"],
            { window: [3, 1], slopes: geometric },
        ],
        ["Fortran order", ["--causal"], { causal: "top-left" }, { fortran: true }],
        ["float64", ["--causal"], { causal: "top-left" }, { descr: "<f8" }],
    ]) {
        test(name, () => {
            const { q, k, v, inputs } = files(options);
            withFiles(inputs, (folder) => {
                const all = ["run", "softmax", ...PAST, ...PRESENT, ...OUTPUTS, ...args];
                assert.match(succeed(all, folder), /^rules +past 4/m);
                check(folder, sizes, attention({ ...sizes, past, ...rules }, q, k, v), 0);
                const present = { k: read(folder, "k_out.npy"), v: read(folder, "v_out.npy") };
                assert.deepEqual(present.k, { shape: [B, Hkv, 11, d], data: k, descr: "<f4" });
                assert.deepEqual(present.v, { shape: [B, Hkv, 11, dv], data: v, descr: "<f4" });
            });
        });
    }

    test("float16 in, float16 out", () => {
        const { q, k, v, inputs } = files({ descr: "<f2" }, round);
        withFiles(inputs, (folder) => {
            const all = ["run", "softmax", ...PAST, ...PRESENT, ...OUTPUTS, "--causal"];
            succeed(all, folder);
            const rules = { past, causal: "top-left", dtype: "f16" };
            const exact = attention({ ...sizes, ...rules }, q, k, v);
            check(folder, sizes, exact, 0);
            assert.equal(read(folder, "o.npy").descr, "<f2");
            assert.equal(read(folder, "l.npy").descr, "<f4");
            const { shape, data, descr } = read(folder, "k_out.npy");
            assert.deepEqual(
                { shape, data, descr },
                { shape: [B, Hkv, 11, d], data: k, descr: "<f2" },
            );
        });
    });

    test("float16 beside float32", () => {
        const { q, k, v, inputs } = files({}, round);
        inputs["k.npy"] = npy([B, Hkv, m, d], rows(k, d, past, past + m), { descr: "<f2" });
        inputs["pv.npy"] = npy([B, Hkv, past, dv], rows(v, dv, 0, past), { descr: "<f2" });
        withFiles(inputs, (folder) => {
            succeed(["run", "softmax", ...PAST, ...PRESENT, ...OUTPUTS], folder);
            check(folder, sizes, attention({ ...sizes, past }, q, k, v), 0);
            assert.deepEqual(read(folder, "k_out.npy").data, k);
            assert.equal(read(folder, "v_out.npy").descr, "<f4");
        });
    });

    test("no past: the present is K and V", () => {
        const { inputs } = files();
        withFiles(inputs, (folder) => {
            succeed(["run", "softmax", ...INPUTS, "-o", "o.npy", ...PRESENT], folder);
            assert.deepEqual(read(folder, "k_out.npy"), read(folder, "k.npy"));
            assert.deepEqual(read(folder, "v_out.npy").shape, [B, Hkv, m, dv]);
        });
    });

    test("attn compare has the same rules", () => {
        const { q, k, v, inputs } = files();
        const truth = truths([11], 4);
        const mask = npy([1, 11], truth, { descr: "|b1" });
        const rules = { causal: "top-left", window: [6, 0], softcap: 3, sinks: [0, 0, 1, 1] };
        const all = { ...sizes, past, ...rules, mask: (b, h, i, j) => truth[j] };
        withFiles({ ...inputs, "m.npy": mask }, (folder) => {
            const args = [
                "--causal",
                "--window=6,0",
                "--mask=m.npy",
                "--softcap=3",
                "--sinks=0,0,1,1",
            ];
            const compare = ["compare", ...PAST, ...args, "--time=0.01"];
            const report = JSON.parse(succeed([...compare, "--json"], folder));
            assert.equal(report.rules, "past 4, window (6, 0), softcap 3, mask, sinks");
            assert.deepEqual(report.k, [2, 2, 11, 8]);
            assert.ok(report.rows[0].error <= largestError(attention(all, q, k, v)));
            const does = Object.fromEntries(
                report.rows.map((row) => [row.backend, !row.note?.includes("does not do")]),
            );
            assert.deepEqual(does, { softmax: true, sparse: true, linear: false, sketch: false });
            assert.match(succeed(compare, folder), /, causal, past 4, window \(6, 0\), softcap 3/);
        });
    });

    test("attn compare knows float16", () => {
        const { q, k, v, inputs } = files({ descr: "<f2" }, round);
        withFiles(inputs, (folder) => {
            const args = ["compare", ...PAST, "--backends=softmax", "--time=0.01", "--json"];
            const [row] = JSON.parse(succeed(args, folder)).rows;
            const [single, half] = ["f32", "f16"].map((dtype) =>
                largestError(attention({ ...sizes, past, dtype }, q, k, v)),
            );
            assert.ok(single < row.error && row.error <= half, `${row.error}`);
        });
    });
});
