// The table of exact attention: each of the library's lines beside its aim and the best peer.

import { table } from "../peers/results/readme.mjs";
import { digits } from "../peers/results/table.mjs";
import { beginningOf, failuresOf, fastestOf, nameOf, rowsOf, sectionsOf, times } from "./lines.mjs";

/**
 * By row, by row and contender, or by family: percent of the peak, or milliseconds; times as fast as the best peer;
 * times as fast as the contender of this library that it is held against.
 */
const aims = {
    "full-1024-64": { peak: 85, peer: 1.2 },
    "full-4096-64": { peak: 88, peer: 1.2 },
    "full-4096-64 libattn, AVX2": {},
    "full-4096-128": { peak: 91, peer: 1.2 },
    "causal-4096-64": { peak: 84, peer: 1.2 },
    "causal-4096-128": { peak: 88, peer: 1.2 },
    "small-128-64": { peak: 75, peer: 1.15 },
    decode: { peak: 95, peer: 1 },
    grouped: { peak: 95, peer: 1 },
    shared: { peer: 1 },
    latent: { peer: 1 },
    threads: { peer: 1.2, own: 1.9 },
    "threads-decode": { peak: 95, peer: 1 },
    "precision-4096-128 libattn, int16": { own: 1.35 },
    "precision-4096-128 libattn, int8": { own: 2 },
    "wasm-full-1024 libattn, SIMD128": { peak: 60 },
    "wasm-full-1024 libattn, relaxed SIMD": { peak: 80, own: 1 },
    "wasm-full-4096 libattn, SIMD128": { peak: 60 },
    "wasm-full-4096 libattn, relaxed SIMD": { peak: 80, own: 1 },
    "wasm-first": { ms: 10 },
    "wasm-threads libattn, SIMD128 and threads": { own: 1.8 },
    "chromium-full-1024 libattn, SIMD128, Chromium": { peak: 60 },
    "chromium-full-1024 libattn, relaxed SIMD, Chromium": { peak: 80, own: 1 },
    "chromium-full-4096 libattn, SIMD128, Chromium": { peak: 60 },
    "chromium-full-4096 libattn, relaxed SIMD, Chromium": { peak: 80, own: 1 },
};
const aimOf = ({ row, family, contender }) =>
    aims[`${row} ${contender}`] ??
    aims[`${family} ${contender}`] ??
    aims[row] ??
    aims[family] ??
    {};

/** Contenders that others are held against, in this order, and that have no line of their own. */
const references = {
    "libattn, 1 thread": "1 thread",
    "libattn, 1 query head": "1 query head",
    "libattn, SIMD128, 1 thread": "SIMD128, 1 thread",
};
const isReference = ({ contender }) => contender in references;

/** What a line's time is a multiple of: a reference where it is the row's first, and that for all others. */
function besideOf(one, { own: ours }) {
    const [first, ...rest] = ours;
    if (one.contender.endsWith("AVX2")) return [];
    if (one !== first) return [first, nameIn(first)];
    const reference = rest.find(isReference);
    return reference ? [reference, references[reference.contender]] : [];
}

const nameIn = ({ contender }) => contender.replace(/^libattn, /, "").replace("libattn", "f32");

/** Peers with keys and values of the line's type, which are exact where the line need not be. */
const fastestBeside = (one, { peers }) => fastestOf(peers.filter(({ kv }) => kv === one.kv));

const error = (result) => (Number.isFinite(result?.error) ? result.error.toExponential(1) : "");
const errorOf = (one, peer) =>
    error(one) + (peer && !one.precision && one.error > peer.error ? ", more" : "");

function line(one, row) {
    const aim = aimOf(one);
    const peer = fastestBeside(one, row);
    const [beside, name] = besideOf(one, row);
    return [
        ...beginningOf(one, aim),
        beside ? `${name}: ${times(beside.ms / one.ms, aim.own)}` : "",
        peer ? nameOf(peer) : "",
        peer ? digits(peer.ms) : "",
        peer ? times(peer.ms / one.ms, aim.peer) : "",
        errorOf(one, peer),
        error(peer),
    ];
}

const linesOf = (row) => row.own.filter((one) => !isReference(one)).map((one) => line(one, row));

const titles = [
    ...["work", "ms", "of the peak", "aim", "beside libattn's own (aim)"],
    ...["best peer", "its ms", "its time / libattn's (aim)", "error", "its error"],
];

/** Results of these families as Markdown. */
export function exactTable(results, families) {
    const lines = sectionsOf(rowsOf(results, families), linesOf);
    const failures = failuresOf(results.filter(({ family }) => families.includes(family)));
    return [lines.length ? table(titles, lines) : "", failures].filter(Boolean).join("\n\n");
}
