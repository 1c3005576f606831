// ONNX's operator tests of Attention through the command line.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import {
    bytesOf,
    cases,
    compare,
    parse,
    rulesOf,
    skip,
    split,
    tally,
} from "../conformance/cases.mjs";
import { attn, withFiles } from "./command.mjs";
import { npy, parseNpy } from "./npy.mjs";

/** Flags by input and output position of the operator; Y, which comes in the layout of Q, is apart. */
const inputFlags = ["q", "k", "v", "mask", "past-k", "past-v", "kv-lens"];
const outputFlags = ["output", "present-k", "present-v", "scores"];
const heads = { q: "q_num_heads", k: "kv_num_heads", v: "kv_num_heads", output: "q_num_heads" };

/** (B, n, H d) as (B, H, n, d), which is what the command line reads; other files stay. */
function splitFile(bytes, flag, { attributes }) {
    const count = attributes[heads[flag]];
    if (!count) return bytes;
    const { shape, data, descr } = split(parse(bytes), count);
    return npy(shape, Array.from(data), { descr });
}

function inputsOf({ node, inputs }) {
    const files = {};
    const args = [];
    node.inputs.forEach((name, position) => {
        if (!name) return;
        const array = inputs.find((input) => input.name === name);
        const isBias = inputFlags[position] === "mask" && array.npy_dtype !== "bool";
        const flag = isBias ? "bias" : inputFlags[position];
        files[`${flag}.npy`] = splitFile(bytesOf(array), flag, node);
        args.push(`--${flag}`, `${flag}.npy`);
    });
    return { files, args };
}

function flagsOf({ node }) {
    const { causal, window, scale, softcap, scoresMode } = rulesOf(node);
    const args = causal === "none" ? [] : [`--causal=${causal}`];
    if (window) args.push(`--window=${window.join(",")}`);
    if (scale !== undefined) args.push(`--scale=${scale}`);
    if (softcap !== undefined) args.push(`--softcap=${softcap}`);
    if (scoresMode) args.push(`--scores-mode=${scoresMode}`);
    return args;
}

describe("ONNX Attention", { skip }, () => {
    const ran = tally(cases);
    for (const entry of cases) {
        test(entry.name, () => {
            const { files, args } = inputsOf(entry);
            const outputs = entry.node.outputs
                .map((name, position) => ({ name, flag: outputFlags[position] }))
                .filter(({ name }) => name);
            const names = outputs.flatMap(({ flag }) => [`--${flag}`, `${flag}_out.npy`]);
            withFiles(files, (place) => {
                const all = ["run", "softmax", ...args, ...flagsOf(entry), ...names];
                const { status, stderr } = attn(all, place);
                assert.equal(status, 0, stderr);
                for (const { name, flag } of outputs) {
                    const array = entry.outputs.find((output) => output.name === name);
                    const expected = parse(splitFile(bytesOf(array), flag, entry.node));
                    const actual = parseNpy(readFileSync(join(place, `${flag}_out.npy`)));
                    assert.deepEqual(actual.shape, expected.shape, name);
                    compare(name, actual.data, expected);
                }
            });
            ran.pass(entry);
        });
    }
    test(ran.name, () => ran.check());

    test("README says their number", () => {
        const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
        const [, said] = readme.match(/operator tests for\s+`Attention` \((\d+)\)/);
        assert.equal(Number(said), cases.length);
    });
});
