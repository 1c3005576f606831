// The tables of linear attention.

import { table } from "../peers/results/readme.mjs";
import { digits } from "../peers/results/table.mjs";
import { beginningOf, failuresOf, fastestOf, nameOf, rowsOf, sectionsOf, times } from "./lines.mjs";

/** By row, or by row and contender: percent of the peak; with two threads times one thread's speed. */
const aims = {
    "linear-causal-4096": { peak: 45 },
    "linear-causal-4096 libattn, AVX2": {},
    "linear-causal-65536": { peak: 45 },
    "linear-full-4096": { peak: 68 },
    "linear-full-65536": { peak: 68 },
    "linear-gated-4096": { peak: 38 },
    "linear-delta-4096": { peak: 18 },
    "linear-decode-elu1": { peak: 80 },
    "linear-decode-plain": { peak: 80 },
    "linear-decode-gated": { peak: 80 },
    "linear-threads-8": { threads: 1.9 },
    "linear-threads-1": { threads: 1.6 },
    "linear-wasm-causal libattn, SIMD128": { peak: 32 },
    "linear-wasm-causal libattn, relaxed SIMD": { peak: 40 },
};
const TIMES_PEER = 4;
const LOOPS = "plain loops in C";

const aimOf = ({ row, contender }) => aims[`${row} ${contender}`] ?? aims[row] ?? {};

/** Peers by the beginning of their names, a column each. */
const columns = {
    [LOOPS]: (name) => name === LOOPS,
    "the same, -ffast-math": (name) => name === `${LOOPS}, -ffast-math`,
    onnxruntime: (name) => name.startsWith("onnxruntime"),
    ggml: (name) => name.startsWith("ggml"),
    "PyTorch, chunks": (name) => name.startsWith("PyTorch"),
};

/** Which of the loops, or which version of a library. */
const peerOf = (best) => (best.contender.startsWith(LOOPS) ? best.contender : nameOf(best));

function line(one, { own, peers }) {
    const aim = aimOf(one);
    const single = own.find(({ contender }) => contender === "libattn, 1 thread");
    const best = fastestOf(peers);
    const others = Object.values(columns).map((is) => peers.find(({ contender }) => is(contender)));
    return [
        ...beginningOf(one, aim),
        single ? times(single.ms / one.ms, aim.threads) : "",
        ...others.map((peer) => (peer ? digits(peer.ms) : "")),
        best ? `${peerOf(best)}: ${times(best.ms / one.ms, TIMES_PEER)}` : "",
    ];
}

const linesOf = (row) =>
    row.own
        .filter(({ contender }) => contender !== "libattn, 1 thread")
        .map((one) => line(one, row));

/** How many times as long 16 times the tokens take. */
function growth(rows) {
    const plain = rows.flatMap(({ own }) => own.filter(({ contender }) => contender === "libattn"));
    const found = plain
        .filter(({ row }) => row.endsWith("-65536"))
        .map((long) => {
            const short = plain.find(({ row }) => row === long.row.replace("-65536", "-4096"));
            return short && [long.work.replace(/, n = \d+/, ""), long.ms / short.ms];
        })
        .filter(Boolean);
    if (found.length === 0) return "";
    return table(
        ["time of n = 65536 / of n = 4096", "times", "16, within 10%"],
        found.map(([work, ratio]) => [
            work,
            digits(ratio),
            Math.abs(ratio - 16) <= 1.6 ? "yes" : "missed",
        ]),
    );
}

const titles = ["work", "ms", "of the peak", "aim", "times one thread (aim)"];

/** Results of these families as Markdown. */
export function linearTable(results, families) {
    const rows = rowsOf(results, families);
    const versions = [...new Set(rows.flatMap(({ peers }) => peers.map(nameOf)))].join(", ");
    return [
        `Peers: ${versions}. An empty cell: the peer does not compute the row, was not asked for, or failed.`,
        table(
            [...titles, ...Object.keys(columns), `best peer: its time / libattn's (aim)`],
            sectionsOf(rows, linesOf),
        ),
        growth(rows),
        failuresOf(results.filter(({ family }) => families.includes(family))),
    ]
        .filter(Boolean)
        .join("\n\n");
}
