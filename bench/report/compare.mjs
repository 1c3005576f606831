// Compares two files of `attn bench --json --rounds R`: of each row how much its time has changed, within which interval, and
// whether that decides anything. Of two runs of the same program 95 in 100 decide nothing, all rows together.
//
// usage: node compare.mjs OLD.json NEW.json
//
// The rounds of a row in one file against those in the other: the interval of Hodges and Lehmann, which the rank sum test of
// Wilcoxon, Mann and Whitney gives, assumes nothing about how times are distributed, and an outlier is one round. Its
// confidence is shared out among the rows (Bonferroni). What the machine itself has changed by between the two files, its
// arithmetic and its reading, decides nothing either: other load takes from both.

import { readFileSync } from "node:fs";
import { basename } from "node:path";

const MOST_ROUNDS = 100;
const ERRORS = 0.05; // of comparisons of the same program
const NAMES =
    "backend batch n m d dv heads kv_heads q_dtype dtype causal past stream backward threads".split(
        " ",
    );

const tails = new Map(); // by numbers of times

/**
 * Of the ways to interleave a and b numbers the share that has each count of pairs in which the second is less, up to half
 * of all pairs. Of (a, b) numbers the largest is the first's with probability a / (a + b), and then above all b.
 */
function pairShares(a, b) {
    const name = `${a} ${b}`;
    if (tails.has(name)) return tails.get(name);
    const room = Math.floor((a * b) / 2) + 1;
    let before = Array.from({ length: b + 1 }, () =>
        Float64Array.of(1, ...Array(room - 1).fill(0)),
    );
    for (let i = 1; i <= a; i++) {
        const now = [before[0]];
        for (let j = 1; j <= b; j++) {
            const shares = new Float64Array(room);
            for (let at = 0; at < room; at++)
                shares[at] = (i * (at >= j ? before[j][at - j] : 0) + j * now[j - 1][at]) / (i + j);
            now.push(shares);
        }
        before = now;
    }
    tails.set(name, before[b]);
    return before[b];
}

/**
 * How many of the least, and of the largest, differences between a and b numbers lie outside of an interval that misses the
 * true one in at most `errors` of the cases; NaN where there are too few for any.
 */
export function outside(a, b, errors) {
    let below = 0;
    const most = (errors / 2) * (1 + 1e-9); // shares are rounded
    const k = pairShares(a, b).findIndex((share) => (below += share) > most);
    return k > 0 ? k - 1 : NaN;
}

/** {change, low, high}: by how many times the times of `now` are those of `before`; low 0 and high infinite where they are too few. */
export function changeOf(before, now, errors) {
    const ratios = now.flatMap((x) => before.map((y) => x / y)).sort((x, y) => x - y);
    const middle = (ratios.length - 1) / 2;
    const change = Math.sqrt(ratios[Math.floor(middle)] * ratios[Math.ceil(middle)]);
    const out = outside(before.length, now.length, errors);
    if (Number.isNaN(out)) return { change, low: 0, high: Infinity };
    return { change, low: ratios[out], high: ratios[ratios.length - 1 - out] };
}

const apart = (a, b) => Math.max(a / b, b / a) || 1;

/** The peak that a row is held against, of all its threads. */
const peakOf = ({ gflops, percent_of_peak: percent }) => (100 * gflops) / percent;

/**
 * By how many times the machine is another for a row, 1 or more: its reading, and its arithmetic unless the row now runs on
 * another instruction set.
 */
function driftOf(old, now, before, after) {
    const isSame = before.peak_of === after.peak_of;
    const arithmetic = isSame ? apart(peakOf(before), peakOf(after)) : 1;
    return Math.max(arithmetic, apart(old.read_gbps, now.read_gbps));
}

const nameOf = (row) => NAMES.map((name) => row[name]).join(" ");

/** A row in words: what sets it apart from others. */
const wordsOf = (row, differing) =>
    [row.backend, ...differing.map((name) => `${name} ${row[name]}`)].join(", ");

const timesOf = ({ rows, rounds_ms }) =>
    new Map(rows.map((row, i) => [nameOf(row), { row, times: rounds_ms[i] }]));

const isMeasured = ({ times }) => times.every((ms) => ms > 0);

function verdictOf({ low, high }, drift) {
    if (high < 1 / drift) return "faster";
    return low > drift ? "slower" : "not resolved";
}

/** {rows: [{name, before, now, change, low, high, drift, verdict}], alone: names of rows in one of them} of two documents. */
export function compare(old, now) {
    const [before, after] = [timesOf(old), timesOf(now)];
    const both = [...after].filter(
        ([name, entry]) => before.has(name) && isMeasured(entry) && isMeasured(before.get(name)),
    );
    const differing = NAMES.slice(1).filter(
        (name) => new Set(both.map(([, { row }]) => row[name])).size > 1,
    );
    const rows = both.map(([name, { row, times }]) => {
        const earlier = before.get(name);
        const change = changeOf(earlier.times, times, ERRORS / both.length);
        const drift = driftOf(old, now, earlier.row, row);
        return {
            name: wordsOf(row, differing),
            before: earlier.row.ms,
            now: row.ms,
            ...change,
            drift,
            verdict: verdictOf(change, drift),
        };
    });
    const alone = [...new Set([...before.keys(), ...after.keys()])].filter(
        (name) => !both.some(([other]) => other === name),
    );
    return { rows, alone };
}

/** What is no such file, in one line; "" for nothing. */
export function refusalOf(file, document) {
    if (!Array.isArray(document?.rows)) return `${file}: is no file of attn bench --json`;
    const { rows, rounds_ms: rounds } = document;
    if (!rounds) return `${file}: has no rounds; measure with --rounds 12`;
    if (rounds.length !== rows.length || !rounds.every(Array.isArray))
        return `${file}: its rows and their rounds do not fit together`;
    const names = rows.map(nameOf);
    const twice = names.findIndex((name, i) => names.indexOf(name) < i);
    if (twice >= 0) return `${file}: has row ${twice + 1} twice; give each size once`;
    if (rounds.some((times) => times.length > MOST_ROUNDS))
        return `${file}: has more than ${MOST_ROUNDS} rounds a row`;
    return "";
}

const signed = (ratio) => {
    const percent = (100 * (ratio - 1)).toFixed(1);
    return Number.isFinite(ratio) && ratio > 0 ? `${percent > 0 ? "+" : ""}${percent}%` : "?";
};

/** As a table in Markdown, and what it comes to. */
export function textOf({ rows, alone }) {
    const count = (word) => rows.filter(({ verdict }) => verdict === word).length;
    return [
        "| row | before, ms | now, ms | change | 95% interval, all rows together | verdict |",
        "|---|---|---|---|---|---|",
        ...rows.map(
            (row) =>
                `| ${row.name} | ${row.before.toPrecision(3)} | ${row.now.toPrecision(3)} | ${signed(row.change)} | ` +
                `${signed(row.low)} to ${signed(row.high)} | ${row.verdict} |`,
        ),
        "",
        `${count("faster")} faster, ${count("slower")} slower, ${count("not resolved")} not resolved; ` +
            `the machine itself differs by ${signed(Math.max(1, ...rows.map(({ drift }) => drift)))}.`,
        ...(alone.length ? [`Not in both, or not measured: ${alone.length} rows.`] : []),
    ].join("\n");
}

function read(file) {
    try {
        return JSON.parse(readFileSync(file, "utf8"));
    } catch (error) {
        return { failed: error.message };
    }
}

function main(files) {
    if (files.length !== 2)
        return "usage: compare OLD.json NEW.json (of attn bench --json --rounds 12)";
    const documents = files.map(read);
    for (const [i, document] of documents.entries()) {
        if (document?.failed) return `${files[i]}: ${document.failed}`;
        const refusal = refusalOf(basename(files[i]), document);
        if (refusal) return refusal;
    }
    const [old, now] = documents;
    if (old.host !== now.host) return `measured on two machines: ${old.host}, and ${now.host}`;
    console.log(textOf(compare(old, now)));
    return "";
}

if (process.argv[1] === import.meta.filename) {
    const refusal = main(process.argv.slice(2));
    if (refusal) {
        console.error(`compare: ${refusal}`);
        process.exit(2);
    }
}
