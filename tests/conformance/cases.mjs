// ONNX's operator tests of Attention and LinearAttention, as data. The folder with their manifest.json:
// ATTN_CONFORMANCE, by default ../shared/conformance beside the repository.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { halfValue } from "../cli/npy.mjs";

const beside = fileURLToPath(new URL("../../../shared/conformance", import.meta.url));
const folder = process.env.ATTN_CONFORMANCE ?? beside;
const manifest = join(folder, "manifest.json");
const there = existsSync(manifest);

/** For describe(): why the cases are not run; false where they are there. */
export const skip = !there && `SKIPPED: no ${manifest}`;

const all = there ? JSON.parse(readFileSync(manifest, "utf8")).cases : [];
export const cases = all.filter(({ node }) => node.op === "Attention");
export const linearCases = all.filter(({ node }) => node.op === "LinearAttention");

const attentionAttributes = [
    ...["is_causal", "left_window_size", "right_window_size", "scale", "softcap"],
    ...["q_num_heads", "kv_num_heads", "qk_matmul_output_mode", "softmax_precision"],
];

/**
 * What the attributes and optional inputs of an Attention node ask for: its corner ("none", "top-left",
 * "bottom-right": queries are the last of each padded sequence's keys), window, scale, softcap and
 * number of the scores' mode. An attribute that is not in this list has to be added before its cases pass.
 */
export function rulesOf({ attributes, inputs }) {
    const unknown = Object.keys(attributes).filter((name) => !attentionAttributes.includes(name));
    assert.deepEqual(unknown, [], "attributes of Attention that the tests do not know");
    const window = [attributes.left_window_size ?? -1, attributes.right_window_size ?? -1];
    const isPadded = Boolean(inputs[6] && !inputs[4]);
    const isWindowed = window.some((size) => size >= 0);
    assert.ok(attributes.is_causal || !isPadded || !isWindowed, "a padded window without causal");
    return {
        causal: !attributes.is_causal ? "none" : isPadded ? "bottom-right" : "top-left",
        window: isWindowed ? window : undefined,
        scale: attributes.scale,
        softcap: attributes.softcap || undefined,
        scoresMode: attributes.qk_matmul_output_mode ?? 0,
    };
}

/** Which of the cases ran; one test at the end holds it against the manifest and says the number. */
export function tally(listed) {
    const passed = new Set();
    return {
        pass: ({ name }) => passed.add(name),
        name: `${listed.length} cases of the manifest, and all of them ran`,
        check() {
            assert.ok(listed.length > 0, "the manifest lists no case");
            assert.deepEqual(
                listed.map(({ name }) => name).filter((name) => !passed.has(name)),
                [],
                `${passed.size} of ${listed.length} cases passed; these did not`,
            );
        },
    };
}

/** The bytes of an array of a case. */
export const bytesOf = ({ file }) => readFileSync(join(folder, file));

const readers = {
    "<f4": [4, (data, at) => data.readFloatLE(at)],
    "<f2": [2, (data, at) => halfValue(data.readUInt16LE(at))],
    "<i8": [8, (data, at) => Number(data.readBigInt64LE(at))],
    "|b1": [1, (data, at) => data[at]],
};

/** { shape, data, descr } of a file in C order. */
export function parse(bytes) {
    const start = 10 + bytes.readUInt16LE(8);
    const [, descr, sizes] = bytes
        .toString("latin1", 10, start)
        .match(/'descr': '([^']+)', 'fortran_order': False, 'shape': \(([^)]*)\)/);
    const [size, read] = readers[descr];
    const data = Float32Array.from({ length: (bytes.length - start) / size }, (_, i) =>
        read(bytes, start + i * size),
    );
    const shape = sizes.split(",").filter((text) => text.trim());
    return { shape: shape.map(Number), data, descr };
}

/** (B, n, H d) as (B, H, n, d); other arrays stay. */
export function split(array, heads) {
    if (!heads || array.shape.length !== 3) return array;
    const [B, n, width] = array.shape;
    const d = width / heads;
    const data = array.data.map((_, at) => {
        const [c, i] = [at % d, Math.floor(at / d) % n];
        const [h, b] = [Math.floor(at / (d * n)) % heads, Math.floor(at / (d * n * heads))];
        return array.data[(b * n + i) * width + h * d + c];
    });
    return { ...array, shape: [B, heads, n, d], data };
}

/** onnx.backend.test's own tolerances: rtol 1e-3, atol 1e-7; for float16 its last bit instead. */
export function compare(name, actual, expected) {
    assert.equal(actual.length, expected.data.length, name);
    const smallest = expected.descr === "<f2" ? 2 ** -11 : 1e-7;
    expected.data.forEach((x, i) => {
        const y = actual[i];
        const close = x === y || Math.abs(x - y) <= smallest + 1e-3 * Math.abs(x);
        assert.ok(close, `${name}[${i}]: ${y}, expected ${x}`);
    });
}
