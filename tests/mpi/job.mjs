// The files and words of a job over ranks, and what it looks like when it is refused.

import assert from "node:assert/strict";

import { arrays, random } from "../cli/attention.mjs";
import { contents, withFiles } from "../cli/command.mjs";
import { npy } from "../cli/npy.mjs";
import { assertRefused, onEach } from "./ranks.mjs";

export const INPUTS = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy"];
export const sizes = { H: 4, Hkv: 2, n: 45, m: 37, d: 8, dv: 6 };
export const square = { ...sizes, m: 45 };

export function files({ H, Hkv, n, m, d, dv }, options) {
    const [q, k, v] = arrays({ H, Hkv, n, m, d, dv });
    return {
        "q.npy": npy([H, n, d], q, options),
        "k.npy": npy([Hkv, m, d], k, options),
        "v.npy": npy([Hkv, m, dv], v, options),
    };
}

export const mask = npy(
    [45, 37],
    random(45 * 37, 8).map((x) => x > -0.5),
    { descr: "|b1" },
);

export const ARGS = ["softmax", ...INPUTS, "-o", "o.npy"];

/** Ranks that are called so end with one line that `says` matches, and leave the folder as it was. */
export function refuse(calls, says, more = {}) {
    withFiles({ ...files(sizes), ...more }, (folder) => {
        const before = contents(folder);
        assertRefused(onEach(calls, folder), says);
        assert.deepEqual(contents(folder), before);
    });
}
