// Writes the tables and the figure of plugins/sparse/README.md: times of the last `./dev bench --peers sparse`,
// and what the patterns keep of softmax.
//
// usage: ATTN_PEERS=FOLDER node sparse.mjs

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { keptTable } from "./kept.mjs";
import { table, writeMarked } from "./readme.mjs";
import { lastRun } from "./report.mjs";
import { overDensity, overLength } from "./sparse_plot.mjs";
import { digits, percent } from "./table.mjs";

const plugin = join(import.meta.dirname, "..", "..", "plugins", "sparse");
const { results, cpu, date, commit, peaks } = lastRun();

/** As if it had as many heads as `one`, where dense attention of all takes minutes. */
const ofHeads = (dense, { heads }) =>
    dense && { ...dense, heads, ms: (dense.ms * heads) / dense.heads };

/** Of every row its own time, dense attention's and others', and the share of dense pairs. */
function rowsOf(family) {
    const own = results.filter((one) => one.family === family);
    return [...new Set(own.map(({ row }) => row))].map((id) => {
        const of = (word) =>
            own.find(
                ({ row, contender, failure }) => row === id && contender.includes(word) && !failure,
            );
        const first = own.find(({ row }) => row === id);
        const dense = ofHeads(of("dense"), first);
        const pairs = dense && (dense.gflops * dense.ms * 1e6) / (4 * dense.dim);
        return {
            ...first,
            dense,
            peer: of("SparseAttention"),
            blocks: of("libattn, blocks"),
            single: of("1 thread"),
            density: first.pairs / pairs,
        };
    });
}

/** The slope of log y over log x, by least squares. */
function exponentOf(points) {
    const logs = points.map(([x, y]) => [Math.log(x), Math.log(y)]);
    const [mx, my] = [0, 1].map((axis) => logs.reduce((sum, p) => sum + p[axis], 0) / logs.length);
    const over = logs.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
    return over / logs.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
}

const perHead = ({ ms, heads }) => ms / heads;
const ratio = (one) => one.ms / (one.density * one.dense.ms);
const beside = (one) => [digits(one.ms), one.dense ? digits(one.dense.ms) : ""];
const line = (one) => [
    one.work,
    ...beside(one),
    one.dense ? percent(100 * one.density) : "",
    one.dense ? digits(ratio(one)) : "",
    percent(one.percent_of_peak),
    one.blocks ? digits(one.blocks.ms) : "",
    one.peer ? digits(one.peer.ms) : "",
];

function timesTable() {
    const titles = ["work", "ms", "dense, ms", "density", "time / (density × dense)"];
    const families = ["sparse-density", "sparse-patterns", "sparse-window", "sparse-decode"];
    const native = families.flatMap(rowsOf).map(line);
    const others = ["as a list of blocks, ms", "onnxruntime SparseAttention, ms"];
    return table([...titles, "of the peak", ...others], native);
}

/** What is not in the lines of the table. */
function timesNotes() {
    const windows = rowsOf("sparse-window").map((one) => [one.keys, perHead(one)]);
    const [keys] = rowsOf("sparse-patterns").filter(({ row }) => row === "sparse-topkeys");
    const rest = 1 - keys.dense.ms / 2 / keys.ms;
    return (
        `Time of the window grows as n to the power of ${digits(exponentOf(windows))}. Of topkeys' time ` +
        `${percent(100 * rest)} is more than half of dense attention's, which its logits take: choosing keys, ` +
        "and reading the values of those."
    );
}

function threadsTable() {
    const rows = rowsOf("sparse-threads").map((one) => [
        one.work,
        digits(one.ms),
        digits(one.single.ms),
        digits(one.single.ms / one.ms),
        one.peer ? digits(one.peer.ms) : "",
    ]);
    const titles = ["2 threads", "ms", "1 thread, ms", "times as fast"];
    return table([...titles, "onnxruntime SparseAttention, ms"], rows);
}

function growthTable(family) {
    const rows = rowsOf(family).filter(({ keys, work }) => work.endsWith(`n = ${keys}`));
    const times = (one) => [one.work, ...beside(one), digits(one.dense.ms / one.ms)];
    const exponent = exponentOf(rows.map((one) => [one.keys, perHead(one)]));
    const titles = ["Eq. 6, B = sqrt n", "ms", "dense, ms", "times as fast"];
    return `${table(titles, rows.map(times))}\n\nTime grows as n to the power of ${digits(exponent)}.`;
}

const webTable = () =>
    table(
        ["WebAssembly, SIMD128, in Node", "ms", "dense, ms", "density", "time / (density × dense)"],
        rowsOf("sparse-wasm").map((one) => line(one).slice(0, 5)),
    );

const about =
    `${cpu}, ${date}, commit ${commit}; one core of ${digits(peaks.flops)} GFLOP/s, of ` +
    `${digits(peaks.wasm)} with SIMD128; f32, 8 heads (n = 65536: Eq. 6 one, dense attention 8 times one), d = 64, one query d = 128.`;
const times = [
    about,
    timesTable(),
    timesNotes(),
    growthTable("sparse-growth"),
    threadsTable(),
    webTable(),
].join("\n\n");
// All of it or nothing: whatever fails does so before the first is written.
const kept = await keptTable();
const figures = {
    "times-n.svg": overLength(rowsOf("sparse-growth")),
    "times-density.svg": overDensity(rowsOf("sparse-density")),
};
writeMarked(join(plugin, "README.md"), { times, kept });
for (const [name, figure] of Object.entries(figures)) writeFileSync(join(plugin, name), figure);
