// `attn lab train`: the same file in one go, in two, and on two threads; wrong checkpoints; a disk that is full.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

import {
    assertRefused,
    attn,
    attnAfter,
    contents,
    isWasi,
    program,
    withFiles,
} from "./command.mjs";
import { nativeOnly, refuse, succeed } from "./lab.mjs";

const little = ["train", "lis", "--n", "3", "--d", "8", "--layers", "2", "--heads", "2"];
const samples = ["--samples", "2", "--batch", "50"];
const last = (text) => text.trimEnd().split("\n").at(-1);

describe("attn lab train", () => {
    it("trains, says how well, and does nothing more when it is done", () => {
        withFiles({}, (folder) => {
            const first = succeed([...little, ...samples, "-o", "a.study"], folder);
            assert.match(last(first), /^step 40 of 40, loss \d\.\d+, \d+\.\d% of answers right, /);
            const bytes = readFileSync(join(folder, "a.study"));
            succeed([...little, ...samples, "-o", "a.study"], folder);
            assert.deepEqual(readFileSync(join(folder, "a.study")), bytes);
        });
    });

    it("gives the same bytes on two threads, and others for another seed", nativeOnly, () => {
        withFiles({}, (folder) => {
            const make = (file, ...more) => {
                succeed([...little, ...samples, "-o", file, ...more], folder);
                return readFileSync(join(folder, file));
            };
            const one = make("one.study");
            assert.deepEqual(make("two.study", "--threads", "2"), one);
            assert.notDeepEqual(make("three.study", "--seed", "2"), one);
        });
    });

    it("refuses checkpoints that are not this study's, and leaves them alone", () => {
        withFiles({}, (folder) => {
            const file = join(folder, "a.study");
            succeed([...little, ...samples, "-o", "a.study"], folder);
            const bytes = readFileSync(file);
            const other = [...little, ...samples, "-o", "a.study"];
            refuse([...other, "--n", "4"], folder, /a\.study: .*size=3, and this is size=4/);
            refuse([...other, "--attention", "linear"], folder, /attention=softmax.*=linear/);
            assert.deepEqual(readFileSync(file), bytes);
            copyFileSync(file, join(folder, "b.study"));
            truncateSync(join(folder, "b.study"), 2000);
            const cut = [...little, ...samples, "-o", "b.study"];
            refuse(cut, folder, /b\.study: the checkpoint has 2000 bytes, .*truncated/);
            succeed([...cut, "--restart"], folder);
            assert.deepEqual(readFileSync(join(folder, "b.study")), bytes);
        });
    });

    it("tells a loss that is no number with its step, and keeps the checkpoint", () => {
        withFiles({}, (folder) => {
            const file = join(folder, "a.study");
            succeed([...little, ...samples, "-o", "a.study"], folder);
            const bytes = readFileSync(file);
            const wild = [...little, ...samples, "--rate", "1e30", "--restart", "-o", "a.study"];
            refuse(wild, folder, /a\.study: training diverged: the loss of step \d+ is not finite/);
            assert.deepEqual(readFileSync(file), bytes);
        });
    });

    it("keeps no weights that blew up in the last step", () => {
        withFiles({}, (folder) => {
            const file = join(folder, "a.study");
            succeed([...little, ...samples, "-o", "a.study"], folder);
            const bytes = readFileSync(file);
            const one = [...little, "--samples", "1", "--batch", "1000", "--rate", "1e30"];
            const wild = [...one, "--restart", "-o", "a.study"];
            refuse(wild, folder, /a\.study: training diverged: the loss of step 1 is not finite/);
            assert.deepEqual(readFileSync(file), bytes);
        });
    });

    it("tells a loss that stays far above a guess's, and keeps the checkpoint", () => {
        withFiles({}, (folder) => {
            const file = join(folder, "a.study");
            succeed([...little, ...samples, "-o", "a.study"], folder);
            const bytes = readFileSync(file);
            const wild = [...little, ...samples, "--rate", "100", "--restart", "-o", "a.study"];
            const why =
                /a\.study: training diverged: the loss of steps 0 to 19 is (\S+), a guess has (\S+)/;
            refuse(wild, folder, why);
            assert.deepEqual(readFileSync(file), bytes);
        });
    });

    // The file's limit stands for a full disk.
    const limits = { skip: isWasi && "SKIPPED: WASI has no such limits" };
    it("tells a disk that is full while it trains, and loses nothing", limits, () => {
        withFiles({}, (folder) => {
            const half = [...little, "--samples", "4", "--batch", "50", "-o", "a.study"];
            const full = "trap '' XFSZ\nulimit -f 4";
            const first = attnAfter(full, ["lab", ...half], folder); // at once, not after hours
            assert.equal(first.status, 1, first.stderr);
            assert.match(first.stderr, /^attn: a\.study: cannot be written: [^\n]+\n$/);
            assert.deepEqual(contents(folder), {});
            succeed(half, folder);
            const before = contents(folder);
            const again = [...half, "--restart", "--seed", "2", "--keep", "0"];
            const later = attnAfter(full, ["lab", ...again], folder);
            assert.equal(later.status, 1, later.stderr);
            assert.match(later.stderr, /^attn: a\.study: cannot be written: [^\n]+\n$/);
            assert.equal(later.stdout, ""); // it ended with the first checkpoint that could not be kept
            assert.deepEqual(contents(folder), before);
            assert.match(last(succeed(again, folder)), /^step 80 of 80, /);
        });
    });

    it("has a rate that stays, another warm-up, and a model's command says so", () => {
        withFiles({}, (folder) => {
            const make = (file, ...more) => {
                succeed([...little, ...samples, "-o", file, ...more], folder);
                return readFileSync(join(folder, file));
            };
            const linear = make("linear.study");
            assert.deepEqual(make("same.study", "--schedule", "linear", "--warm", "0.05"), linear);
            assert.notDeepEqual(make("warm.study", "--warm", "0.3"), linear);
            const constant = make("a.study", "--schedule", "constant", "--warm", "0.3");
            assert.match(constant.toString("latin1"), /\nwarm=12\nsteps=40\nconstant=1\n/);
            const told = succeed(["export", "a.study", "-o", "a.model", "--tests", "1"], folder);
            const command = last(told).split(" ").slice(2);
            assert.match(command.join(" "), / --warm 0\.3 --schedule constant /);
            succeed([...command, "-o", "again.study"], folder);
            assert.deepEqual(readFileSync(join(folder, "again.study")), constant);
        });
    });

    it("goes on from where it was killed, to the same bytes", nativeOnly, async () => {
        await withFiles({}, async (folder) => {
            const args = [...little, "--samples", "20", "--batch", "50", "--keep", "0.05"];
            succeed([...args, "-o", "whole.study"], folder);
            const command = ["lab", ...args, "-o", "cut.study"];
            const child = spawn(program, command, { cwd: folder, stdio: ["ignore", "pipe", 2] });
            const end = new Promise((resolve) => child.on("close", (_, by) => resolve(by)));
            const [first] = await once(child.stdout, "data"); // some steps are told, and kept
            child.kill("SIGKILL");
            assert.equal(await end, "SIGKILL");
            assert.match(String(first), /^step \d+ of 400, /);
            const read = (name) => readFileSync(join(folder, name));
            assert.notDeepEqual(read("cut.study"), read("whole.study"));
            const stdout = succeed([...args, "-o", "cut.study"], folder);
            assert.doesNotMatch(stdout, new RegExp(`^${String(first).slice(0, 9)}`));
            assert.deepEqual(read("cut.study"), read("whole.study"));
        });
    });

    it("times steps, and more of them than a training would take", () => {
        withFiles({}, (folder) => {
            const stdout = succeed([...little, "--samples", "1", "--bench"], folder);
            assert.match(
                stdout,
                /D = 8, V = \d+, L = 9, batch 64, 1 threads: (?!0\.0)\d+\.\d ms a step, .*GFLOP\/s/,
            );
        });
    });

    const cases = [
        ["no task", ["train", "-o", "x"], /TASK is missing/],
        [
            "another task",
            ["train", "walk", "-o", "x"],
            /'walk': there are lis, ed, ed_local, arith/,
        ],
        ["no file", ["train", "lis"], /--output is missing/],
        [
            "no gradients",
            ["train", "lis", "--attention", "sparse", "--set", "pattern=topkeys", "-o", "x"],
            /topkeys.*gradients/,
        ],
        ["no backend", ["train", "lis", "--attention", "no", "-o", "x"], /unknown backend 'no'/],
        [
            "no parameter",
            ["train", "lis", "--set", "blokc=4", "-o", "x"],
            /'softmax' has no parameter 'blokc'/,
        ],
        [
            "two backends",
            ["train", "lis", "--attention", "linear,sparse", "-o", "x"],
            /one backend/,
        ],
        [
            "what has no streams, to decode by",
            ["train", "lis", "--attention", "sparse", "--set", "pattern=topk", "-o", "x"],
            /topk has no streams/,
        ],
        ["standard output", ["train", "lis", "-o", "-"], /--output is a file/],
        ["no such folder, at once", ["train", "lis", "-o", "no/x"], /no\/x: cannot be written/],
        ["no prime", ["train", "arithmetic", "--modulus", "9", "-o", "x"], /modulus 9.*prime/],
        [
            "a modulus of numbers",
            ["train", "lis", "--modulus", "7", "-o", "x"],
            /modulus is arithm/,
        ],
        ["a band of whole words", ["train", "ed", "--band", "2", "-o", "x"], /--band is ed_local/],
        ["too many heads", ["train", "lis", "--heads", "64", "-o", "x"], /heads: 64.*1 to 32/],
        [
            "no schedule",
            ["train", "lis", "--schedule", "cosine", "-o", "x"],
            /'cosine': there are linear, constant/,
        ],
        ["no part", ["train", "lis", "--warm", "1.5", "-o", "x"], /--warm is from 0 to 1/],
        ["no rate", ["train", "lis", "--rate", "0", "-o", "x"], /--rate: 0 is not above 0/],
        [
            "a rate that is 0 as a float",
            ["train", "lis", "--rate", "1e-320", "-o", "x"],
            /--rate: '1e-320' is below the smallest f32/,
        ],
        [
            "dropout that is 1 as a float",
            ["train", "lis", "--dropout", "0.99999999", "-o", "x"],
            /--dropout: .* is not from 0 to below 1/,
        ],
    ];
    for (const [name, args, message] of cases)
        it(`refuses ${name}`, () => withFiles({}, (folder) => refuse(args, folder, message)));

    it("refuses a folder at once, and not when it first keeps what it has trained", () => {
        withFiles({}, (folder) => {
            const result = attn(["lab", "train", "lis", "-o", "."], folder, {
                timeout: 600_000,
            });
            assertRefused(result, /\.: cannot be written: it names a folder/);
        });
    });
});
