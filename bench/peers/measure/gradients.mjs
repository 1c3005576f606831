// Times of gradients, beside PyTorch's and beside the runs': tables of a run in bench/results.
//
// usage: ATTN_PEERS=FOLDER node gradients.mjs ATTN [--quick]

import { execFile } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { headOf, record } from "../../report/record.mjs";
import { npyFile } from "../../../tests/cli/npy.mjs";
import { readNpy } from "./npy.mjs";
import { dataFile, inRoot } from "./paths.mjs";
import { Contender } from "./process.mjs";
import { summarize } from "./statistics.mjs";
import { byTurns, eachRow } from "./turns.mjs";

const [attn, ...options] = process.argv.slice(2);
const quick = options.includes("--quick");
const rounds = quick ? 3 : 7;
const seconds = quick ? 0.2 : 0.8; // of a contender in a round
const log = openSync(inRoot("stderr.log"), "w");
const here = join(import.meta.dirname, "..");
const host = {}; // of `attn bench`, by the first row that it prints
const failures = [];

/** Keeps in mind, and tells at once, what failed: the notes of the tables name it. */
function failed(what, error) {
    const [why] = (error.stderr || error.message).trim().split("\n");
    failures.push(`${what} (${why})`);
    console.error(`failed: ${failures.at(-1)}`);
}

/** Rows of such numbers by what they are called. */
function byName(nameOf, rows) {
    return Object.fromEntries(rows.map((row) => [nameOf(...row), row]));
}

/** A row of `attn bench` with these options. */
async function bench(...more) {
    const words = ["bench", "--json", "--time", String(seconds), ...more];
    const { stdout } = await promisify(execFile)(attn, words.map(String));
    const { host: cpu, peak_gflops: peak, rows } = JSON.parse(stdout);
    if (!host.cpu) Object.assign(host, { cpu, peak });
    return rows[0];
}

/** An array of gates between `low` and `low + 1`, as .npy. */
function gate(name, shape, low) {
    const file = `${dataFile(name)}.npy`;
    const count = shape.reduce((product, size) => product * size);
    const numbers = Float32Array.from({ length: count }, (_, i) => low + ((i * 0.618034) % 1));
    mkdirSync(inRoot("data"), { recursive: true });
    writeFileSync(file, npyFile(shape, Buffer.from(numbers.buffer)));
    return file;
}

/** Medians of what each contender takes by turns; one that fails is told of. */
const turns = (work, contenders) =>
    byTurns(contenders, rounds, (name, error) => failed(`${name}, ${work}`, error));

const timeOf =
    (...more) =>
    async () => [(await bench(...more)).ms];

/** What `measure` makes of PyTorch's process for this task; of undefined where that does not start, which is told. */
async function withTorch(work, script, task, measure) {
    const command = [join(here, "newest", "enter.sh"), inRoot("sid"), "python3"];
    const words = Object.entries(task).map(([name, value]) => `${name}=${value}`);
    const peer = new Contender([...command, join(here, "newest", script), ...words], {}, log);
    try {
        const about = await peer.ready().catch((error) => failed(`PyTorch, ${work}`, error));
        host.torch ??= about;
        return await measure(about && peer);
    } finally {
        await peer.end();
    }
}

const timeOfPeer = (peer) => async () => (await peer.time(seconds)).map((time) => 1e3 * time);

const arrays = ["query", "key", "value", "change"];
const fileOf = (name) => `${dataFile(`gradients-${name}`)}.npy`;

/** Standard normal numbers as .npy, the same in every run. */
function writeNormals(n, d) {
    let state = 1;
    const uniform = () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return (state + 0.5) / 2 ** 32;
    };
    const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    mkdirSync(inRoot("data"), { recursive: true });
    for (const name of arrays) {
        const numbers = Float32Array.from({ length: 8 * n * d }, normal);
        writeFileSync(fileOf(name), npyFile([8, n, d], Buffer.from(numbers.buffer)));
    }
}

/** Gradients of query, key and value by `attn run`, one after the other. */
async function ownGradients(causal) {
    const results = ["query", "key", "value"];
    const target = (name) => `${dataFile(`gradients-of-${name}`)}.npy`;
    const words = ["run", "softmax", "--q", fileOf("query"), "--k", fileOf("key")];
    words.push("--v", fileOf("value"), "--grad", `out=${fileOf("change")}`);
    words.push("-o", `${dataFile("gradients-out")}.npy`);
    if (causal) words.push("--causal");
    for (const name of results) words.push("--grad", `${name}=${target(name)}`);
    await promisify(execFile)(attn, words);
    return results.map((name) => readNpy(target(name)).all);
}

/**
 * The largest difference between ours and PyTorch's, of the norm of each gradient, in units of what rounding can explain:
 * sums of n terms in random order deviate by at most 8 sqrt(n) u times that of their absolute values (check.c), which is
 * about sqrt(n) times as much as they come to; and there are two of them.
 */
async function unitsOff(n, causal, file) {
    const bytes = Uint8Array.from(readFileSync(file)).buffer;
    const limit = 2 * 8 * n * 2 ** -24;
    const ours = await ownGradients(causal);
    const ratios = ours.map((own, i) => {
        const theirs = new Float32Array(bytes, 4 * i * own.length, own.length);
        const [off, norm] = own.reduce(
            ([a, b], x, at) => [a + (x - theirs[at]) ** 2, b + x ** 2],
            [0, 0],
        );
        return Math.sqrt(off / norm) / limit;
    });
    return Math.max(...ratios);
}

async function exactRow(work, [n, d, causal]) {
    const sizes = ["--backend", "softmax", "--backward", "--n", n, "--d", d];
    if (causal) sizes.push("--causal");
    writeNormals(n, d);
    const files = Object.fromEntries(arrays.map((name) => [name, fileOf(name)]));
    const task = { ...files, out: dataFile("gradients"), causal, threads: 1 };
    return withTorch(work, "torch_gradients.py", task, async (peer) => {
        const right = peer && (await unitsOff(n, causal, task.out)) <= 1;
        const own = [];
        const ms = await turns(work, {
            libattn: async () => {
                own.push(await bench(...sizes));
                return [own.at(-1).ms];
            },
            ...(right && { PyTorch: timeOfPeer(peer) }),
        });
        const ofPeak = summarize(own.map((one) => one.percent_of_peak)).median;
        const beside = right ? [ms.PyTorch, ms.PyTorch / ms.libattn] : [peer ? "wrong" : "", ""];
        return [work, ms.libattn, ofPeak, ...beside];
    });
}

const linearForms = {
    "linear, elu1, normalised": [],
    "linear, gated": ["rule=gated", "normaliser=off", ["decay", [8, 4096, 64], -1]],
    "linear, delta": ["rule=delta", "feature_map=lin", ["beta", [8, 4096, 1], 0]],
    "linear, gated delta": [
        "rule=gated_delta",
        "feature_map=lin",
        ["decay_of_heads", [8, 4096, 1], -1],
        ["beta", [8, 4096, 1], 0],
    ],
};

const wordsOf = (one) =>
    typeof one === "string"
        ? ["--set", one]
        : ["--input", `${one[0].split("_")[0]}=${gate(...one)}`];

async function linearRow(name, form) {
    const words = ["--backend", "linear", "--causal", "--n", 4096, ...form.flatMap(wordsOf)];
    const back = timeOf(...words, "--backward");
    const ms = await turns(name, { run: timeOf(...words), back });
    return [name, ms.back, ms.run, ms.back / ms.run];
}

async function sparseRow(name, settings) {
    const words = ["--causal", "--n", 4096, "--backward"];
    const sparse = ["--backend", "sparse", ...settings.flatMap((one) => ["--set", one])];
    const own = [];
    const ms = await turns(name, {
        sparse: async () => {
            own.push(await bench(...words, ...sparse));
            return [own.at(-1).ms];
        },
        dense: timeOf(...words, "--backend", "softmax"),
    });
    const density = own[0]?.pairs / ((4096 + 1) / (2 * 4096));
    const ratio = ms.sparse / (density * ms.dense);
    return [name, ms.sparse, ms.dense, 100 * density, ratio];
}

const patterns = {
    "Eq. 6": [],
    "window of 512": ["pattern=window", "block=64", "local=8"],
};

/** Steps of models that learn LIS: its numbers, the model's width, threads. */
const trainings = byName(
    (numbers, width, threads) => `LIS of ${numbers}, D = ${width}, ${threads}`,
    [
        [40, 32, 1],
        [40, 64, 1],
        [110, 128, 1],
        [110, 128, 2],
    ],
);

/** What `attn lab train --bench` says. */
async function trainingStep(numbers, width, threads) {
    const words = ["lab", "train", "lis", "--bench", "--n", numbers, "--d", width];
    const { stdout } = await promisify(execFile)(
        attn,
        [...words, "--threads", threads].map(String),
    );
    const [, vocabulary, length, ms, percent] =
        /V = (\d+), L = (\d+),.*: ([\d.]+) ms a step,.*, (\d+)% of/.exec(stdout).map(Number);
    return { vocabulary, length, ms, percent };
}

async function trainingRow(name, [numbers, width, threads]) {
    const own = [await trainingStep(numbers, width, threads)];
    const { vocabulary, length } = own[0];
    const task = { vocabulary, length, width, heads: 4, layers: 3, batch: 64, threads };
    const work = `D = ${width}, L = ${length}, ${threads === 1 ? "1 thread" : `${threads} threads`}`;
    return withTorch(work, "torch_training.py", task, async (peer) => {
        const ms = await turns(work, {
            libattn: async () => {
                own.push(await trainingStep(numbers, width, threads));
                return [own.at(-1).ms];
            },
            ...(peer && { PyTorch: timeOfPeer(peer) }),
        });
        const ofPeak = summarize(own.map((one) => one.percent)).median;
        return [work, ms.libattn, ofPeak, ms.PyTorch, ms.PyTorch / ms.libattn];
    });
}

async function each(rows, measure) {
    const tell = async (name, row) => {
        const cells = await measure(name, row);
        console.error(cells.join("  "));
        return cells;
    };
    return eachRow(rows, tell, failed);
}

const sizes = byName(
    (n, d, causal) => `${causal ? "causal" : "full"}, n = ${n}, d = ${d}`,
    [1024, 4096].flatMap((n) => [64, 128].flatMap((d) => [0, 1].map((causal) => [n, d, causal]))),
);
const exact = await each(sizes, exactRow);
const linear = await each(linearForms, linearRow);
const sparse = await each(patterns, sparseRow);
const training = await each(trainings, trainingRow);
closeSync(log);
if (!host.cpu) throw new Error("nothing was measured");
const tableOf = (title, columns, rows, note) => ({
    topic: "gradients",
    title,
    columns,
    rows,
    note,
});
record({
    ...headOf(["./dev", "bench", "--gradients", ...options]),
    peaks: { flops: host.peak },
    note: [
        `f32, 8 heads; ${host.torch ?? "no PyTorch"}.`,
        failures.length > 0 ? `Not timed: ${failures.join("; ")}.` : "",
    ]
        .filter(Boolean)
        .join(" "),
    tables: [
        tableOf(
            "Softmax: gradients of query, key and value",
            ["work", "ms", "of the peak, %", "PyTorch, ms", "times as fast"],
            exact,
        ),
        tableOf(
            "Linear attention, causal, n = 4096, d = 64",
            ["rule", "ms", "its run, ms", "times its run"],
            linear,
        ),
        tableOf(
            "Sparse attention, causal, n = 4096, d = 64",
            ["pattern", "ms", "dense, ms", "density, %", "time / (density × dense)"],
            sparse,
        ),
        tableOf(
            "A training step, batch 64",
            ["model", "ms", "of one core's peak, %", "PyTorch, ms", "times as fast"],
            training,
            "The lab reasoning's decoder on LIS (3 blocks, 4 heads, no dropout) beside the same model in PyTorch with its " +
                "fused AdamW. Counted are 6 x weights x tokens and attention by its plan's cost.",
        ),
    ],
});
