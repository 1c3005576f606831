// A model of text: `attn lab train text`, `export`, `write` and `heads`.

import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";

import { attn, withFiles } from "./command.mjs";
import { refuse, succeed } from "./lab.mjs";
import { read as readArray } from "./npy.mjs";

const sentences = [
    "The boat lay on the shore, and the sea was still.\n",
    "A man came down to the boat, and said: it is still.\n",
    "Then the wind rose, and the boat lay on the shore no more.\n",
    "And they that were upon the sea looked for the shore.\n",
];
const shape = ["--n", "40", "--d", "8", "--layers", "2", "--heads", "2", "--batch", "20"];
const train = ["train", "text", ...shape, "--corpus", "texts"];
let checkpoint, model;

/** A folder `texts` with the corpus. */
function makeCorpus(folder, held = sentences.join("").repeat(2)) {
    mkdirSync(join(folder, "texts"), { recursive: true });
    writeFileSync(join(folder, "texts", "train.txt"), sentences.join("").repeat(5));
    writeFileSync(join(folder, "texts", "heldout.txt"), held);
}

before(() =>
    withFiles({}, (folder) => {
        makeCorpus(folder);
        succeed([...train, "--samples", "1", "-o", "a.study"], folder);
        succeed(["export", "a.study", "--corpus", "texts", "-o", "a.model"], folder);
        checkpoint = readFileSync(join(folder, "a.study"));
        model = readFileSync(join(folder, "a.model"));
    }),
);
const withModel = (body) =>
    withFiles({ "a.study": checkpoint, "a.model": model }, (folder) => {
        makeCorpus(folder);
        body(folder);
    });

/** What it writes; how fast goes to standard error. */
function write(folder, beginning, ...rest) {
    const args = ["lab", "write", beginning, "--model", "a.model", ...rest];
    const { status, stdout, stderr } = attn(args, folder);
    assert.equal(status, 0, stderr);
    return stdout;
}

describe("attn lab train text", () => {
    it("tells tokens and the loss on held-out text, and does nothing more when it is done", () => {
        withModel((folder) => {
            const said = succeed([...train, "--samples", "1", "-o", "a.study"], folder);
            assert.match(
                said,
                /^step 50 of 50, 0\.04 million tokens, loss \d\.\d{4}, \d\.\d{4} on held-out text/,
            );
            assert.deepEqual(readFileSync(join(folder, "a.study")), checkpoint);
        });
    });

    it("does not go on from a rate that has fallen", () => {
        withModel((folder) => {
            const longer = [...train, "--samples", "2", "-o", "a.study"];
            refuse(longer, folder, /a\.study: the checkpoint is of step 50 of 50: 100 steps/);
            assert.deepEqual(readFileSync(join(folder, "a.study")), checkpoint);
        });
    });

    it("needs texts, which are long enough, and the same", () => {
        withModel((folder) => {
            const [, , ...options] = train.slice(0, -2);
            refuse(["train", "text", ...options, "-o", "b"], folder, /text needs --corpus FOLDER/);
            refuse(
                ["train", "text", ...shape, "--corpus", "none", "-o", "b"],
                folder,
                /none\/train\.txt: cannot be opened/,
            );
            refuse(["train", "lis", "--corpus", "texts", "-o", "b"], folder, /--corpus is text's/);
            refuse([...train, "--n", "1", "-o", "b"], folder, /--n/);
            makeCorpus(folder, "");
            refuse([...train, "-o", "b"], folder, /held-out text has 0 tokens, expected .* 41/);
            makeCorpus(folder, sentences.join("").repeat(3));
            refuse(
                [...train, "--samples", "1", "-o", "a.study"],
                folder,
                /of corpus=[0-9a-f]{16}, and this is corpus=/,
            );
        });
    });
});

describe("attn lab export of text", () => {
    it("has int8 weights, bits a byte, and the command", () => {
        withModel((folder) => {
            const [lines] = model.toString("latin1").split("\n\n");
            assert.match(
                lines,
                /^attn model 1\ntask=text\nsize=40\nvocabulary=[0-9a-f]{16}\ncorpus=/,
            );
            assert.match(
                lines,
                /\nstep=50\nbits=\d\.\d+\nweights=int8\ncommand=attn lab train text /,
            );
            const said = succeed(
                ["export", "a.study", "--corpus", "texts", "-o", "b.model"],
                folder,
            );
            const bits = Number(/\nbits=(.*)\n/.exec(lines)[1]);
            assert.ok(said.startsWith(`b.model: ${model.length} bytes, ${bits.toFixed(4)} bits`));
            assert.deepEqual(readFileSync(join(folder, "b.model")), model);
            const command = lines.match(/command=attn lab (.*)/)[1].replace("FOLDER", "texts");
            succeed([...command.split(" "), "-o", "b.study"], folder);
            assert.deepEqual(readFileSync(join(folder, "b.study")), checkpoint);
        });
    });

    it("refuses another corpus", () => {
        withModel((folder) => {
            const args = ["export", "a.study", "-o", "b.model"];
            refuse(args, folder, /text needs --corpus FOLDER/);
            makeCorpus(folder, sentences[0].repeat(9));
            refuse(
                [...args, "--corpus", "texts"],
                folder,
                /not the corpus that a\.study has learned/,
            );
        });
    });
});

describe("attn lab write", () => {
    it("goes on from the beginning, the same each time", () => {
        withModel((folder) => {
            for (const how of [
                ["--temperature", "0"],
                ["--temperature", "0.9", "--top-p", "0.8", "--seed", "3"],
                [],
            ]) {
                const text = write(folder, "The boat", "--tokens", "90", ...how);
                assert.ok(text.startsWith("The boat"));
                assert.equal(write(folder, "The boat", "--tokens", "90", ...how), text);
                const shorter = write(folder, "The boat", "--tokens", "30", ...how);
                assert.ok(text.startsWith(shorter.slice(0, -1)));
            }
            const seeds = ["1", "2"].map((seed) => write(folder, "The", "--seed", seed));
            assert.notEqual(seeds[0], seeds[1]);
        });
    });

    it("tells tokens a second, and what it has seen of a long beginning", () => {
        withModel((folder) => {
            const said = (text) =>
                attn(["lab", "write", text, "--model", "a.model", "--tokens", "5"], folder).stderr;
            assert.match(said("The boat"), /^5 tokens, \d+ a second\n$/);
            assert.match(
                said("The boat. ".repeat(40)),
                /^attn: the beginning has \d+ tokens and the model a context of 40: it has seen the last \d+\n5 tok/,
            );
        });
    });

    it("takes any text, also none", () => {
        withModel((folder) => {
            for (const text of ["", " ", "äöü 雪", "<>&\n\n"])
                assert.ok(write(folder, text, "--tokens", "3").startsWith(text));
        });
    });

    const cases = [
        ["no beginning", [], /BEGINNING is missing/],
        ["a temperature below 0", ["x", "--temperature", "-1"], /a temperature of -1/],
        ["a share of nothing", ["x", "--top-p", "0"], /top-p of 0/],
        ["no tokens", ["x", "--tokens", "0"], /--tokens/],
        ["no model", ["x", "--model", "none"], /none: cannot be opened/],
        [
            "a backend in place of a file",
            ["x", "--model", "linear"],
            /linear: cannot be opened: .* \(did you mean --attention linear\?\)/,
        ],
        ["a checkpoint", ["x", "--model", "a.study"], /a\.study: this is no file of a model/],
        ["half a file", ["x", "--model", "half.model"], /half\.model: .*truncated/],
        ["another version", ["x", "--model", "other.model"], /of version '2', expected '1'/],
        ["another attention", ["x", "--model", "a.model", "--attention", "linear"], /not linear/],
    ];
    for (const [name, args, message] of cases)
        it(`refuses ${name}`, () =>
            withModel((folder) => {
                copyFileSync(join(folder, "a.model"), join(folder, "half.model"));
                truncateSync(join(folder, "half.model"), 1000);
                const other = Buffer.from(model);
                other.write("2", "attn model ".length);
                writeFileSync(join(folder, "other.model"), other);
                refuse(["write", ...args], folder, message);
            }));
});

describe("attn lab heads", () => {
    const heads = ["heads", "--model", "a.model", "--corpus", "texts"];

    it("has a row a head, and the same numbers as JSON", () => {
        withModel((folder) => {
            const rows = succeed(heads, folder).trimEnd().split("\n").slice(1);
            const found = JSON.parse(succeed([...heads, "--json"], folder));
            assert.equal(rows.length, 5);
            assert.equal(found.heads.length, 4);
            assert.equal(found.tokens, 50 * 20 * 40);
            found.heads.forEach((head, i) => {
                const [layer, number, previous, , , , , loss] = rows[i].trim().split(/ +/);
                assert.deepEqual([head.layer, head.head], [Number(layer), Number(number)]);
                assert.equal(head.previous.toFixed(3), previous);
                assert.equal((head.lossWithout - found.loss).toFixed(4), loss);
                assert.equal(head.needed, head.lossWithout - found.loss > found.neededAbove);
            });
        });
    });

    it("refuses what is no model of text, and texts that are too short", () => {
        withModel((folder) => {
            refuse(["heads", "--model", "a.model"], folder, /--corpus is missing/);
            makeCorpus(folder, "Short.");
            refuse(heads, folder, /lab heads: the text has \d tokens, expected 41 or more/);
        });
    });
});

describe("attn lab dump of text", () => {
    const dump = (text, ...rest) => ["dump", "text", text, "--model", "a.model", ...rest];

    it("has the tokens of the text, and their queries, keys and values", () => {
        withModel((folder) => {
            const text = 'The boat, "äö"\n';
            const files = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "--tokens", "t.json"];
            assert.equal(succeed(dump(text, ...files), folder), "");
            const tokens = JSON.parse(readFileSync(join(folder, "t.json"), "utf8"));
            assert.equal(tokens.slice(0, 2).join(""), "The");
            assert.ok(tokens.length < text.length);
            for (const name of ["q.npy", "k.npy", "v.npy"])
                assert.deepEqual(readArray(folder, name).shape, [2, 2, tokens.length, 4]);
            succeed(dump(`${text} And more.`, "--k", "more.npy"), folder);
            const [less, more] = ["k.npy", "more.npy"].map((name) => readArray(folder, name));
            assert.deepEqual(more.data.slice(0, 16), less.data.slice(0, 16)); // it is causal
        });
    });

    it("refuses no text, and one beyond the context", () => {
        withModel((folder) => {
            refuse(dump("", "--q", "q.npy"), folder, /the text has 0 tokens, expected 1 to 40/);
            refuse(dump("7".repeat(41), "--q", "q.npy"), folder, /has 41 tokens, expected 1 to 40/);
        });
    });
});

describe("models of text elsewhere", () => {
    it("answer no questions", () => {
        withModel((folder) =>
            refuse(
                ["solve", "text", "Who?", "--model", "a.model"],
                folder,
                /a model of text answers no questions: attn lab write/,
            ),
        );
    });
});
