// attn statistics: what the rows that `attn run --weights` writes say.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { inputFiles, random } from "./attention.mjs";
import { attn, attnAfter, isWasi, succeed, withFiles } from "./command.mjs";
import { npy, read } from "./npy.mjs";
import { refuse } from "./wrong.mjs";

const INPUTS = ["--q", "q.npy", "--k", "k.npy"];
const sizes = { B: 2, H: 4, Hkv: 2, n: 9, m: 13, d: 8 };

/** What one row of weights says; null where its weights are no shares. */
function study(row, query) {
    const total = row.reduce((sum, weight) => sum + weight, 0);
    if (!(total > 0) || row.some((weight) => weight < 0)) return { entropy: null, distance: null };
    let [entropy, distance] = [0, 0];
    for (const [key, weight] of row.entries()) {
        if (weight > 0) entropy -= (weight / total) * Math.log2(weight / total);
        distance += (weight / total) * Math.abs(query - key);
    }
    return { entropy, distance };
}

const near = (actual, wanted) =>
    wanted === null ? actual === null : Math.abs(actual - wanted) <= 2e-5 * Math.max(wanted, 1);

function checkHead(head, weights, top) {
    const keys = weights[0].length;
    for (const [r, row] of weights.entries()) {
        const { entropy, distance } = study(row, r);
        assert.ok(near(head.entropy[r], entropy), `${head.entropy[r]} for ${entropy}`);
        assert.ok(near(head.distance[r], distance), `${head.distance[r]} for ${distance}`);
        const order = [...row.keys()].filter((key) => row[key] > 0);
        order.sort((a, b) => row[b] - row[a] || a - b);
        assert.deepEqual(head.top_keys[r], order.slice(0, top));
        assert.deepEqual(
            head.top_weights[r].map(Math.fround),
            order.slice(0, top).map((key) => row[key]),
        );
    }
    for (let key = 0; key < keys; key++) {
        const mass = weights.reduce((sum, row) => sum + row[key], 0);
        const digits = 5e-9 * weights.reduce((sum, row) => sum + Math.abs(row[key]), 0); // nine are printed
        assert.ok(Math.abs(head.column_mass[key] - mass) <= digits);
    }
}

describe("attn statistics", () => {
    for (const [backend, ...rules] of [
        ["softmax"],
        ["softmax", "--causal", "--window", "3,0"],
        ["linear"],
        ["linear", "--set", "feature_map=lin"],
        ["sparse", "--set", "block=4"],
        ["sketch"],
    ])
        test([backend, ...rules].join(" "), () =>
            withFiles(inputFiles(sizes, 4), (folder) => {
                const all = [backend, ...INPUTS, ...rules];
                succeed(
                    ["run", ...all, "--v", "k.npy", "-o", "o.npy", "--weights", "w.npy"],
                    folder,
                );
                const { B, H, n, m } = sizes;
                const weights = read(folder, "w.npy").data;
                const row = (at) => [...weights.slice(at * m, (at + 1) * m)];
                const text = succeed(["statistics", ...all, "--json", "--top", "3"], folder);
                const heads = JSON.parse(text);
                assert.equal(heads.length, B * H);
                for (const [at, head] of heads.entries()) {
                    assert.deepEqual([head.batch, head.head], [Math.floor(at / H), at % H]);
                    checkHead(
                        head,
                        Array.from({ length: n }, (_, r) => row(at * n + r)),
                        3,
                    );
                }
                const [, one] = JSON.parse(
                    succeed(["statistics", ...all, "--json", "--top=3", "--query=5"], folder),
                );
                assert.equal(one.first_query, 5);
                assert.deepEqual(one.entropy, [heads[1].entropy[5]]);
                assert.deepEqual(one.top_keys, [heads[1].top_keys[5]]);
            }),
        );

    test("the table has a line for each head, with the keys of the sink", () =>
        withFiles(
            { "q.npy": npy([3, 1], [1, 1, 1]), "k.npy": npy([4, 1], [0, 99, 0, 0]) },
            (folder) => {
                const lines = succeed(["statistics", "softmax", ...INPUTS], folder).split("\n");
                assert.match(lines[0], /^backend +softmax/);
                assert.match(lines.at(-2), /^ +0 +0 .* 1 \(100%\)$/);
            },
        ));

    test("rows without a key are null, and left out of the means", () =>
        withFiles(inputFiles({ n: 3, d: 2 }, 2), (folder) => {
            const hidden = ["statistics", "softmax", ...INPUTS, "--kv-lens", "0"];
            const [head] = JSON.parse(succeed([...hidden, "--json"], folder));
            assert.deepEqual(head.entropy, [null, null, null]);
            assert.deepEqual(head.top_keys, [[], [], []]);
            assert.match(succeed(hidden, folder), / - +- +- /);
        }));

    test("keys of int8 have their scales, and values none", () =>
        withFiles(
            {
                "q.npy": npy([2, 1], [1, 2]),
                "k.npy": npy([3, 1], [0, 4, 0], { descr: "|i1" }),
                "s.npy": npy([3, 1], [1, 0.5, 1]),
                "k32.npy": npy([3, 1], [0, 2, 0]),
            },
            (folder) => {
                const of = (...args) =>
                    succeed(["statistics", "softmax", "--q=q.npy", ...args, "--json"], folder);
                assert.equal(of("--k=k.npy", "--key-scales=s.npy"), of("--k=k32.npy"));
            },
        ));

    // A program with a sanitizer in it does not begin so small.
    const fits = !isWasi && attnAfter("ulimit -v 400000", ["--version"]).status === 0;
    test("no matrix of 16,384 by 16,384 is made", { skip: !fits }, () =>
        withFiles({ "q.npy": npy([16384, 1], random(16384, 1)) }, (folder) => {
            const args = ["statistics", "softmax", "--q", "q.npy", "--k", "q.npy", "--top", "0"];
            const { status, stderr } = attnAfter("ulimit -v 400000", args, folder);
            assert.equal(status, 0, stderr);
        }),
    );

    for (const [what, args, says] of [
        ["no keys", ["softmax", "--q", "x.npy"], /--k is missing/],
        [
            "an unknown backend",
            ["dense", "--q", "x.npy", "--k", "x.npy"],
            /unknown backend 'dense'/,
        ],
        [
            "a query that is not there",
            ["softmax", "--q", "x.npy", "--k", "x.npy", "--query", "6"],
            /--query: 6 is outside 0 to 5/,
        ],
        [
            "another number of columns",
            ["softmax", "--q", "x.npy", "--k", "d5.npy"],
            /4 and 5 columns/,
        ],
    ])
        test(`refused: ${what}`, () =>
            refuse({}, (folder) => attn(["statistics", ...args], folder), says));
});
