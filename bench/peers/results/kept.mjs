// How much of softmax attention each pattern keeps, of random arrays, of a text and of a trained model's heads: the
// weight on the pairs that it keeps, and the error of its output.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeInputs } from "../measure/inputs.mjs";
import { npyFile } from "../../../tests/cli/npy.mjs";
import { readNpy } from "../measure/npy.mjs";
import { dataFile } from "../measure/paths.mjs";

const root = join(import.meta.dirname, "../../..");
const [LENGTH, DIM] = [2048, 64];

/** Of 2048 tokens in blocks of 32 about as many pairs each, but for the first two; and of the few that a model
 * reads as it answers a question. */
const patterns = [
    ["band", "", "block=4"],
    ["fixed", "", "block=4"],
    ["window", "local=6", "block=4,local=2"],
    ["strided", "local=2,stride=8", "block=4,stride=3"],
    ["longformer", "local=5,global=32", "block=4,global=4"],
    ["bigbird", "local=2,random=3", "block=4,random=1"],
    ["dilated", "local=6,stride=2", "block=4,stride=2"],
    ["topk", "local=2,top=4", "block=4,top=1"],
    ["topkeys", "top=128", "top=6"],
    ["lsh", "buckets=16,rounds=3", "buckets=4,rounds=2"],
];

const question = "31 90 44 17 120 58 63 135 20 99";

/** The first so many floats of an array of the peers' as a .npy file. */
function writeArray(path, name, shape) {
    const size = 4 * shape.reduce((a, b) => a * b);
    writeFileSync(path, npyFile(shape, readFileSync(dataFile(name)).subarray(0, size)));
}

/** The weight that softmax has on the pairs of a layout, a row. */
function weightOn(layout, weights, rows) {
    let sum = 0;
    for (let at = 0; at < layout.length; at++) sum += layout[at] ? weights[at] : 0;
    return sum / rows;
}

/** What patterns, settings each, keep of softmax over these files, all causal: {pairs, weight, error}. */
function keptOf(folder, files, settings) {
    const attn = (...args) =>
        execFileSync(join(root, "build", "attn"), args, { cwd: folder, encoding: "utf8" });
    const arrays = ["--q", files[0], "--k", files[1], "--causal"];
    const all = [...arrays, "--v", files[2]];
    attn("run", "softmax", ...all, "-o", "o.npy", "--weights", "weights.npy");
    const { all: weights, length } = readNpy(join(folder, "weights.npy"));
    const rows = weights.length / length;
    return settings.map((list) => {
        const set = list.flatMap((setting) => ["--set", setting]);
        attn("layout", "sparse", ...arrays, ...set, "--cell=1", "--output=layout.npy");
        const { all: layout } = readNpy(join(folder, "layout.npy"));
        const options = ["--backends=sparse", "--time=0", "--json"];
        const [{ error }] = JSON.parse(attn("compare", ...all, ...set, ...options)).rows;
        const pairs = layout.reduce((a, b) => a + b, 0) / ((rows * (length + 1)) / 2);
        return { pairs, weight: weightOn(layout, weights, rows), error };
    });
}

const settingsOf = (at) =>
    patterns.map((row) => [`pattern=${row[0]}`, ...row[at].split(",").filter(Boolean)]);

/** For each kind of input what each pattern keeps of it; the text is this project's license. */
async function kept() {
    const folder = mkdtempSync(join(tmpdir(), "attn-kept-"));
    const task = { heads: 1, kv_heads: 1, queries: LENGTH, keys: LENGTH, dim: DIM };
    const attn = (...args) => execFileSync(join(root, "build", "attn"), args, { cwd: folder });
    try {
        await makeInputs([task]);
        for (const name of ["query", "key", "value"])
            writeArray(join(folder, `${name}.npy`), name, [LENGTH, DIM]);
        attn("embed", join(root, "LICENSE"), "--dim", String(DIM), "-o", "text.npy");
        attn("lab", "dump", "lis", question, "--q", "q.npy", "--k", "k.npy", "--v", "v.npy");
        return [
            keptOf(folder, ["query.npy", "key.npy", "value.npy"], settingsOf(1)),
            keptOf(folder, ["text.npy", "text.npy", "text.npy"], settingsOf(1)),
            keptOf(folder, ["q.npy", "k.npy", "v.npy"], settingsOf(2)),
        ];
    } finally {
        rmSync(folder, { recursive: true });
    }
}

const columns = ["pairs, %", "weight kept, %", "error"];

/** What kept() says, as a table of a run. */
export async function keptTable() {
    const inputs = await kept();
    const rows = patterns.map(([name, long, short], i) => [
        [name, ...long.split(",").filter(Boolean)].join(", "),
        ...inputs.flatMap((all, of) => [
            ...(of === 2 ? [short.replaceAll(",", ", ")] : []),
            ...[100 * all[i].pairs, 100 * all[i].weight, all[i].error],
        ]),
    ]);
    return {
        topic: "sparse",
        title: "What a pattern keeps of softmax",
        columns: [
            "pattern",
            ...["random", "text"].flatMap((input) => columns.map((name) => `${input}: ${name}`)),
            ...["trained heads: settings", ...columns.map((name) => `trained heads: ${name}`)],
        ],
        rows,
        note:
            "The share of softmax's weights on the pairs that a pattern keeps, mean of all rows, and the error of the " +
            "output against exact attention. Causal, one head, d = 64, blocks of 32. Random: 2048 standard normal tokens. " +
            "Text: the vectors of this project's license. Trained heads: the 12 of the model that finds a longest " +
            "increasing subsequence (23 tokens, d = 8), with settings of their size.",
    };
}
