// bench/RESULTS.md: for each topic and kind of machine the newest results.
//
// usage: node page.mjs

import { join } from "node:path";
import { replaceFile, table } from "../peers/results/readme.mjs";
import { digits, percent } from "../peers/results/table.mjs";
import { withFigure } from "./figure.mjs";
import { losing, peaksOf } from "./lines.mjs";
import { readRuns } from "./runs.mjs";
import { topics } from "./topics.mjs";

const pageFile = join(import.meta.dirname, "..", "RESULTS.md");

/** The last item of each key, in the order of their first ones. */
const newestBy = (items, keyOf) => [...new Map(items.map((item) => [keyOf(item), item])).values()];

/** Where, when and how a run was made. */
function headOf({ file, machine, date, commit, command, converted, note, peaks }) {
    const place = [machine.cpus && `${machine.cpus} CPUs`, machine.system]
        .filter(Boolean)
        .join(", ");
    const from = [place, date, commit && `commit ${commit}`, command && `\`${command}\``];
    const origin = converted ? `[Converted](results/${file}) from a table.` : "";
    return [`${from.filter(Boolean).join("; ")}.`, origin, peaksOf(peaks), note]
        .filter(Boolean)
        .join(" ");
}

/** A number as its column tells it: "..., %" in per cent, "error" with two digits, else three; a text as it is. */
function cellOf(value, column) {
    if (value === null || value === undefined) return "";
    if (typeof value === "string") return value;
    if (column.endsWith("%")) return percent(value);
    if (/error$/.test(column))
        return Math.abs(value) < 0.01 && value !== 0
            ? value.toExponential(1)
            : value.toPrecision(2);
    return digits(value);
}

function tableOf(given) {
    const { title, columns, rows, note } = withFigure(given);
    const titles = columns.map((column) => column.replace(/, %$/, ""));
    const cells = rows.map((row) => row.map((value, i) => cellOf(value, columns[i])));
    return [`**${title}**`, table(titles, cells), note].filter(Boolean).join("\n\n");
}

/** Runs that have the newest results of some of the topic's families: [{run, families}]. */
function newestResults(runs, topic) {
    const pairs = runs.flatMap((run) =>
        [...new Set(run.results.map(({ family }) => family))]
            .filter((family) => topic.families.includes(family))
            .map((family) => ({ run, family })),
    );
    const newest = newestBy(pairs, ({ family }) => family);
    const of = [...new Set(newest.map(({ run }) => run))];
    return of.map((run) => ({
        run,
        families: newest.filter((one) => one.run === run).map(({ family }) => family),
    }));
}

/** The newest tables of the topic, a title each: [{run, tables}]. */
function newestTables(runs, topic) {
    const pairs = runs.flatMap((run) =>
        run.tables.filter((one) => one.topic === topic.id).map((one) => ({ run, table: one })),
    );
    const newest = newestBy(pairs, ({ table: { title } }) => title);
    const of = [...new Set(newest.map(({ run }) => run))];
    return of.map((run) => ({
        run,
        tables: newest.filter((one) => one.run === run).map((one) => one.table),
    }));
}

/** What one machine's runs have of a topic; "" where that is nothing. */
function machineOf(runs, topic) {
    const results = newestResults(runs, topic);
    const tables = newestTables(runs, topic);
    const of = [...new Set([...results, ...tables].map(({ run }) => run))];
    const parts = of.map((run) => [
        headOf(run),
        ...results
            .filter((one) => one.run === run)
            .map(({ families }) => topic.table(run.results, families)),
        ...tables.filter((one) => one.run === run).flatMap((one) => one.tables.map(tableOf)),
    ]);
    if (parts.length === 0) return "";
    return [`### ${of.at(-1).machine.name}`, ...parts.flat()].filter(Boolean).join("\n\n");
}

/** Runs by their kind of machine, the one that was measured last first. */
function byMachine(runs) {
    const kinds = new Set(runs.map(({ machine }) => machine.kind).reverse());
    return [...kinds].map((kind) => runs.filter(({ machine }) => machine.kind === kind));
}

function topicOf(machines, topic) {
    const parts = machines.map((runs) => machineOf(runs, topic)).filter(Boolean);
    return [`## ${topic.title}`, topic.limits, ...parts].join("\n\n");
}

/** Rows of the tables below in which a peer is faster. */
function losingTable(machines) {
    const rows = machines.flatMap((runs) =>
        topics.flatMap((topic) =>
            newestResults(runs, topic).flatMap(({ run, families }) =>
                losing(run.results.filter(({ family }) => families.includes(family))).map((one) => [
                    run.machine.name,
                    `\`${one.family}\``,
                    one.work,
                    ...[digits(one.ms), one.peer, digits(one.ratio)],
                ]),
            ),
        ),
    );
    const titles = ["machine", "family", "work", "ms", "faster peer", "its time / libattn's"];
    return rows.length > 0 ? table(titles, rows) : "None.";
}

const opening = `# Results

The newest measurements for each kind of machine. This page is generated: \`./dev bench --peers\` and its variants write
one file a run into [results](results), and \`node bench/report/page.mjs\` makes the page. [README.md](README.md) says how
measurements are made.

- **ms**: median milliseconds of one call; 8 heads, batch 1, f32 unless a row says otherwise.
- **of the peak**: the share of a peak that the machine reached in the same minutes (arithmetic, or reading as many bytes).
- **aim**: what the project wants; "missed" where the row does not reach it.
- **its time / libattn's**: above 1 libattn is faster, below 1 the peer is.
- **error**: relative to exact attention in double precision, Frobenius norm; "more" where the best peer's is smaller.

Most machines are virtual and have neighbours, so milliseconds scatter by 5 to 10%. Ratios are steadier, because the
contenders of a row take turns.

A run that is marked "converted" was not written by a command: it was read from a table of an older manual. Its file says in
\`converted\` which values are computed from others, and what the table did not tell.`;

/** The page of these runs, the oldest first. */
export function pageOf(runs) {
    const machines = byMachine(runs);
    const parts = [
        opening,
        "## Rows in which a peer is faster",
        losingTable(machines),
        ...topics.map((topic) => topicOf(machines, topic)),
    ];
    return `${parts.join("\n\n")}\n`;
}

/** Writes the page and returns its path. */
export function writePage() {
    replaceFile(pageFile, pageOf(readRuns()));
    return pageFile;
}

if (process.argv[1] === import.meta.filename) console.log(writePage());
