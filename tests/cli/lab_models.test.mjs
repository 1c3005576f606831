// `attn lab export`, `solve`, `dump`: a checkpoint becomes a small model, which answers questions and shows its heads.

import assert from "node:assert/strict";
import {
    closeSync,
    copyFileSync,
    openSync,
    readFileSync,
    truncateSync,
    writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { before, describe, it } from "node:test";

import { assertRefused, attn, isWasi, succeed as succeedWith, withFiles } from "./command.mjs";
import { nativeOnly, refuse, seal, succeed } from "./lab.mjs";
import { read as readArray } from "./npy.mjs";

const shape = ["--n", "3", "--d", "8", "--layers", "2", "--heads", "2"];
const little = [
    ...["lis", ...shape, "--samples", "1", "--embedding", "0.5"],
    ...["--attention", "sparse", "--set", "block=2"],
];
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

/** Standard input is a file of the folder. */
function refuseFrom(name, args, folder, says) {
    const input = openSync(join(folder, name));
    assertRefused(attn(["lab", ...args], folder, { stdio: [input, "pipe", "pipe"] }), says);
    closeSync(input);
}
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

    it("says where the training was that is not at its end", () => {
        withModel((folder) => {
            const args = ["export", "a.study", "-o", "b.model", "--tests", "64"];
            assert.ok(!succeed(args, folder).includes("step"));
            const early = Buffer.from(checkpoint);
            const tail = early.length - 40; // step, looked, enough, loss, sum
            early.writeBigInt64LE(5n, tail);
            early.writeBigInt64LE(0n, tail + 16);
            writeFileSync(join(folder, "a.study"), seal(early));
            assert.match(
                succeed(args, folder),
                /\nits training was at step 5 of 16; the command goes to the end\n$/,
            );
        });
    });

    it("refuses what is no checkpoint", () => {
        withModel((folder) => {
            const file = join(folder, "b.study");
            refuse(["export", "a.study"], folder, /--output is missing/);
            refuse(["export", "no", "-o", "x"], folder, /no: cannot be opened/);
            refuse(["export", "no", "-o", "no"], folder, /no: cannot be opened/);
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

    it("does not put the model in the place of the checkpoint, which training goes on from", () => {
        withModel((folder) => {
            for (const to of ["a.study", "./a.study"])
                refuse(["export", "a.study", "-o", to], folder, /a\.study: is the checkpoint: /);
            assert.deepEqual(readFileSync(join(folder, "a.study")), checkpoint);
        });
    });

    it("nor of one that is standard input", nativeOnly, () => {
        withModel((folder) => {
            refuseFrom("a.study", ["export", "-", "-o", "a.study"], folder, /is the checkpoint: /);
            const out = openSync(join(folder, "a.study"), "a"); // by standard output, too
            const stdio = ["ignore", out, "pipe"];
            const { status } = attn(["lab", "export", "a.study", "-o", "-"], folder, { stdio });
            closeSync(out);
            assert.equal(status, 2);
            assert.deepEqual(readFileSync(join(folder, "a.study")), checkpoint);
        });
    });
});

describe("attn lab solve", () => {
    it("prints the question and what the model says, and judges its answer", () => {
        withModel((folder) => {
            const [line, verdict, state, end] = succeed(ask("30 9, 20"), folder).split("\n");
            const tokens = line.split(" ");
            assert.deepEqual(tokens.slice(0, 4), ["30", "9", "20", "<sep>"]);
            const chain = tokens.at(-1) === "<eos>" ? tokens.slice(4, -1) : tokens.slice(4);
            const says = chain.at(-1);
            assert.ok(
                verdict.startsWith(says === "2" ? "right: 2" : `wrong: ${says}, the answer is 2`),
                verdict,
            );
            // 2 layers, 8 columns of keys and of values, f32; all tokens after the 4th but the last
            const [from, to] = state.match(/\d+/g).map(Number);
            assert.equal(to - from, 128 * (tokens.length - 5));
            assert.match(state, / after the question, (\d+) after the answer, \1 at most$/);
            assert.equal(end, "");
        });
    });

    it("says what it has learned where the question is not of it", () => {
        const lines = (question) => succeed(["solve", "arithmetic", question]).split("\n");
        assert.match(lines("3 + 4")[2], /^it has learned expressions of exactly 2 operators only$/);
        assert.match(lines("3 + 4 * 2")[2], /^state: /);
    });

    it("tells the state's size after each token", () => {
        withModel((folder) => {
            const lines = succeed(ask("30 9 20", "--states"), folder).trimEnd().split("\n");
            const tokens = lines[0].split(" ");
            const rows = lines.slice(4).map((row) => row.trim().split(/ +/));
            assert.deepEqual(
                rows.map(([token]) => token),
                tokens.slice(0, -1),
            );
            rows.forEach(([, bytes], i) => assert.equal(bytes - rows[0][1], 128 * i));
            assert.ok(lines[2].includes(` ${rows.at(-1)[1]} after the answer`));
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
        ["a fraction", ask("1.5 2"), /lis: '1\.5' is none/],
        ["an exponent", ask("7 1e2"), /lis: '1e2' is none/],
        ["a number that names a length", ask("7 8 2"), /2 is outside of the task's 4 to 149/],
        ["a number of many digits", ask(`7 ${"9".repeat(23)}`), /lis: 9{20}\.\.\. is outside/],
        [
            "letters that are none of its own",
            ["solve", "ed", `a${"ä".repeat(12)}`],
            /'ä{10}' is none/,
        ],
        ["a word", ask(`7 x${"ä".repeat(12)}`), /'xä{9}' is none/],
        ["words that are apart", ["solve", "ed", "ab", "ac"], /'ac' \(.* need quotes\)/],
        [
            "what looks like an option",
            ["solve", "arithmetic", "-3 + 4"],
            /'-3 \+ 4' \(use -- before arguments that start with -\)/,
        ],
        ["more than the model knows", ask("7 8 9 10"), /more than the 3 numbers/],
    ];
    for (const [name, args, message] of cases)
        it(`refuses ${name}`, () => withModel((folder) => refuse(args, folder, message)));
});

const devices = { skip: isWasi && "has no such device" };
const endless = [
    ["solve", ["solve", "lis", "7", "--model", "/dev/zero"]],
    ["dump", ["dump", "lis", "7", "--model", "/dev/zero", "--q", "q.npy"]],
    ["export", ["export", "/dev/zero", "-o", "b.model"]],
];
for (const [name, args] of endless)
    it(`attn lab ${name} does not read for ever`, devices, () =>
        withFiles({}, (folder) =>
            refuse(args, folder, /\/dev\/zero: is no regular file, and has more than \d+ bytes/),
        ),
    );

describe("attn lab dump", () => {
    const files = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"];
    const dump = (question, ...rest) => ["dump", ...ask(question, ...rest).slice(1)];
    const parts = ["q", "k", "v"];

    it("writes layers, heads, tokens and columns of what the model had as its input", () => {
        withModel((folder) => {
            const tokens = succeed(ask("30 9 20"), folder).split("\n")[0].split(" ");
            assert.equal(succeed(dump("30 9 20", ...files), folder), "");
            const all = parts.map((part) => readArray(folder, `${part}.npy`));
            for (const { shape } of all) assert.deepEqual(shape, [2, 2, tokens.length - 1, 4]);
            const table = succeedWith(["compare", ...files, "--causal", "--json"], folder);
            const [softmax, linear] = JSON.parse(table).rows;
            assert.ok(softmax.error < 1e-5 && linear.error > 1e-3);
            succeed(dump("30 9 20", ...files, "--layer", "2"), folder);
            parts.forEach((part, i) => {
                const { shape, data } = readArray(folder, `${part}.npy`);
                assert.deepEqual(shape, all[i].shape.slice(1));
                assert.deepEqual(data, all[i].data.slice(data.length));
            });
        });
    });

    it("has in its first layer what the tokens alone decide", () => {
        withModel((folder) => {
            const first = (question) => {
                succeed(dump(question, "--k", "k.npy", "--layer", "1"), folder);
                const { shape, data } = readArray(folder, "k.npy");
                const head = shape[1] * shape[2]; // 3 tokens of each head, 4 columns
                return [0, 1].map((h) =>
                    [0, 1, 2].map((t) => data.slice(h * head + 4 * t).slice(0, 4)),
                );
            };
            const [one, other] = [first("30 9 20"), first("30 10 20")];
            one.forEach((head, h) => {
                assert.deepEqual(head[0], other[h][0]);
                assert.notDeepEqual(head[1], other[h][1]);
                assert.deepEqual(head[2], other[h][2]);
            });
        });
    });

    it("refuses no file, and a layer that is none", () => {
        withModel((folder) => {
            refuse(dump("30 9 20"), folder, /--q, --k, --v or --tokens is missing/);
            refuse(dump("30 9 20", ...files, "--layer", "3"), folder, /--layer: the model has 2/);
        });
    });

    it("does not put an array in the place of the model", () => {
        withModel((folder) => {
            const model = readFileSync(join(folder, "a.model"));
            for (const to of ["a.model", "./a.model"])
                refuse(dump("30 9 20", "--v", to), folder, /a\.model: is the model: /);
            assert.deepEqual(readFileSync(join(folder, "a.model")), model);
        });
    });

    it("nor of one that is standard input", nativeOnly, () => {
        withModel((folder) => {
            const args = ["dump", "lis", "30 9 20", "--model", "-", "--v", "a.model"];
            refuseFrom("a.model", args, folder, /a\.model: is the model: /);
            assert.deepEqual(readFileSync(join(folder, "a.model")), model);
        });
    });
});
