// ONNX's operator tests of LinearAttention through the command line.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { bytesOf, compare, linearCases, parse, skip, split, tally } from "../conformance/cases.mjs";
import { attn, withFiles } from "./command.mjs";
import { npy, parseNpy } from "./npy.mjs";

/** Flags by input and output position of the operator. Gates and states are f32. */
const inputFlags = [["--q"], ["--k"], ["--v"], ["--input", "state"], ["--input", "decay"]];
inputFlags.push(["--input", "beta"]);
const outputFlags = [
    ["--output", "out"],
    ["--output", "state_out"],
];

/** The array in files of f32 for `linear`'s own arrays, heads apart. */
function fileOf(array, position, { attributes }) {
    const { q_num_heads, kv_num_heads } = attributes;
    const { shape, data, descr } = split(
        parse(bytesOf(array)),
        position ? kv_num_heads : q_num_heads,
    );
    return npy(shape, Array.from(data), { descr: position < 3 ? descr : "<f4" });
}

describe("ONNX LinearAttention", { skip }, () => {
    const ran = tally(linearCases);
    for (const { name, node, inputs, outputs } of linearCases) {
        test(name, () => {
            const files = {};
            const args = ["run", "linear", "--causal", "--set", "feature_map=lin"];
            const rule = node.attributes.update_rule ?? "gated_delta";
            const dim = inputs[0].shape[2] / node.attributes.q_num_heads;
            args.push(
                "--set",
                "normaliser=off",
                "--set",
                `rule=${rule}`,
                `--scale=${node.attributes.scale || dim ** -0.5}`,
            );
            node.inputs.forEach((input, position) => {
                if (!input) return;
                const file = `${input}.npy`;
                const [flag, own] = inputFlags[position];
                files[file] = fileOf(
                    inputs.find((array) => array.name === input),
                    position,
                    node,
                );
                args.push(flag, own ? `${own}=${file}` : file);
            });
            outputFlags.forEach(([flag, own]) => args.push(flag, `${own}=${own}.npy`));
            withFiles(files, (place) => {
                const { status, stderr } = attn(args, place);
                assert.equal(status, 0, stderr);
                outputs.forEach((array, position) => {
                    const expected = split(
                        parse(bytesOf(array)),
                        position === 0 && node.attributes.q_num_heads,
                    );
                    const file = `${outputFlags[position][1]}.npy`;
                    const actual = parseNpy(readFileSync(join(place, file)));
                    assert.deepEqual(actual.shape, expected.shape, array.name);
                    compare(array.name, actual.data, expected);
                });
            });
            ran.pass({ name });
        });
    }
    test(ran.name, () => ran.check());
});
