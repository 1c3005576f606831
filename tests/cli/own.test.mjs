// Arrays by name, --input and --output: the library's, and a backend's own (own_arrays.c).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, test } from "node:test";

import { largestError } from "../exact/exact.mjs";
import { arrays, attention, inputFiles, random } from "./attention.mjs";
import { assertClose, attn, contents, isWasi, plugin, succeed, withFiles } from "./command.mjs";
import { npy, parseNpy } from "./npy.mjs";
import { inputs, ok, refuse, run, zeros } from "./wrong.mjs";

const own = process.env.ATTN_OWN_PLUGIN && resolve(process.env.ATTN_OWN_PLUGIN);
const skip = (!own || isWasi) && "no plugin to load";
const INPUTS = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"];
const PLUGIN = ["--plugin", own];
const read = (folder, name) => parseNpy(readFileSync(join(folder, name)));

/** Whole numbers that differ. */
const whole = (count, first = 0) => Array.from({ length: count }, (_, i) => first + i);

describe("arrays of the library by name", () => {
    const sizes = { H: 2, n: 5, d: 4 };
    const values = {
        "m.npy": npy(
            [5, 5],
            [...random(25, 3)].map((x) => x > -0.5),
            { descr: "|b1" },
        ),
        "b.npy": npy([2, 5, 1], random(10, 4)),
        "s.npy": npy([2], [0.5, -1]),
    };
    for (const [flags, named] of [
        [
            ["--mask", "m.npy"],
            ["--input", "mask=m.npy"],
        ],
        [["--bias=b.npy"], ["--input=bias=b.npy"]],
        [["--sinks=0.5,-1"], ["--input", "sinks=0.5,-1"]],
        [["--sinks=s.npy"], ["--input", "sinks=s.npy"]],
        [["--kv-lens=3"], ["--input", "kv_lengths=3"]],
        [["--alibi"], ["--input", "slopes=auto"]],
        [
            ["--alibi=1,2", "--mask=m.npy"],
            ["--input", "slopes=1,2", "--input", "mask=m.npy"],
        ],
        [
            ["--lse=l.npy", "--scores=w.npy"],
            ["-o", "lse=l.npy", "-o", "scores=w.npy"],
        ],
    ]) {
        test(named.join(" "), () => {
            const both = [flags, named].map((args) =>
                withFiles({ ...inputFiles(sizes, 3), ...values }, (folder) => {
                    succeed(["run", "softmax", ...INPUTS, "-o", "o.npy", ...args], folder);
                    return contents(folder);
                }),
            );
            assert.deepEqual(both[1], both[0]);
        });
    }

    test("the result by its name, or not at all", () => {
        withFiles(inputFiles(sizes, 3), (folder) => {
            succeed(["run", "softmax", ...INPUTS, "-o", "out=a.npy"], folder);
            succeed(["run", "softmax", ...INPUTS, "-o", "./out=b.npy"], folder);
            succeed(["run", "softmax", ...INPUTS, "-o", "lse=l.npy"], folder);
            const names = Object.keys(contents(folder));
            assert.deepEqual(
                names.filter((name) => !/^[qkv]\./.test(name)),
                ["a.npy", "l.npy", "out=b.npy"],
            );
        });
    });

    test("compare and bench", () => {
        withFiles({ ...inputFiles(sizes, 3), ...values }, (folder) => {
            const compare = ["compare", ...INPUTS, "--backends=softmax", "--time=0", "--json"];
            const report = JSON.parse(succeed([...compare, "--input", "sinks=s.npy"], folder));
            assert.equal(report.rules, "sinks");
            const exact = attention({ ...sizes, sinks: [0.5, -1] }, ...arrays(sizes));
            assert.ok(report.rows[0].error <= largestError(exact));
        });
        const bench = ["bench", "--backend=softmax,linear", "--n=8,16", "--heads=2", "--time=0"];
        const { status, stdout, stderr } = attn([...bench, "--json", "--input=sinks=1,2"]);
        assert.equal(status, 0, stderr);
        assert.match(stderr, /linear with n = 8.* does not do attention sinks/);
        assert.deepEqual(
            JSON.parse(stdout).rows.map(({ backend, ms }) => [backend, ms !== null]),
            [
                ["softmax", true],
                ["linear", false],
                ["softmax", true],
                ["linear", false],
            ],
        );
    });
});

describe("numbers in place of an array that may be 1 but for its heads", () => {
    const sizes = { B: 2, H: 4, Hkv: 2, n: 9, m: 9, d: 4 };
    const decay = [-0.5, -0.125];
    const beta = [0.25, 0.75];
    const loss = npy([2, 4, 9, 4], random(2 * 4 * 9 * 4, 7));

    /** All files after a run and its gradients; arrays are as they are or of each head. */
    const after = (files, ...own) =>
        withFiles({ ...inputFiles(sizes, 4), "do.npy": loss, ...files }, (folder) => {
            const given = own.map(([name, value]) => `--input=${name}=${value}`);
            const grads = own.map(([name]) => `--grad=${name}=d_${name}.npy`);
            const rule = ["--set=rule=gated_delta", "--set=feature_map=lin", "--causal"];
            const args = ["run", "linear", ...INPUTS, ...rule, ...given, "-o", "o.npy"];
            succeed([...args, "--grad=out=do.npy", ...grads], folder);
            const names = ["o", "d_decay", "d_beta"];
            return names.map((name) => [...read(folder, `${name}.npy`).data]);
        });

    test("one for each head", () => {
        const files = { "a.npy": npy([2, 1, 1], decay), "b.npy": npy([2, 1, 1], beta) };
        assert.deepEqual(
            after({}, ["decay", decay.join()], ["beta", beta.join()]),
            after(files, ["decay", "a.npy"], ["beta", "b.npy"]),
        );
    });

    test("one for all", () => {
        const files = { "a.npy": npy([1, 1, 1], [-0.5]), "b.npy": npy([1, 1, 1], [0.25]) };
        assert.deepEqual(
            after({}, ["decay", "-0.5"], ["beta", ".25"]),
            after(files, ["decay", "a.npy"], ["beta", "b.npy"]),
        );
    });

    test("attn list says so", () => {
        const text = succeed(["list"]);
        assert.match(text, /--input decay=A,B,\.\.\. or FILE: f32/);
        assert.match(text, /--input beta=A,B,\.\.\. or FILE: f32/);
        assert.match(text, /--input state=FILE: f32/);
    });
});

describe("arrays of a backend's own", { skip }, () => {
    const [B, H, Hkv, n, m, d, dv] = [2, 4, 2, 3, 6, 5, 7];
    const sizes = { B, H, Hkv, n, m, d, dv };
    const gains = whole(H, 1);
    const field = whole(B * H * n, 2);
    const shared = whole(H * n, 2);
    const blocks = (count) => whole(count * dv, -3);

    /** out as own_arrays.c says. */
    function expected({ gain = () => 0, at = () => 0, rows = [] }, size = sizes) {
        const { B: batch = 1, H: heads = 1, n: queries, dv: columns } = size;
        return whole(batch * heads * queries * columns).map((cell) => {
            const c = cell % columns;
            const i = Math.floor(cell / columns) % queries;
            const h = Math.floor(cell / columns / queries) % heads;
            const b = Math.floor(cell / columns / queries / heads);
            const sum = rows.reduce(
                (total, x, k) =>
                    total + (k % columns === c ? (1 + Math.floor(k / columns)) * x : 0),
                0,
            );
            return gain(h) + 8 * at(b, h, i) + 64 * sum;
        });
    }

    const gain = (h) => gains[h];
    const perBatch = (b, h, i) => field[(b * H + h) * n + i];
    const forAll = (b, h, i) => shared[h * n + i];
    for (const [name, args, files, from] of [
        ["nothing", [], {}, {}],
        ["a list", ["gains=1,2,3,4"], {}, { gain }],
        ["long numbers", [`gains=1,${"0".repeat(40)}2,3,4.${"0".repeat(80)}`], {}, { gain }],
        ["a file of rank 1", ["gains=g.npy"], { "g.npy": npy([H], gains) }, { gain }],
        ["float64", ["gains=g.npy"], { "g.npy": npy([H], gains, { descr: "<f8" }) }, { gain }],
        [
            "float16",
            ["field=f.npy"],
            { "f.npy": npy([H, n, 1], shared, { descr: "<f2" }) },
            { at: forAll },
        ],
        ["all axes", ["field=f.npy"], { "f.npy": npy([B, H, n, 1], field) }, { at: perBatch }],
        [
            "without the axis at the end",
            ["field=f.npy"],
            { "f.npy": npy([B, H, n], field) },
            { at: perBatch },
        ],
        ["one for all batches", ["field=f.npy"], { "f.npy": npy([H, n], shared) }, { at: forAll }],
        [
            "Fortran order",
            ["field=f.npy"],
            { "f.npy": npy([B, H, n, 1], field, { fortran: true }) },
            { at: perBatch },
        ],
        [
            "an axis that the plan tells, in Fortran order",
            ["block_table=t.npy"],
            { "t.npy": npy([2, dv], blocks(2), { fortran: true }) },
            { rows: blocks(2) },
        ],
        [
            "all of them",
            ["gains=1,2,3,4", "field=f.npy", "block_table=t.npy"],
            { "f.npy": npy([B, H, n], field), "t.npy": npy([2, dv], blocks(2)) },
            { gain, at: perBatch, rows: blocks(2) },
        ],
    ]) {
        test(name, () => {
            withFiles({ ...inputFiles(sizes, 4), ...files }, (folder) => {
                const given = args.flatMap((text) => ["--input", text]);
                const all = ["run", "org.example.own", ...PLUGIN, ...INPUTS, "-o", "o.npy"];
                succeed([...all, ...given], folder);
                const { shape, data } = read(folder, "o.npy");
                assert.deepEqual(shape, [B, H, n, dv]);
                assert.deepEqual(data, expected(from));
            });
        });
    }

    test("another parameter, another shape", () => {
        withFiles({ ...inputFiles(sizes, 4), "t.npy": npy([3, dv], blocks(3)) }, (folder) => {
            const all = ["run", "org.example.own", ...PLUGIN, ...INPUTS, "-o", "o.npy"];
            succeed([...all, "--set=block=2", "--input=block_table=t.npy"], folder);
            assert.deepEqual(read(folder, "o.npy").data, expected({ rows: blocks(3) }));
        });
    });

    for (const [rank, shape] of [
        [2, [d, dv]],
        [3, [Hkv, d, dv]],
        [4, [B, Hkv, d, dv]],
    ]) {
        test(`an output of its own beside Q of rank ${rank}`, () => {
            const part = { n, m, d, dv };
            if (rank > 2) Object.assign(part, { H, Hkv });
            if (rank > 3) Object.assign(part, { B });
            withFiles(inputFiles(part, rank), (folder) => {
                const all = ["run", "org.example.own", ...PLUGIN, ...INPUTS];
                succeed([...all, "-o", "o.npy", "--output", "state=s.npy"], folder);
                const [key, value] = ["k.npy", "v.npy"].map((file) => read(folder, file).data);
                const state = read(folder, "s.npy");
                assert.deepEqual(state.shape, shape);
                const sums = state.data.map((_, cell) => {
                    const [e, c] = [cell % dv, Math.floor(cell / dv) % d];
                    const head = Math.floor(cell / dv / d);
                    const term = (j) =>
                        key[(head * m + j) * d + c] * value[(head * m + j) * dv + e];
                    return whole(m).reduce((sum, j) => sum + term(j), 0);
                });
                // Products and sums of m terms of at most 1 in float32: m 2^-24 of m each.
                const bound = m * m * 2 ** -23;
                assertClose(
                    state.data,
                    sums,
                    sums.map(() => bound),
                    "state",
                );
                assert.deepEqual(read(folder, "o.npy").data, expected({}, part));
            });
        });
    }

    test("one that a backend needs", () => {
        withFiles(inputFiles(sizes, 4), (folder) => {
            const all = ["run", "org.example.gated", ...PLUGIN, ...INPUTS, "-o", "o.npy"];
            succeed([...all, "--input", "gates=5,-6"], folder);
            const half = (H * n * dv * B) / 2;
            const gates = [...new Array(half).fill(5), ...new Array(half).fill(-6)];
            assert.deepEqual(read(folder, "o.npy").data, gates);
        });
    });

    test("compare gives them to the backends that have them", () => {
        withFiles(inputFiles(sizes, 4), (folder) => {
            const names = "--backends=softmax,org.example.own,org.example.gated";
            const all = ["compare", ...PLUGIN, ...INPUTS, names, "--time=0", "--json"];
            const rows = (...args) => JSON.parse(succeed([...all, ...args], folder)).rows;
            const without = rows("--input=gains=1,2,3,4");
            assert.deepEqual(
                without.map((row) => row.ms !== null),
                [true, true, false],
            );
            assert.match(without[2].note, /'org\.example\.gated' needs --input gates/);
            const nothing = rows("--input=gates=5,6");
            assert.ok(nothing.every((row) => row.ms !== null));
            // All zeros are as far from the truth as it is from zero.
            assert.equal(nothing[1].error, 1);
            assert.notEqual(without[1].error, 1);
        });
    });

    test("bench", () => {
        const all = ["bench", ...PLUGIN, "--n=8", "--heads=2", "--time=0", "--json"];
        const ids = ["--backend=org.example.own", "--backend=org.example.gated"];
        const { rows } = JSON.parse(
            succeed([...all, ...ids, "--input=gates=5", "--input=gains=1,2"]),
        );
        assert.ok(rows.every((row) => row.ms !== null));
        const { status, stdout, stderr } = attn([...all, ...ids]);
        assert.equal(status, 0, stderr);
        assert.match(stderr, /org\.example\.gated with n = 8.*needs --input gates/);
        assert.equal(JSON.parse(stdout).rows[1].ms, null);
    });

    test("the template's widths are its parameter, a head at a time", () => {
        withFiles(inputFiles(sizes, 4), (folder) => {
            const all = ["run", "org.libattn.template", "--plugin", plugin, ...INPUTS];
            succeed([...all, "-o", "a.npy", "--set", "width=3"], folder);
            succeed([...all, "-o", "b.npy", "--input", "widths=3,3,3,3"], folder);
            succeed([...all, "-o", "c.npy", "--input", "widths=3,3,3,4"], folder);
            const [a, b, c] = ["a", "b", "c"].map((name) => read(folder, `${name}.npy`).data);
            assert.deepEqual(b, a);
            assert.deepEqual(c.slice(0, 3 * n * dv), a.slice(0, 3 * n * dv));
            assert.notDeepEqual(c, a);
        });
    });

    test("list shows them", () => {
        const text = succeed(["list", ...PLUGIN]);
        for (const line of [
            "--input gains=A,B,... or FILE: f32 (1, H, 1, 1)",
            "--input field=FILE: f32 (B|1, H, n, 1)",
            "--input block_table=FILE: f32 (1, 1, plan, dv)",
            "--output state=FILE: f32 (B, Hkv, d, dv)",
            "--input gates=A,B,... or FILE: f32 (B, 1, 1, 1), required",
        ])
            assert.ok(text.includes(`  ${line}\n      `), `${line}\n${text}`);
        const list = JSON.parse(succeed(["list", "--json", ...PLUGIN]));
        const arrays = list.find(({ id }) => id === "org.example.own").arrays;
        assert.deepEqual(
            arrays.filter((array) => array.own).map((array) => array.name),
            ["gains", "field", "block_table", "state", "counts"],
        );
    });
});

describe("wrong arrays by name", () => {
    for (const [what, args, says] of [
        ["no name", ["--input", "mask.npy"], /--input: 'mask\.npy' is not of the form NAME=VALUE/],
        [
            "an unknown input",
            ["--input=masks=mask.npy"],
            /no input 'masks'; there are bias, mask, kv_lengths, sinks, slopes, key_scales, value_scales \(did you mean mask\?\)$/m,
        ],
        [
            "an input in capitals",
            ["--input=Mask=mask.npy"],
            /no input 'Mask'; there are bias, mask, kv_lengths, sinks, slopes, key_scales, value_scales \(did you mean mask\?\)$/m,
        ],
        ["an output as an input", ["--input=lse=l.npy"], /no input 'lse'; there are bias, mask/],
        ["Q by name", ["--input=query=x.npy"], /no input 'query'; there are bias, mask/],
        [
            "an unknown output",
            ["-o", "weight=w.npy"],
            /--output: there is no output 'weight'; there are out, lse, scores$/m,
        ],
        ["a result twice", ["-o", "p.npy"], /--output: 'out' is given twice/],
        ["an output twice", ["--lse=l.npy", "-o", "lse=k.npy"], /--output: 'lse' is given twice/],
        [
            "an input twice",
            ["--mask=mask.npy", "--input", "mask=mask.npy"],
            /--input: 'mask' is given twice/,
        ],
        ["an empty list", ["--input=sinks="], /--input: 'sinks=' has no value/],
        ["a list too long", ["--input=sinks=1,2"], /--input sinks: 2 values for 1 head\n/],
    ])
        test(what, () => refuse({}, (folder) => attn(run(...ok, ...args), folder), says));

    test("those are named that the backend does", () => {
        const says = /no input 'gate'; there are kv_lengths, decay, beta, state, state_z$/m;
        refuse({}, (folder) => attn(["run", "linear", ...ok, "--input=gate=1"], folder), says);
        const outputs = /no output 'weights'; there are out, state_out, state_z_out$/m;
        refuse({}, (folder) => attn(["run", "linear", ...ok, "-o", "weights=w"], folder), outputs);
        const both = ["compare", ...inputs(), "--backends=linear,sparse", "--input=gate=1"];
        refuse(
            {},
            (folder) => attn(both, folder),
            /there are bias, mask, .*, decay, .*, block_mask/,
        );
    });

    test("compare and bench refuse names, too", () => {
        const unknown = "--input=gate=1";
        refuse({}, (folder) => attn(["compare", ...inputs(), unknown], folder), /no input 'gate'/);
        refuse({}, (folder) => attn(["bench", "--n=8", unknown], folder), /no input 'gate'/);
        refuse(
            {},
            (folder) => attn(["bench", "--n=8", "--time=0", "--input=sinks=1"], folder),
            /--input sinks: 1 value for 8 heads/,
        );
    });

    for (const [what, args, says] of [
        ["too few numbers", ["--input=gains=1,2"], /--input gains: 2 values for 3 heads/],
        ["too few in a file", ["--input=gains=float2.npy"], /gains: 2 values for 3 heads/],
        ["a word", ["--input=gains=1,x,2"], /--input gains: 'x' is not a finite number/],
        [
            "no number any more",
            [`--input=gains=1,${"0".repeat(200)},2`],
            /gains: '0{20}...' is too/,
        ],
        [
            "another shape",
            ["--input=field=m7.npy"],
            /--input field: m7\.npy \(7, 4\) does not broadcast to \(B, H, n, 1\) = \(1, 3, 6, 1\)/,
        ],
        [
            "one for all heads, which it does not have",
            ["--input=field=one.npy"],
            /\(6, 1\) does not broadcast to \(B, H, n, 1\) = \(1, 3, 6, 1\)/,
        ],
        [
            "other than the plan says",
            ["--input=block_table=m7.npy"],
            /block_table: m7\.npy \(7, 4\) does not fit \(1, 1, plan, dv\) = \(1, 1, 2, 4\)/,
        ],
        ["truths", ["--input=field=mask.npy"], /elements of bool .*only float32, float64/],
        ["rank 5", ["--input=field=mask5.npy"], /elements of bool|rank 5/],
        [
            "an element type that is not written",
            ["-o", "counts=c.npy"],
            /output 'counts': elements of i64 are not written/,
        ],
        [
            "an unknown one",
            ["--input=gain=1"],
            /no input 'gain'; there are gains, field, block_table \(did you mean gains\?\)$/m,
        ],
        [
            "an unknown output",
            ["-o", "states=s.npy"],
            /there are out, state, counts \(did you mean state\?\)$/m,
        ],
        ["one twice", ["--input=gains=1,2,3", "--input=gains=1,2,3"], /'gains' is given twice/],
        ["a name for two files", ["-o", "state=o.npy"], /o\.npy is named for two outputs/],
    ])
        test(`of a backend's own: ${what}`, { skip }, () => {
            const all = ["run", "org.example.own", ...PLUGIN, ...inputs("heads3.npy")];
            refuse(
                { "one.npy": zeros([6, 1]) },
                (folder) => attn([...all, "-o", "o.npy", ...args], folder),
                says,
            );
        });

    test("one that is needed", { skip }, () => {
        const all = ["run", "org.example.gated", ...PLUGIN, ...ok];
        refuse({}, (folder) => attn(all, folder), /'org\.example\.gated' needs --input gates/);
    });
});
