// `attn lab export`, `solve`: a checkpoint becomes a small model, which answers questions.

import assert from "node:assert/strict";
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";

import { withFiles } from "./command.mjs";
import { refuse, succeed } from "./lab.mjs";

const shape = ["--n", "3", "--d", "8", "--layers", "2", "--heads", "2"];
const little = ["lis", ...shape, "--samples", "1", "--attention", "sparse", "--set", "block=2"];
let checkpoint, model;

before(() =>
    withFiles({}, (folder) => {
        succeed(["train", ...little, "-o", "a.study"], folder);
        succeed(["export", "a.study", "--tests", "64", "-o", "a.model"], folder);
        checkpoint = readFileSync(join(folder, "a.study"));
        model = readFileSync(join(folder, "a.model"));
    }),
);
const withModel = (body) => withFiles({ "a.study": checkpoint, "a.model": model }, body);
const ask = (question, ...rest) => ["solve", "lis", question, "--model", "a.model", ...rest];

describe("attn lab export", () => {
    it("keeps the weights as f16, what they are of, and a command that makes them again", () => {
        withModel((folder) => {
            const [lines] = model.toString("latin1").split("\n\n");
            assert.match(lines, /^attn model 1\ntask=lis\nsize=3\nattention=sparse\nblock=2\n/);
            assert.match(lines, /\nseed=1\n.*\nstep=16\ntests=64\nanswers=\d+\ncommand=/s);
            const weights = (checkpoint.length - checkpoint.indexOf("\n\n") - 2 - 40) / 12;
            assert.equal(model.length, lines.length + 2 + 2 * weights + 8);
            const command = lines.match(/command=attn lab (.*)/)[1].split(" ");
            succeed([...command, "-o", "b.study"], folder);
            assert.deepEqual(readFileSync(join(folder, "b.study")), checkpoint);
        });
    });

    it("tells how many answers are right, unless the model goes to standard output", () => {
        withModel((folder) => {
            const said = succeed(["export", "a.study", "-o", "b.model", "--tests", "64"], folder);
            assert.match(
                said,
                /^b\.model: \d+ bytes, \d+\.\d% of 64 answers right\nattn lab train lis --n 3 /,
            );
            assert.deepEqual(readFileSync(join(folder, "b.model")), model);
        });
    });

    it("refuses what is no checkpoint", () => {
        withModel((folder) => {
            const file = join(folder, "b.study");
            refuse(["export", "a.study"], folder, /--output is missing/);
            refuse(["export", "no", "-o", "x"], folder, /no: cannot be opened/);
            refuse(
                ["export", "a.model", "-o", "x"],
                folder,
                /a\.model: this is no file of a study/,
            );
            copyFileSync(join(folder, "a.study"), file);
            truncateSync(file, checkpoint.length - 1);
            refuse(["export", "b.study", "-o", "x"], folder, /b\.study: .*truncated/);
            const other = Buffer.from(checkpoint);
            other.write("2", other.indexOf("attn study 1") + "attn study ".length);
            writeFileSync(file, other);
            refuse(["export", "b.study", "-o", "x"], folder, /b\.study: .*version '2'/);
        });
    });
});

describe("attn lab solve", () => {
    it("prints the question and what the model says, and judges its answer", () => {
        withModel((folder) => {
            const [line, verdict, end] = succeed(ask("30 9, 20"), folder).split("\n");
            const tokens = line.split(" ");
            assert.deepEqual(tokens.slice(0, 4), ["30", "9", "20", "<sep>"]);
            const chain = tokens.at(-1) === "<eos>" ? tokens.slice(4, -1) : tokens.slice(4);
            const says = chain.at(-1);
            assert.ok(
                verdict.startsWith(says === "2" ? "right: 2" : `wrong: ${says}, the answer is 2`),
                verdict,
            );
            assert.equal(end, "");
        });
    });

    const cases = [
        ["another task", ["solve", "walk", "1"], /'walk': there are lis, ed, ed_local, arith/],
        ["no question", ["solve", "lis"], /QUESTION is missing/],
        ["a task that the model is not of", ["solve", "ed", "a b", "--model", "a.model"], /of lis/],
        [
            "another attention",
            ask("7 8 9", "--attention", "linear"),
            /sparse attention, not linear/,
        ],
        [
            "no model there",
            ["solve", "lis", "7", "--attention", "no"],
            /no model of lis with no at/,
        ],
        [
            "a checkpoint",
            ["solve", "lis", "7", "--model", "a.study"],
            /a\.study: .*no file of a mod/,
        ],
        ["no number", ask("7 x 9"), /lis: 'x' is none/],
        ["a number that names a length", ask("7 8 2"), /2 is outside of the task's 4 to 149/],
        ["more than the model knows", ask("7 8 9 10"), /more than the 3 numbers/],
    ];
    for (const [name, args, message] of cases)
        it(`refuses ${name}`, () => withModel((folder) => refuse(args, folder, message)));
});
