// Records the last run of `./dev bench --NAME` in bench/results, and makes bench/RESULTS.md of all runs there.
//
// usage: ATTN_PEERS=FOLDER node record.mjs peers|softmax|linear|sparse OPTION... FAMILY...
//        node record.mjs sketch OPTION... <OUTPUT OF attn_sketch_rows
//        node record.mjs mpi OPTION... <OUTPUT OF attn_mpi_measure

import { readFileSync } from "node:fs";
import { keptTable } from "../peers/results/kept.mjs";
import { inRoot } from "../peers/measure/paths.mjs";
import { families } from "../peers/rows/rows.mjs";
import { thisCommit } from "../peers/measure/commit.mjs";
import { thisMachine } from "./machine.mjs";
import { mpiTables } from "./mpi.mjs";
import { writePage } from "./page.mjs";
import { writeRun } from "./runs.mjs";
import { sketchTables } from "./sketch.mjs";

/** Where, when and of what a run is. */
export const headOf = (command) => ({
    machine: thisMachine(),
    date: new Date().toISOString().slice(0, 10),
    commit: thisCommit(),
    command: command.join(" "),
});

/** Writes the run's file and the page, and says so. */
export function record(run) {
    console.error(`written: ${writeRun(run)} and ${writePage()}`);
}

/** Results of the families all of whose rows were measured. */
export function wholeFamilies(results) {
    const measured = new Set(results.map(({ row }) => row));
    const whole = families.filter(({ rows }) => rows.every(({ id }) => measured.has(id)));
    return results.filter(({ family }) => whole.some(({ id }) => id === family));
}

/** Why a run has no place among the results; "" where it has one. */
export function refusalOf(commit, words, results) {
    const given = (option) =>
        words.some((word) => word === option || word.startsWith(`${option}=`));
    if (commit.endsWith("-dirty")) return `the sources are ${commit}, which is no commit`;
    if (given("--own")) return "--own leaves out the peers";
    if (given("--against")) return "--against compares two commits";
    if (results.length === 0) return "no family was measured whole";
    return "";
}

/** The words that were given: `./dev bench --softmax` and its like add their families. */
const givenOf = (name, words) =>
    name === "peers" ? words : words.filter((word) => !/^[a-z]/.test(word));

/** The last run beside the peers. */
async function recordPeers(name, words) {
    const { peaks, results: all } = JSON.parse(readFileSync(inRoot("results.json"), "utf8"));
    const head = headOf(["./dev", "bench", `--${name}`, ...givenOf(name, words)]);
    const results = wholeFamilies(all);
    const refusal = refusalOf(head.commit, words, results);
    if (refusal) return console.error(`bench/results: not recorded: ${refusal}`);
    const tables = name === "sparse" ? [await keptTable()] : [];
    return record({ ...head, peaks, results: results.map(withoutPeaks), tables });
}

/** How a peak was measured is the same text in all records. */
const withoutPeaks = (result) => ({ ...result, peak_of: undefined });

/** What attn_sketch_rows printed, if it was all subjects. */
function recordSketch(words) {
    const head = headOf(["./dev", "bench", "--sketch", ...words]);
    const isWhole = words.every((word) => word === "--scipy" || /^[\d.]+$/.test(word));
    const refusal = isWhole
        ? refusalOf(head.commit, words, [true])
        : "only some subjects were measured";
    if (refusal) return console.error(`bench/results: not recorded: ${refusal}`);
    return record({ ...head, ...sketchTables(readFileSync(0, "utf8")) });
}

/** What attn_mpi_measure printed, of 1, 2 and 4 ranks. */
function recordMpi(words) {
    const head = headOf(["./dev", "bench", "--mpi", ...words]);
    const refusal = words.length ? "--quick is a first look" : refusalOf(head.commit, [], [true]);
    if (refusal) return console.error(`bench/results: not recorded: ${refusal}`);
    return record({ ...head, ...mpiTables(readFileSync(0, "utf8")) });
}

if (process.argv[1] === import.meta.filename) {
    const [name, ...words] = process.argv.slice(2);
    const own = { sketch: recordSketch, mpi: recordMpi }[name];
    await (own ? own(words) : recordPeers(name, words));
}
