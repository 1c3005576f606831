// Runs in bench/results: one JSON file each.
//
// {machine: {kind, name, cpus, system}, date, commit, command, peaks, note, results, tables}
//
// `results` has a record for each contender in each row (peers/results/results.mjs). `tables` has what else was measured:
// {topic, title, columns, rows, note, figure}, with numbers or texts as cells; `figure` asks for bars (figure.mjs). `converted` says what is not as measured in a run that
// no command wrote. The page leaves out the topic "archive".

import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "../peers/results/readme.mjs";

export const resultsFolder = join(import.meta.dirname, "..", "results");

/** KIND-YYYY-MM-DD.json is a day's first run on such a machine, KIND-YYYY-MM-DD-2.json its second. */
const numberOf = (file) => Number(/-\d{4}-\d\d-\d\d-(\d+)\.json$/.exec(file)?.[1] ?? 1);

/** All runs, the oldest first. */
export function readRuns(folder = resultsFolder) {
    return readdirSync(folder)
        .filter((file) => file.endsWith(".json"))
        .map((file) => ({ file, ...JSON.parse(readFileSync(join(folder, file), "utf8")) }))
        .sort(
            (a, b) =>
                a.date.localeCompare(b.date) ||
                numberOf(a.file) - numberOf(b.file) ||
                a.file.localeCompare(b.file),
        );
}

/** Writes a run to the first file of its machine and date that is not there yet, and returns its path. */
export function writeRun(run, folder = resultsFolder) {
    mkdirSync(folder, { recursive: true });
    const base = join(folder, `${run.machine.kind}-${run.date}`);
    let file = `${base}.json`;
    for (let number = 2; existsSync(file); number++) file = `${base}-${number}.json`;
    replaceFile(file, textOf(run));
    return file;
}

const isRecord = (value) => typeof value === "object" && value !== null;
const line = (value) => JSON.stringify(value);

/** JSON with a record or a row of a table in each line, so that a difference of two runs can be read. */
function textOf({ results = [], tables = [], ...head }) {
    const list = (items, indent) =>
        items.length
            ? `[\n${items.map((one) => indent + one).join(",\n")}\n${indent.slice(2)}]`
            : "[]";
    const fields = Object.entries(head)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `  ${line(name)}: ${line(value)}`);
    const table = ({ rows, ...rest }) => {
        const more = Object.entries(rest).map(
            ([name, value]) => `      ${line(name)}: ${line(value)}`,
        );
        return `{\n${[...more, `      "rows": ${list(rows.map(line), "        ")}`].join(",\n")}\n    }`;
    };
    return `{\n${[
        ...fields,
        `  "results": ${list(results.map(withoutEmpty).map(line), "    ")}`,
        `  "tables": ${list(tables.map(table), "    ")}`,
    ].join(",\n")}\n}\n`;
}

/** A record without what is not known of it. */
function withoutEmpty(record) {
    const entries = Object.entries(record).filter(
        ([, value]) =>
            value !== "" &&
            value !== undefined &&
            !isRecord(value) &&
            !Number.isNaN(value) &&
            value !== null,
    );
    return Object.fromEntries(entries);
}
