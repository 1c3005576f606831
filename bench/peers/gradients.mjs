// Times of gradients, beside PyTorch's and beside the runs': the table of bench/README.md.
//
// usage: ATTN_PEERS=FOLDER node gradients.mjs ATTN [--quick]

import { execFile } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { npyBytes, readNpy } from "./npy.mjs";
import { dataFile, inRoot } from "./paths.mjs";
import { Contender } from "./process.mjs";
import { benchReadme, table, writeMarked } from "./readme.mjs";
import { summarize } from "./statistics.mjs";
import { digits, percent } from "./table.mjs";

const [attn, ...options] = process.argv.slice(2);
const quick = options.includes("--quick");
const rounds = quick ? 3 : 7;
const seconds = quick ? 0.2 : 0.8; // of a contender in a round
const log = openSync(inRoot("stderr.log"), "w");
const here = import.meta.dirname;

/** A row of `attn bench` with these options. */
async function bench(...more) {
    const words = ["bench", "--json", "--time", String(seconds), ...more];
    const { stdout } = await promisify(execFile)(attn, words.map(String));
    const { host, commit, peak_gflops: peak, rows } = JSON.parse(stdout);
    return { ...rows[0], host, commit, peak };
}

/** An array of gates between `low` and `low + 1`, as .npy. */
function gate(name, shape, low) {
    const file = `${dataFile(name)}.npy`;
    const count = shape.reduce((product, size) => product * size);
    const numbers = Float32Array.from({ length: count }, (_, i) => low + ((i * 0.618034) % 1));
    mkdirSync(inRoot("data"), { recursive: true });
    writeFileSync(file, npyBytes(shape, Buffer.from(numbers.buffer)));
    return file;
}

/** Medians over the rounds of what each contender takes by turns: {name: () => [milliseconds]}. */
async function byTurns(contenders) {
    const times = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
    for (let round = 0; round < rounds; round++)
        for (const [name, time] of Object.entries(contenders)) times[name].push(...(await time()));
    return Object.fromEntries(
        Object.entries(times).map(([name, all]) => [name, summarize(all).median]),
    );
}

const timeOf =
    (...more) =>
    async () => [(await bench(...more)).ms];

/** PyTorch's process for this task. */
async function torch(script, task) {
    const command = [join(here, "newest", "enter.sh"), inRoot("sid"), "python3"];
    const words = Object.entries(task).map(([name, value]) => `${name}=${value}`);
    const peer = new Contender([...command, join(here, "newest", script), ...words], {}, log);
    return { peer, about: await peer.ready() };
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
        writeFileSync(fileOf(name), npyBytes([8, n, d], Buffer.from(numbers.buffer)));
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

async function exactRow(n, d, causal) {
    const sizes = ["--backend", "softmax", "--backward", "--n", n, "--d", d];
    if (causal) sizes.push("--causal");
    writeNormals(n, d);
    const files = Object.fromEntries(arrays.map((name) => [name, fileOf(name)]));
    const task = { ...files, out: dataFile("gradients"), causal, threads: 1 };
    const { peer, about } = await torch("torch_gradients.py", task);
    const right = (await unitsOff(n, causal, task.out)) <= 1;
    const own = [];
    const ms = await byTurns({
        own: async () => {
            own.push(await bench(...sizes));
            return [own.at(-1).ms];
        },
        ...(right && { peer: timeOfPeer(peer) }),
    });
    await peer.end();
    const ofPeak = summarize(own.map((one) => one.percent_of_peak)).median;
    const work = `${causal ? "causal" : "full"}, n = ${n}, d = ${d}`;
    const cells = [work, digits(ms.own), percent(ofPeak)];
    const beside = right ? [digits(ms.peer), digits(ms.peer / ms.own)] : ["wrong", ""];
    return { about, own: own[0], cells: [...cells, ...beside] };
}

const linearForms = {
    "elu1, normalised": [],
    gated: ["rule=gated", "normaliser=off", ["decay", [8, 4096, 64], -1]],
    delta: ["rule=delta", "feature_map=lin", ["beta", [8, 4096, 1], 0]],
    "gated delta": [
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

async function linearRow([name, form]) {
    const words = ["--backend", "linear", "--causal", "--n", 4096, ...form.flatMap(wordsOf)];
    const ms = await byTurns({ run: timeOf(...words), back: timeOf(...words, "--backward") });
    return [`linear, ${name}`, digits(ms.back), digits(ms.run), digits(ms.back / ms.run)];
}

async function sparseRow([name, settings]) {
    const words = ["--causal", "--n", 4096, "--backward"];
    const sparse = ["--backend", "sparse", ...settings.flatMap((one) => ["--set", one])];
    const own = [];
    const ms = await byTurns({
        sparse: async () => {
            own.push(await bench(...words, ...sparse));
            return [own.at(-1).ms];
        },
        dense: timeOf(...words, "--backend", "softmax"),
    });
    const density = own[0].pairs / ((4096 + 1) / (2 * 4096));
    const ratio = ms.sparse / (density * ms.dense);
    return [name, digits(ms.sparse), digits(ms.dense), percent(100 * density), digits(ratio)];
}

const patterns = {
    "Eq. 6": [],
    "window of 512": ["pattern=window", "block=64", "local=8"],
};

/** Steps of models that learn LIS: its numbers, the model's width, threads. */
const trainings = [
    [40, 32, 1],
    [40, 64, 1],
    [110, 128, 1],
    [110, 128, 2],
];

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

async function trainingRow([numbers, width, threads]) {
    const own = [await trainingStep(numbers, width, threads)];
    const { vocabulary, length } = own[0];
    const task = { vocabulary, length, width, heads: 4, layers: 3, batch: 64, threads };
    const { peer } = await torch("torch_training.py", task);
    const ms = await byTurns({
        own: async () => {
            own.push(await trainingStep(numbers, width, threads));
            return [own.at(-1).ms];
        },
        peer: timeOfPeer(peer),
    });
    await peer.end();
    const ofPeak = summarize(own.map((one) => one.percent)).median;
    const work = `D = ${width}, L = ${length}, ${threads === 1 ? "1 thread" : `${threads} threads`}`;
    const cells = [work, digits(ms.own), percent(ofPeak), digits(ms.peer)];
    return [...cells, digits(ms.peer / ms.own)];
}

async function each(rows, measure) {
    const done = [];
    for (const row of rows) {
        done.push(await measure(row));
        console.error((done.at(-1).cells ?? done.at(-1)).join("  "));
    }
    return done;
}

const sizes = [1024, 4096].flatMap((n) =>
    [64, 128].flatMap((d) => [0, 1].map((causal) => [n, d, causal])),
);
const exact = await each(sizes, (size) => exactRow(...size));
const linear = await each(Object.entries(linearForms), linearRow);
const sparse = await each(Object.entries(patterns), sparseRow);
const training = await each(trainings, trainingRow);
closeSync(log);
const { host, commit, peak } = exact[0].own;
const text = [
    `${host}, commit ${commit}, one core of ${digits(peak)} GFLOP/s; f32, 8 heads; ${exact[0].about}.`,
    table(
        ["softmax", "ms", "of the peak", "PyTorch, ms", "times as fast"],
        exact.map(({ cells }) => cells),
    ),
    table(["causal, n = 4096, d = 64", "ms", "its run, ms", "times its run"], linear),
    table(
        ["causal, n = 4096, d = 64", "ms", "dense, ms", "density", "time / (density × dense)"],
        sparse,
    ),
    table(
        ["a training step, batch 64", "ms", "of one core's peak", "PyTorch, ms", "times as fast"],
        training,
    ),
].join("\n\n");
writeMarked(benchReadme, { gradients: text });
