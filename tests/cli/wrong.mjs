// The files that wrong commands are given, and what is asked of every refusal.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { random } from "./attention.mjs";
import { assertRefused, contents, withFiles } from "./command.mjs";
import { npy } from "./npy.mjs";

export const x = npy([6, 4], random(24, 1));
export const header = (text) => npy([6, 4], random(24, 1), { header: text });
export const zeros = (shape, descr = "<f4") =>
    npy(shape, new Array(shape.reduce((a, b) => a * b, 1)).fill(0), { descr });

export const files = {
    "x.npy": x,
    "heads3.npy": zeros([3, 6, 4]),
    "heads2.npy": zeros([2, 6, 4]),
    "batch2.npy": zeros([2, 1, 6, 4]),
    "d5.npy": zeros([6, 5]),
    "m7.npy": zeros([7, 4]),
    "old.npy": x,
    "mask.npy": zeros([6, 6], "|b1"),
    "mask57.npy": zeros([5, 7], "|b1"),
    "mask65.npy": zeros([6, 5], "|b1"),
    "mask3.npy": zeros([3, 6, 6], "|b1"),
    "mask5.npy": zeros([1, 1, 1, 6, 6], "|b1"),
    "bytes.npy": zeros([6, 6], "|u1"),
    "square.npy": zeros([6, 6]),
    "int1.npy": zeros([1], "<i8"),
    "int2.npy": zeros([2], "<i4"),
    "seven.npy": npy([1], [7], { descr: "<i8" }),
    "float1.npy": zeros([1]),
    "float2.npy": zeros([2]),
    "float5.npy": zeros([1, 1, 1, 1, 1]),
    "int5.npy": zeros([1, 1, 1, 1, 1], "<i8"),
    "sinks3.npy": zeros([1, 3, 1, 1]),
    "last3.npy": zeros([1, 1, 3]),
    "int12.npy": zeros([1, 2], "<i4"),
    "text.txt": "some words",
    "blank.txt": " \n\t\n",
    "empty.txt": "",
};

export const run = (...args) => ["run", "softmax", ...args];
export const inputs = (q = "x.npy", k = "x.npy", v = "x.npy") => ["--q", q, "--k", k, "--v", v];
export const ok = [...inputs(), "-o", "o.npy"];

/** Runs `call(folder)` and checks that it was refused and left everything as it was. */
export function refuse(extra, call, says) {
    withFiles({ ...files, ...extra }, (folder) => {
        mkdirSync(join(folder, "folder"));
        const before = contents(folder);
        assertRefused(call(folder), says);
        assert.deepEqual(contents(folder), before);
    });
}
