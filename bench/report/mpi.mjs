// What attn_mpi_measure prints (bench/mpi/measure.c), as tables of a run; and a model of more ranks than there are.
//
// A hop is what a rank does with one block of keys and values. It computes with `rate` flop/s while the next block comes
// with `latency` and `bandwidth`; the longer of both counts, but for the first block, which is there.

import { digits } from "../peers/results/table.mjs";

/** Heads, and bytes of a number in keys and values. */
const MODEL = { heads: 32, kvHeads: 8, dim: 128, bytes: 2 };
const RANKS = [4, 16, 64, 256, 1024];
const TOKENS = [1e6, 1e7, 1e8];
/** What else to look at beside what was measured: these numbers are a data sheet's. */
const NETWORKS = [
    { name: "10 Gbit/s, 30 us (not measured)", latency: 30e-6, bandwidth: 1.25e9 },
    { name: "100 Gbit/s, 3 us (not measured)", latency: 3e-6, bandwidth: 12.5e9 },
];

/**
 * {computes, sends, seconds, efficiency}: seconds of a hop's two halves, of all hops, and the share of the time in which ranks
 * compute. `share` of the pairs of a block is visible: 1, or 1/2 where causal work is balanced by zigzag.
 */
export function predict({ ranks, tokens, share, heads, kvHeads, dim, bytes }, machine) {
    const rows = tokens / ranks;
    const computes = (share * 2 * heads * 2 * dim * rows * rows) / machine.rate;
    const sends = machine.latency + (rows * kvHeads * 2 * dim * bytes) / machine.bandwidth;
    const seconds = computes + (ranks - 1) * Math.max(computes, sends);
    return { computes, sends, seconds, efficiency: (ranks * computes) / seconds };
}

/** From how many tokens a rank on a hop is hidden, but for the latency: n / p >= bytes Hkv F / (2 share H B). */
export const hiddenFrom = ({ share, heads, kvHeads, bytes }, { rate, bandwidth }) =>
    (bytes * kvHeads * rate) / (2 * share * heads * bandwidth);

const clip = (x) => Math.max(0, Math.min(1, x));
const workOf = ({ causal }) => (causal ? "causal" : "full");

const oneRank = (rings, ring) =>
    rings.find(({ ranks, causal }) => ranks === 1 && causal === ring.causal);

function measuredTable(rings) {
    return {
        topic: "mpi",
        title: `Ranks of one machine: n = m = ${rings[0].length}, heads 8/2, d = 64, one thread each`,
        columns: ["work", "ranks", "rows", "ms", "processor, ms", "efficiency, %"].concat([
            "waiting, ms",
            "sending alone, ms",
            "of it hidden, %",
        ]),
        rows: rings.map((ring) => {
            const ideal = oneRank(rings, ring).working / ring.ranks;
            const sent = ring.ranks > 1 ? [1e3 * ring.waiting, 1e3 * ring.alone] : [null, null];
            return [
                ...[workOf(ring), `${ring.ranks}`, ring.ranks > 1 ? ring.layout : ""],
                ...[1e3 * ring.seconds, 1e3 * ring.working, 100 * clip(ideal / ring.working)],
                ...sent,
                ring.alone > 0 ? 100 * clip(1 - ring.waiting / ring.alone) : null,
            ];
        }),
        note: `All of the longest rank. "ms" is the fastest run, and depends on who else has the cores. "processor" is the time
that the rank computes, wherever it is put; the efficiency, one rank's over as many times this, is that of ranks with cores
of their own. Waiting is for blocks: where ranks have different work or share a core, also for other ranks. "Sending alone"
is the same ring with nothing to compute.`,
    };
}

/** {rate, latency, bandwidth} of a rank here. */
function machineOf(rings, networks) {
    const { flops, working } = oneRank(rings, { causal: 0 });
    const { latency, bandwidth } = networks.find(({ ranks }) => ranks === 2);
    return { rate: flops / working, latency, bandwidth };
}

function parametersTable(machine) {
    const named = [{ name: "this machine, measured", ...machine }].concat(
        NETWORKS.map((network) => ({ rate: machine.rate, ...network })),
    );
    const from = (share, one) => hiddenFrom({ share, ...MODEL }, one);
    return {
        topic: "mpi",
        title: "From which tokens a rank on a hop is hidden: heads 32/8, bf16 keys and values",
        columns: ["network", "latency, us", "GB/s", "GFLOP/s a rank", "full", "causal, zigzag"],
        rows: named.map((one) => [
            ...[one.name, 1e6 * one.latency, 1e-9 * one.bandwidth, 1e-9 * one.rate],
            ...[from(1, one), from(0.5, one)],
        ]),
        note: "n / p >= bytes Hkv F / (2 share H B), for F flop/s a rank and B bytes/s; causal halves a block's work. d does not matter.",
    };
}

/** The model beside what was measured. */
function checkTable(rings, machine) {
    const rows = rings
        .filter(({ ranks, causal, layout }) => ranks > 1 && (!causal || layout === "zigzag"))
        .map((ring) => {
            const shape = {
                ...{ ranks: ring.ranks, tokens: ring.length, share: ring.causal ? 0.5 : 1 },
                ...{ heads: ring.heads, kvHeads: ring.kv_heads, dim: ring.dim, bytes: 4 },
            };
            const { seconds } = predict(shape, machine);
            const measured = ring.working + ring.waiting;
            return [workOf(ring), `${ring.ranks}`, 1e3 * seconds, 1e3 * measured];
        });
    return {
        topic: "mpi",
        title: "The model beside these runs",
        columns: ["work", "ranks", "predicted, ms", "computing and waiting, ms"],
        rows,
        note: "Its rate is that of one rank and all keys: causal blocks on the diagonal are slower. Ranks that share a core wait for it.",
    };
}

function predictedTable(machine) {
    const network = { ...machine, ...NETWORKS[0] };
    return {
        topic: "mpi",
        title: "Predicted: causal, zigzag, heads 32/8, d = 128, bf16, one of these cores a rank, 10 Gbit/s",
        columns: ["tokens", "ranks", "tokens a rank", "a hop computes, s", "sends, s"].concat([
            "hidden",
            "hours",
            "computing, %",
        ]),
        rows: TOKENS.flatMap((tokens) =>
            RANKS.map((ranks) => {
                const { computes, sends, seconds, efficiency } = predict(
                    { ranks, tokens, share: 0.5, ...MODEL },
                    network,
                );
                return [
                    ...[tokens.toExponential(0).replace("+", ""), `${ranks}`],
                    ...[digits(tokens / ranks), computes, sends],
                    ...[computes >= sends ? "yes" : "no", seconds / 3600, 100 * efficiency],
                ];
            }),
        ),
        note: `Of a rank with k cores, divide computing and hours by k, and look again whether a hop is hidden. Published for
orientation: zigzag rings on 8 GPUs reach 85% of the ideal forward.`,
    };
}

function memoryTable(lines) {
    return {
        topic: "mpi",
        title: `Memory of a rank: n = m = ${lines[0].length}, heads 8/2, d = 64, f32, a ring`,
        columns: ["ranks", "Q, K, V, result, MB", "two blocks, MB", "results so far, MB"].concat([
            "together, MB",
            "measured, MB",
        ]),
        rows: lines.map(({ ranks, arrays, blocks, sums, peak }) => [
            ...[`${ranks}`, arrays, blocks, sums],
            ...[arrays + blocks + sums, peak],
        ]),
        note: `Measured: the most that the system says, less what MPI had before. The rest is the workspace of a block: one head of
K and V in f32, and its partial result. One rank sends nothing and has no blocks.`,
    };
}

/** {tables} of lines of JSON. */
export function mpiTables(output) {
    const lines = output
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line));
    const rings = lines.filter(({ what }) => what === "ring");
    const networks = lines.filter(({ what }) => what === "network");
    const memory = lines.filter(({ what }) => what === "memory");
    const machine = machineOf(rings, networks);
    return {
        tables: [
            measuredTable(rings),
            ...(memory.length ? [memoryTable(memory)] : []),
            parametersTable(machine),
            checkTable(rings, machine),
            predictedTable(machine),
        ],
    };
}
