// attn layout: which pairs a backend keeps, beside the patterns' own formulas.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { inputFiles } from "./attention.mjs";
import { attn, contents, succeed, withFiles } from "./command.mjs";
import { npy, read } from "./npy.mjs";
import { refuse } from "./wrong.mjs";

const INPUTS = ["--q", "q.npy", "--k", "k.npy"];
const layout = (...args) => ["layout", "sparse", ...args];
const sizes = { n: 43, d: 8 };
const pairs = (n, kept) =>
    Array.from({ length: n * n }, (_, at) => Number(kept(Math.floor(at / n), at % n)));

/** Rows of '#', '+' and '.' that cells of `cell` pairs make of an n x n matrix. */
function picture(kept, n, cell) {
    const cells = Math.ceil(n / cell);
    const symbol = (r, c) => {
        let [all, some] = [0, 0];
        for (let i = r * cell; i < Math.min(n, (r + 1) * cell); i++)
            for (let j = c * cell; j < Math.min(n, (c + 1) * cell); j++)
                (all++, (some += kept[i * n + j]));
        return some === 0 ? "." : some < all ? "+" : "#";
    };
    return Array.from({ length: cells }, (_, r) =>
        Array.from({ length: cells }, (__, c) => symbol(r, c)).join(""),
    );
}

describe("attn layout", () => {
    const block = (p) => Math.floor(p / 6);
    for (const [args, kept] of [
        [["--causal"], (i, j) => j <= i && (i - j < 6 || j % 6 >= 5)],
        [["--set=global=2"], (i, j) => Math.abs(i - j) < 6 || j % 6 >= 4],
        [["--set=pattern=window", "--set=local=2"], (i, j) => Math.abs(i - j) < 12],
        [
            ["--set=pattern=fixed", "--causal"],
            (i, j) => j <= i && (block(i) === block(j) || j % 6 === 5),
        ],
        [
            ["--set=pattern=strided", "--set=stride=3"],
            (i, j) => Math.abs(block(i) - block(j)) % 3 === 0,
        ],
        [
            ["--set=pattern=longformer", "--set=global=2"],
            (i, j) => Math.abs(i - j) < 6 || j < 2 || i < 2,
        ],
    ]) {
        test(args.join(" "), () => {
            const expected = pairs(sizes.n, kept);
            withFiles(inputFiles(sizes, 2), (folder) => {
                const command = layout(...INPUTS, "--set=block=6", ...args);
                succeed([...command, "--cell=1", "-o", "l.npy"], folder);
                const { shape, data } = read(folder, "l.npy");
                assert.deepEqual([shape, data.map(Number)], [[sizes.n, sizes.n], expected]);

                const text = succeed([...command, "--cell=5"], folder);
                const rows = text.split("\n").filter((line) => /^[.+#]+$/.test(line));
                assert.deepEqual(rows, picture(expected, sizes.n, 5));
                const count = expected.reduce((a, b) => a + b);
                assert.match(text, new RegExp(`^kept +${count} pairs`, "m"));
                assert.equal(
                    succeed(command, folder)
                        .split("\n")
                        .filter((line) => /^[.+#]+$/.test(line)).length,
                    Math.ceil(sizes.n / 6), // the backend's blocks
                );
            });
        });
    }

    test("blocks that a run chooses are a mask of blocks, by head and batch", () => {
        withFiles(inputFiles({ B: 2, H: 4, Hkv: 2, n: 50, d: 8 }, 4), (folder) => {
            const files = [...INPUTS, "--set=block=8"];
            const chosen = ["--set=pattern=topk", "--set=top=2", "--causal"];
            succeed(layout(...files, ...chosen, "-o", "blocks.npy"), folder);
            assert.deepEqual(read(folder, "blocks.npy").shape, [2, 4, 7, 7]);
            const given = ["--set=pattern=blocks", "--input=block_mask=blocks.npy", "--causal"];
            const outputs = [chosen, given].map((pattern) => {
                const run = ["run", "sparse", ...files, "--v", "v.npy", ...pattern];
                succeed([...run, "-o", "o.npy"], folder);
                return contents(folder)["o.npy"];
            });
            assert.equal(outputs[1], outputs[0]);
        });
    });

    test("keys that a run chooses, with a mask", () => {
        const mask = pairs(sizes.n, (i, j) => (i + 2 * j) % 3 > 0);
        const files = {
            ...inputFiles({ ...sizes, H: 2 }, 3),
            "m.npy": npy([sizes.n, sizes.n], mask, { descr: "|b1" }),
        };
        withFiles(files, (folder) => {
            const args = [...INPUTS, "--set=pattern=topkeys", "--set=top=5", "--mask=m.npy"];
            succeed(layout(...args, "--cell=1", "-o", "l.npy"), folder);
            const run = [
                "run",
                "sparse",
                ...args,
                "--v=v.npy",
                "--output=o.npy",
                "--weights=w.npy",
            ];
            succeed(run, folder);
            const kept = read(folder, "l.npy").data.map(Number);
            const weights = read(folder, "w.npy").data;
            assert.deepEqual(
                kept,
                Array.from(weights, (w) => Number(w > 0)),
            );
            for (let row = 0; row < 2 * sizes.n; row++)
                assert.equal(
                    kept.slice(row * sizes.n, (row + 1) * sizes.n).reduce((a, b) => a + b),
                    5,
                );
        });
    });

    test("weights too small for a number are of pairs that are kept", () => {
        const files = { "q.npy": npy([2, 1], [1000, 1000]), "k.npy": npy([2, 1], [1000, -1000]) };
        withFiles(files, (folder) => {
            assert.match(
                succeed(["layout", "softmax", ...INPUTS], folder),
                /^kept +4 pairs, 100%/m,
            );
        });
    });

    test("random arrays, and heads that are alike once", () => {
        const text = succeed(layout("--n=64", "--heads=3", "--kv-heads=1", "--d=4", "--causal"));
        assert.match(text, /^sizes +Q \(3, 64, 4\), K \(1, 64, 4\)$/m);
        assert.deepEqual(text.match(/^batch.*$/gm), ["batch 0, head 0 to 2"]);
        const chosen = layout("--n=64", "--heads=3", "--set=pattern=topk", "--set=top=1");
        assert.deepEqual(succeed(chosen).match(/^batch.*$/gm).length, 3);
        assert.equal(succeed(chosen), succeed(chosen));
    });

    test("an output that is standard output has it alone", () => {
        const { status, stdout } = attn(layout("--n=8", "-o", "-"), undefined, {
            encoding: "latin1",
        });
        assert.equal(status, 0);
        assert.match(stdout, /^\x93NUMPY.*'\|b1'.*\(1, 4, 4\).* \n/);
        assert.equal(stdout.split("\n")[1], "\x01".repeat(16));
    });

    const files = {
        ...inputFiles(sizes, 2),
        "starts.npy": npy([3], [0, 2, 2], { descr: "<i8" }),
        "columns.npy": npy([4], [1, 0, 0, 0], { descr: "<i8" }),
    };
    for (const [name, args, says] of [
        ["queries without keys", layout("--q", "q.npy"), /--q and --k go together: --k is missing/],
        ["keys without queries", layout("--k", "k.npy"), /--q is missing/],
        ["sizes of files", layout(...INPUTS, "--n=8"), /--n, .* are of random arrays/],
        ["no cell", layout("--cell=0"), /--cell: 0 is outside/],
        ["more than memory", layout("--n=1099511627776", "--d=1099511627776"), /no memory/],
        [
            "a backend without scores",
            ["layout", "linear"],
            /'linear' does not do scores.*attn run linear --weights/,
        ],
        ["an unknown backend", ["layout", "dense"], /unknown backend 'dense'/],
        ["no folder", layout("-o", "nowhere/l.npy"), /nowhere/],
        [
            "unordered blocks",
            layout(
                ...["--n=16", "--set=pattern=blocks", "--set=block=8"],
                ...["--input=block_starts=starts.npy", "--input=block_columns=columns.npy"],
            ),
            /block_columns: .* row 0 has block 0/,
        ],
    ])
        test(`refused: ${name}`, () => refuse(files, (folder) => attn(args, folder), says));
});
