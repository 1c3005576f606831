// How much of softmax attention each pattern keeps, of random arrays and of a text: the weight on the pairs
// that it keeps, and the error of its output.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeInputs } from "./inputs.mjs";
import { npyBytes } from "./npy.mjs";
import { dataFile } from "./paths.mjs";

const root = join(import.meta.dirname, "..", "..");
const [LENGTH, DIM] = [2048, 64];

/** With blocks of 32 about as many pairs each, but for the first two. */
const patterns = [
    "pattern=band",
    "pattern=fixed",
    "pattern=window,local=6",
    "pattern=strided,local=2,stride=8",
    "pattern=longformer,local=5,global=32",
    "pattern=bigbird,local=2,random=3",
    "pattern=dilated,local=6,stride=2",
    "pattern=topk,local=2,top=4",
    "pattern=topkeys,top=128",
    "pattern=lsh,buckets=16,rounds=3",
];

/** The elements of a .npy file of float32 or bool. */
function elements(path) {
    const bytes = readFileSync(path);
    const start = 10 + bytes.readUInt16LE(8);
    const data = bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length);
    const isBool = bytes.toString("latin1", 10, start).includes("|b1");
    return isBool ? new Uint8Array(data) : new Float32Array(data);
}

/** The first so many floats of an array of the peers' as a .npy file. */
function writeArray(path, name, shape) {
    const size = 4 * shape.reduce((a, b) => a * b);
    writeFileSync(path, npyBytes(shape, readFileSync(dataFile(name)).subarray(0, size)));
}

/** The weight that softmax has on the pairs of a layout, a row. */
function weightOn(layout, weights, rows) {
    let sum = 0;
    for (let at = 0; at < layout.length; at++) sum += layout[at] ? weights[at] : 0;
    return sum / rows;
}

/** What each pattern keeps of softmax over these files, all causal: {pairs, weight, error}. */
function keptOf(folder, files) {
    const attn = (...args) =>
        execFileSync(join(root, "build", "attn"), args, { cwd: folder, encoding: "utf8" });
    const arrays = ["--q", files[0], "--k", files[1]];
    const all = [...arrays, "--v", files[2], "--causal"];
    attn("run", "softmax", ...all, "-o", "o.npy", "--weights", "weights.npy");
    const weights = elements(join(folder, "weights.npy"));
    const rows = Math.sqrt(weights.length);
    return patterns.map((pattern) => {
        const settings = pattern.split(",").flatMap((setting) => ["--set", setting]);
        attn(
            "layout",
            "sparse",
            ...arrays,
            "--causal",
            ...settings,
            "--cell=1",
            "--output=layout.npy",
        );
        const layout = elements(join(folder, "layout.npy"));
        const options = ["--backends=sparse", "--time=0", "--json"];
        const [{ error }] = JSON.parse(attn("compare", ...all, ...settings, ...options)).rows;
        const pairs = layout.reduce((a, b) => a + b, 0) / ((rows * (rows + 1)) / 2);
        return { pairs, weight: weightOn(layout, weights, rows), error };
    });
}

/** [{pattern, inputs: [random, text]}]: the text is this project's license. */
export async function kept() {
    const folder = mkdtempSync(join(tmpdir(), "attn-kept-"));
    const task = { heads: 1, kv_heads: 1, queries: LENGTH, keys: LENGTH, dim: DIM };
    try {
        await makeInputs([task]);
        for (const name of ["query", "key", "value"])
            writeArray(join(folder, `${name}.npy`), name, [LENGTH, DIM]);
        const embed = ["embed", join(root, "LICENSE"), "--dim", String(DIM), "-o", "text.npy"];
        execFileSync(join(root, "build", "attn"), embed, { cwd: folder });
        const random = keptOf(folder, ["query.npy", "key.npy", "value.npy"]);
        const text = keptOf(folder, ["text.npy", "text.npy", "text.npy"]);
        return patterns.map((pattern, i) => ({ pattern, inputs: [random[i], text[i]] }));
    } finally {
        rmSync(folder, { recursive: true });
    }
}
