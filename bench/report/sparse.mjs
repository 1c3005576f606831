// The tables of sparse attention. What failed has no time: its cell is empty, its row is left out where it is this
// library's, and a line below the tables names it.

import { table } from "../peers/results/readme.mjs";
import { failuresOf } from "./lines.mjs";
import { digits, percent } from "../peers/results/table.mjs";

/** As if it had as many heads as `one`, where dense attention of all takes minutes. */
const ofHeads = (dense, { heads }) =>
    dense && { ...dense, heads, ms: (dense.ms * heads) / dense.heads };

/** Of every row that this library computes its time, dense attention's and others', and the share of dense pairs. */
function rowsOf(results, family) {
    const timed = results.filter((one) => one.family === family && !one.failure);
    const firsts = timed.filter(({ contender }) => /^libattn(, SIMD128)?$/.test(contender));
    return firsts.map((first) => {
        const of = (word) =>
            timed.find(({ row, contender }) => row === first.row && contender.includes(word));
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

/** A table; "" where no row was measured. */
const nonEmpty = (titles, rows) => (rows.length > 0 ? table(titles, rows) : "");

const perHead = ({ ms, heads }) => ms / heads;
const ratio = (one) => one.ms / (one.density * one.dense?.ms);
/** What the other takes times this one's; NaN without it. */
const timesOf = (other, one) => (other ? other.ms / one.ms : NaN);
const beside = (one) => [digits(one.ms), digits(one.dense?.ms)];
const line = (one) => [
    one.work,
    ...beside(one),
    percent(100 * one.density),
    digits(ratio(one)),
    percent(one.percent_of_peak),
    digits(one.blocks?.ms),
    digits(one.peer?.ms),
];

function timesTable(results) {
    const titles = ["work", "ms", "dense, ms", "density", "time / (density × dense)"];
    const families = ["sparse-density", "sparse-patterns", "sparse-window", "sparse-decode"];
    const native = families.flatMap((family) => rowsOf(results, family)).map(line);
    const others = ["as a list of blocks, ms", "onnxruntime SparseAttention, ms"];
    return nonEmpty([...titles, "of the peak", ...others], native);
}

const growth = (rows) => digits(exponentOf(rows.map((one) => [one.keys, perHead(one)])));

/** What is not in the lines of the table. */
function timesNotes(results) {
    const windows = rowsOf(results, "sparse-window");
    const keys = rowsOf(results, "sparse-patterns").find(({ row }) => row === "sparse-topkeys");
    return [
        ...(windows.length > 1
            ? [`Time of the window grows as n to the power of ${growth(windows)}.`]
            : []),
        ...(keys?.dense
            ? [
                  `Of topkeys' time ${percent(100 * (1 - keys.dense.ms / 2 / keys.ms))} is more than half of dense ` +
                      "attention's, which its logits take: choosing keys, and reading the values of those.",
              ]
            : []),
    ].join(" ");
}

function threadsTable(results) {
    const rows = rowsOf(results, "sparse-threads").map((one) => [
        one.work,
        digits(one.ms),
        digits(one.single?.ms),
        digits(timesOf(one.single, one)),
        digits(one.peer?.ms),
    ]);
    const titles = ["2 threads", "ms", "1 thread, ms", "times as fast"];
    return nonEmpty([...titles, "onnxruntime SparseAttention, ms"], rows);
}

function growthTable(results, family) {
    const rows = rowsOf(results, family).filter(({ keys, work }) => work.endsWith(`n = ${keys}`));
    const times = (one) => [one.work, ...beside(one), digits(timesOf(one.dense, one))];
    const titles = ["Eq. 6, B = sqrt n", "ms", "dense, ms", "times as fast"];
    const note = rows.length > 1 ? `\n\nTime grows as n to the power of ${growth(rows)}.` : "";
    return `${nonEmpty(titles, rows.map(times))}${note}`;
}

const webTable = (results) =>
    nonEmpty(
        ["WebAssembly, SIMD128, in Node", "ms", "dense, ms", "density", "time / (density × dense)"],
        rowsOf(results, "sparse-wasm").map((one) => line(one).slice(0, 5)),
    );

/** All tables of sparse attention in a run's results, as Markdown. */
export const sparseTables = (results) =>
    [
        timesTable(results),
        timesNotes(results),
        growthTable(results, "sparse-growth"),
        threadsTable(results),
        webTable(results),
        failuresOf(results),
    ]
        .filter(Boolean)
        .join("\n\n");
