// The models of text that ship: small, the ones that their table says, better than a packer on a text that they have not
// learned, and the same greedy words each time.

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

import { attn, isWasi, withFiles } from "./command.mjs";
import { succeed } from "./lab.mjs";
import { read as readArray } from "./npy.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { heldOut, models } = JSON.parse(
    readFileSync(join(root, "bench/labs/language/heads.json"), "utf8"),
);
const page = readFileSync(join(root, "bench/labs/language/README.md"), "utf8");
const EXCERPT = fileURLToPath(new URL("babel.txt", import.meta.url)); // Genesis 11, which is held out

/** What a model writes greedily, without the beginning. */
function goOn(attention, beginning) {
    const how = ["--attention", attention, "--temperature", "0", "--tokens", "30"];
    const { status, stdout, stderr } = attn(["lab", "write", beginning, ...how]);
    assert.equal(status, 0, stderr);
    return stdout.slice(beginning.length, -1);
}

/** Bits a byte that a model needs for the excerpt, from its loss on pieces of it. */
function bitsOfExcerpt(attention) {
    let bits;
    withFiles({}, (folder) => {
        mkdirSync(join(folder, "texts"));
        for (const name of ["train.txt", "heldout.txt"])
            copyFileSync(EXCERPT, join(folder, "texts", name));
        const args = ["heads", "--corpus", "texts", "--attention", attention, "--pieces", "2"];
        const { loss } = JSON.parse(succeed([...args, "--json"], folder));
        succeed(
            [
                "dump",
                "text",
                readFileSync(EXCERPT, "utf8").slice(0, 400),
                "--attention",
                attention,
                "--tokens",
                "t.json",
            ],
            folder,
        );
        const tokens = JSON.parse(readFileSync(join(folder, "t.json"), "utf8"));
        bits = (loss / Math.LN2) * (tokens.length / 400);
    });
    return bits;
}

/** What web/src/presets/text.json has of an array: whole multiples of 1/32767 of the largest number. */
function unpack({ most, numbers }) {
    const bytes = Buffer.from(numbers, "base64");
    return Array.from(
        { length: bytes.length / 2 },
        (_, i) => (bytes.readInt16LE(2 * i) / 32767) * most,
    );
}

describe("the page's first sentence", () => {
    it("has the queries, keys and values that the softmax model has", () => {
        const page = JSON.parse(readFileSync(join(root, "web/src/presets/text.json"), "utf8"));
        const { sentence, layer, heads, dim, tokens, captions } = page;
        withFiles({}, (folder) => {
            const files = ["--q", "query.npy", "--k", "key.npy", "--v", "value.npy"];
            const options = [...files, "--tokens", "tokens.json", "--layer", String(layer)];
            succeed(["dump", "text", sentence, ...options], folder);
            const told = JSON.parse(readFileSync(join(folder, "tokens.json"), "utf8"));
            assert.deepEqual(tokens, told);
            assert.equal(tokens.join(""), sentence);
            for (const name of ["query", "key", "value"]) {
                const { shape, data } = readArray(folder, `${name}.npy`);
                assert.deepEqual(shape, [heads, tokens.length, dim]);
                const { most } = page[name];
                // half a step, and what tiers differ by: sums of 128 terms of order 1 that are rounded
                const tolerance = most * (0.5 / 32767 + 2 * 128 * 2 ** -24);
                unpack(page[name]).forEach((number, i) =>
                    assert.ok(Math.abs(number - data[i]) <= tolerance, `${name} ${i}`),
                );
            }
        });
        const scored = models[0].heads.filter((head) => head.layer === layer);
        assert.deepEqual(
            captions,
            scored.map(({ name, needed }) => ({ name, needed })),
        );
    });
});

describe("trained models of text", () => {
    for (const { attention, step, bits, command } of models) {
        const name = `text-${attention}.model`;

        it(`${name} is small, and what the table says`, () => {
            const bytes = readFileSync(join(root, "bench/labs/models", name));
            const lines = bytes.toString("latin1").split("\n\n")[0].split("\n");
            assert.ok(bytes.length <= 1_200_000);
            for (const line of [`attention=${attention}`, `step=${step}`, `command=${command}`])
                assert.ok(lines.includes(line), line);
            assert.ok(lines.includes(`bits=${bits}`));
            assert.match(
                page,
                new RegExp(`^\\| ${attention} \\|.*\\| ${bits.toFixed(3)} \\|`, "m"),
            );
            assert.ok(bits < heldOut.xz && heldOut.xz < heldOut.gzip);
        });

        // One context each of 8 heads' rows: emulated they take long.
        it(
            `${name} foretells what it has not learned better than xz packs it`,
            { skip: isWasi },
            () => {
                const found = bitsOfExcerpt(attention);
                assert.ok(found < heldOut.xz, `${found} bits a byte`);
            },
        );
    }

    const beginning = "And the LORD said";
    const written = {
        softmax: " unto him, Though Israel, and the LORD, and the LORD, and the LORD God of Israel",
        linear: " unto the LORD, O LORD, and the LORD, and the LORD God of Israel, and the LORD, and the LORD",
        sparse: " unto him, Hear, O LORD, and said, O LORD, and I will put my servant",
    };
    for (const [attention, expected] of Object.entries(written))
        it(`text-${attention}.model writes the same greedy words`, () => {
            assert.equal(goOn(attention, beginning), expected);
        });
});
