// Numbers that no float holds, and numbers that are none: refused by name, in options, lists and files alike.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { inputFiles } from "./attention.mjs";
import { assertRefused, attn, contents, succeed, withFiles } from "./command.mjs";
import { npy, read } from "./npy.mjs";

const sizes = { H: 2, n: 3, m: 4, d: 4, dv: 4 };
const RUN = ["run", "softmax", "--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "-o", "o.npy"];
const LINEAR = ["run", "linear", ...RUN.slice(2), "--causal", "--set=rule=gated_delta"];
const GATED = [...LINEAR, "--set=feature_map=lin", "--set=normaliser=off"];

/** A file of numbers, all but the last of which are 0. */
const endingIn = (last, shape, options) => {
    const count = shape.reduce((product, extent) => product * extent, 1);
    return npy(shape, [...new Array(count - 1).fill(0), last], options);
};
const doubles = { descr: "<f8" };

function refuse(args, says, files = {}) {
    withFiles({ ...inputFiles(sizes, 3), ...files }, (folder) => {
        const before = Object.keys(contents(folder));
        assertRefused(attn(args, folder), says);
        assert.deepEqual(Object.keys(contents(folder)), before);
    });
}

function accept(args, files = {}) {
    withFiles({ ...inputFiles(sizes, 3), ...files }, (folder) => succeed(args, folder));
}

describe("an option's number", () => {
    for (const [option, says] of [
        ["--softcap=1e-46", /--softcap: '1e-46' is below the smallest f32, 1\.4e-45/],
        ["--softcap=1e-400", /--softcap: '1e-400' is below the smallest f32/],
        ["--softcap=7e-46", /--softcap: '7e-46' is below/],
        ["--softcap=1e300", /--softcap: '1e300' is beyond the largest f32, 3\.4e38/],
        ["--softcap=1e400", /--softcap: '1e400' is beyond the largest f32/],
        ["--softcap=inf", /--softcap: 'inf' is not a finite number/],
        ["--softcap=nan", /--softcap: 'nan' is not a finite number/],
        ["--softcap=-1", /softcap is -1/],
        ["--scale=1e-60", /--scale: '1e-60' is below the smallest f32/],
        ["--scale=-1e-60", /--scale: '-1e-60' is below the smallest f32/],
        ["--scale=1e39", /--scale: '1e39' is beyond the largest f32/],
        ["--window=99999999999999999999,0", /'9{20},0' is beyond 2\^61 - 1 keys/],
        ["--window=0,99999999999999999999", /'0,9{20}' is beyond 2\^61 - 1 keys/],
        ["--window=-99999999999999999999,0", /is not of the form L,R/],
        ["--kv-lens=99999999999999999999", /--kv-lens: '9{20}' is beyond 64 bits/],
        ["--sinks=1,1e300", /--sinks: '1e300' is beyond the largest f32/],
        ["--sinks=1,1e400", /--sinks: '1e400' is beyond the largest f32/],
        ["--sinks=1,inf", /--sinks: 'inf' is not a finite number/],
        ["--sinks=1,-1e400", /--sinks: '-1e400' is beyond the largest f32/],
        ["--alibi=1,-inf", /--alibi: '-inf' is not a finite number/],
        ["--alibi=nan,1", /--alibi: 'nan' is not a finite number/],
    ])
        test(option, () => refuse([...RUN, option], says));

    for (const option of ["--softcap=1e-45", "--softcap=1e-40", "--softcap=0", "--softcap=0e-99"])
        test(`${option} is one`, () => accept([...RUN, option]));

    test("a cap that is the smallest float caps", () => {
        withFiles(inputFiles(sizes, 3), (folder) => {
            const scores = ["--scores", "s.npy", "--scores-mode=1"];
            assert.match(succeed([...RUN, ...scores, "--softcap=1e-45"], folder), /softcap 1\.4/);
            const { data } = read(folder, "s.npy");
            // Kernels may take the smallest normal number in place of one below it.
            assert.ok(data.every((x) => Math.abs(x) <= 2 ** -125));
            assert.ok(data.some((x) => x !== 0));
        });
    });

    test("a parameter's", () => {
        const says = /parameter 'eps': 1e-400 is below the smallest double/;
        refuse(["run", "sketch", ...RUN.slice(2), "--set=eps=1e-400"], says);
    });
});

describe("a file's number", () => {
    const wrong = [
        ["NaN", NaN],
        ["inf", Infinity],
    ];
    for (const [word, number] of wrong) {
        test(`${word} in a bias`, () => {
            const says = new RegExp(`--bias: x\\.npy has ${word} at \\(0, 0, 2, 3\\); -inf hides`);
            refuse([...RUN, "--bias=x.npy"], says, { "x.npy": endingIn(number, [3, 4]) });
            const wide = { "x.npy": endingIn(number, [3, 4], doubles) };
            refuse([...RUN, "--input=bias=x.npy"], /--input bias: x\.npy has/, wide);
            const half = { "x.npy": endingIn(number, [3, 4], { descr: "<f2" }) };
            refuse([...RUN, "--bias=x.npy"], says, half);
        });
        for (const flag of ["sinks", "alibi"])
            test(`${word} in ${flag}`, () => {
                const says = new RegExp(`--${flag}: x\\.npy has ${word} at \\(0, 1, 0, 0\\)\\n`);
                refuse([...RUN, `--${flag}=x.npy`], says, { "x.npy": endingIn(number, [2]) });
            });
        test(`${word} in a backend's own`, () => {
            const says = new RegExp(`--input beta: x\\.npy has ${word} at`);
            const files = { "x.npy": endingIn(number, [4, 1]) };
            refuse([...GATED, "--input=decay=-1", "--input=beta=x.npy"], says, files);
        });
    }
    test("-inf in slopes, as in a list", () => {
        const files = { "x.npy": endingIn(-Infinity, [2]) };
        refuse([...RUN, "--alibi=x.npy"], /has -inf at \(0, 1, 0, 0\)\n/, files);
    });

    test("-inf as a sink is none, in a list and in a file", () => {
        const files = { ...inputFiles(sizes, 3), "x.npy": endingIn(-Infinity, [2]) };
        withFiles(files, (folder) => {
            const outputs = [[], ["--sinks=-inf,-inf"], ["--sinks=0,-inf"], ["--sinks=x.npy"]].map(
                (args) => {
                    succeed([...RUN, ...args], folder);
                    return read(folder, "o.npy").data;
                },
            );
            const half = outputs[0].length / 2;
            assert.deepEqual(outputs[1], outputs[0]);
            assert.deepEqual(outputs[3], outputs[2]);
            assert.deepEqual(outputs[2].slice(half), outputs[0].slice(half));
            assert.notDeepEqual(outputs[2], outputs[0]);
        });
    });

    test("-inf in a list of decays forgets, as in a file", () => {
        const files = { ...inputFiles(sizes, 3), "x.npy": npy([2, 1, 1], [-1, -Infinity]) };
        withFiles(files, (folder) => {
            const outputs = ["x.npy", "-1,-inf"].map((decay) => {
                succeed([...GATED, `--input=decay=${decay}`, "--input=beta=0.5"], folder);
                return read(folder, "o.npy").data;
            });
            assert.deepEqual(outputs[1], outputs[0]);
        });
    });

    test("-inf in a bias hides, and in a decay forgets", () => {
        accept([...RUN, "--bias=x.npy"], { "x.npy": endingIn(-Infinity, [3, 4], doubles) });
        const files = { "x.npy": endingIn(-Infinity, [4, 1]) };
        accept([...GATED, "--input=decay=x.npy", "--input=beta=1"], files);
    });

    test("a float64 that no float32 holds is not called NaN", () => {
        const says = /^attn: q\.npy has a float64 at element 23 that is beyond the largest float32/;
        for (const number of [1e300, -1e300])
            refuse(RUN, says, { "q.npy": endingIn(number, [2, 3, 4], doubles) });
        const files = { "x.npy": endingIn(-1e300, [3, 4], doubles) };
        refuse([...RUN, "--bias=x.npy"], /x\.npy has a float64 at element 11/, files);
    });

    test("one that rounds to the largest, or to 0, is read", () => {
        const numbers = [3.4028235e38, 1e-300];
        for (const number of numbers)
            accept(RUN, { "q.npy": endingIn(number, [2, 3, 4], doubles) });
    });
});
