// Lines of tables: what is said of a result beside its aim, its peak and its peers.

import { families } from "../peers/rows/rows.mjs";
import { digits, percent } from "../peers/results/table.mjs";

const isOwn = ({ contender }) => contender.startsWith("libattn");

/**
 * Rows of these families in the order of the results: {id, family, own, peers}, without what has no speed: it failed,
 * or is an empty call, which no time is to be held against.
 */
export function rowsOf(results, families) {
    const chosen = results.filter(
        ({ family, gflops }) => families.includes(family) && Number.isFinite(gflops),
    );
    return [...new Set(chosen.map(({ row }) => row))].map((id) => {
        const all = chosen.filter(({ row }) => row === id);
        return {
            id,
            family: all[0].family,
            own: all.filter(isOwn),
            peers: all.filter((one) => !isOwn(one)),
        };
    });
}

/** The least time among them; undefined where there is none. */
export const fastestOf = (results) =>
    results.filter(({ ms }) => ms > 0).reduce((a, b) => (a && a.ms <= b.ms ? a : b), undefined);

/** "oneDNN 3.12.1": how a contender calls itself, with its version and without how it was built. */
export const nameOf = ({ about }) => about.split(/,| NO_/)[0];

/** What a line is called: the row's work, and what is special about this one of the library's contenders. */
export const labelOf = ({ work, contender }) =>
    [work, contender.replace(/^libattn(, |$)/, "")].filter(Boolean).join("; ");

/** A number beside what it should be at least: "88%", "85%: missed", "" where nothing is asked. */
export function heldAgainst(value, aim, tell) {
    if (aim === undefined || !Number.isFinite(value)) return "";
    return value < aim ? `${tell(aim)}: missed` : tell(aim);
}

/** "1.27", or with an aim "1.27 (1.2)", "1.06 (1.15: missed)". */
export function times(value, aim) {
    if (!Number.isFinite(value)) return "";
    const tell = (number) => String(number);
    return digits(value) + (aim === undefined ? "" : ` (${heldAgainst(value, aim, tell)})`);
}

/** "61% of 200", "61%" where the peak itself is not known. */
const shareOf = ({ percent_of_peak: share, peak }) =>
    [percent(share), digits(peak)].filter(Boolean).join(" of ");

/** What a line of the library's begins with: its work, ms, percent of its peak by turns, and those, or the ms, asked for. */
export const beginningOf = (one, { peak, ms }) => [
    labelOf(one),
    digits(one.ms),
    ms ? "" : shareOf(one),
    ms
        ? heldAgainst(-one.ms, -ms, (most) => `${-most} ms`)
        : heldAgainst(one.percent_of_peak, peak, percent),
];

/** "Causal, 1 thread (`causal`); shares of float arithmetic, GFLOP/s". */
const titles = new Map(
    families.map(({ id, title, unit }) => [
        id,
        `${title} (\`${id}\`); shares of ${unit.peak}, ${unit.unit}`,
    ]),
);

/** The lines that `linesOf` makes of each row, below the names of their families. */
export function sectionsOf(rows, linesOf) {
    return [...new Set(rows.map(({ family }) => family))].flatMap((family) => {
        const lines = rows.filter((row) => row.family === family).flatMap(linesOf);
        return lines.length
            ? [[`**${titles.get(family)}**`, ...lines[0].slice(1).fill("")], ...lines]
            : [];
    });
}

/** The beginning of what a program has to say, which may be pages. */
const short = (text) => (text.length > 40 ? `${text.slice(0, 40).trimEnd()} ...` : text);

/** What has no time among these results, and why, as a sentence; "" where all have one. */
export function failuresOf(results) {
    const failed = results
        .filter(({ failure }) => failure)
        .map(
            ({ contender, work, family, failure }) =>
                `${contender}, ${work} in \`${family}\` (${short(failure)})`,
        );
    return failed.length > 0 ? `Not timed: ${failed.join("; ")}.` : "";
}

const peakNames = {
    flops: "GFLOP/s of one core",
    avx2: "with AVX2",
    flops2: "of two threads",
    read: "GB/s of reading the most bytes",
    read2: "by two threads",
    state: "GB/s of reading and writing the state",
    wasm: "GFLOP/s of SIMD128",
    wasm2: "by two threads",
    chromium: "in Chromium",
};

/** The most of each peak; shares are of the median in the row's own minutes. */
export function peaksOf(peaks = {}) {
    const told = Object.entries(peakNames)
        .filter(([name]) => Number.isFinite(peaks[name]))
        .map(([name, what]) => `${digits(peaks[name])} ${what}`);
    return told.length > 0 ? `Highest peaks of the run: ${told.join(", ")}.` : "";
}

/** Own lines that the fastest peer beats: {work, family, ms, peer, ratio}. */
export function losing(results) {
    const all = [...new Set(results.map(({ family }) => family))];
    return rowsOf(results, all).flatMap(({ family, own, peers }) =>
        own.flatMap((one) => {
            const peer = fastestOf(peers.filter(({ kv }) => kv === one.kv));
            const isOwnKind = !/1 thread$|1 query head$|dense|blocks$/.test(one.contender);
            return peer && isOwnKind && peer.ms < one.ms
                ? [
                      {
                          work: labelOf(one),
                          family,
                          ms: one.ms,
                          peer: nameOf(peer),
                          ratio: peer.ms / one.ms,
                      },
                  ]
                : [];
        }),
    );
}
