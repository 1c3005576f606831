// attn embed, and the help of every command.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { CHARACTERS, SAME_WORDS } from "./characters.mjs";
import { attn, succeed, withFiles } from "./command.mjs";
import { read } from "./npy.mjs";

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

    for (const [what, text, expected] of CHARACTERS) {
        test(`tokens: ${what}`, () => {
            withFiles({ "text.txt": text }, (folder) => {
                const args = ["embed", "text.txt", "--dim", "4", "-o", "x.npy", "--json"];
                const { tokens } = JSON.parse(succeed(args, folder));
                assert.deepEqual(
                    tokens.map((token) => token.text),
                    expected,
                );
            });
        });
    }

    test("a word has one vector, whatever invisible characters are in it", () => {
        const vectors = SAME_WORDS.map((word) =>
            withFiles({ "text.txt": word }, (folder) => {
                succeed(["embed", "text.txt", "--dim", "64", "-o", "x.npy"], folder);
                return read(folder, "x.npy").data;
            }),
        );
        for (const vector of vectors) assert.deepEqual(vector, vectors[0]);
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
