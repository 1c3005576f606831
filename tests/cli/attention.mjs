// Random arrays for the command line, and what exact attention makes of them.

import { exactAttention } from "../exact/exact.mjs";
import { npy } from "./npy.mjs";

/** Deterministic numbers in [-1, 1): a linear congruential generator (Knuth's MMIX constants). */
export function random(count, seed) {
    let state = BigInt(seed);
    return Array.from({ length: count }, () => {
        state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
        return Math.fround(Number(state >> 40n) / 2 ** 23 - 1);
    });
}

/** What tests/exact/exact.mjs says of a problem in the letters of the command line, with its rules. */
export function attention(problem, query, key, value) {
    const {
        B: batch = 1,
        H: heads = 1,
        Hkv: kvHeads = heads,
        n: queries,
        m: keys = queries,
    } = problem;
    const { d: dim, dv: valueDim = dim, lengths: kvLengths, ...rules } = problem;
    const sizes = { batch, heads, kvHeads, queries, keys, dim, valueDim };
    return exactAttention(sizes, { query, key, value }, { ...rules, kvLengths });
}

/** Q, K, V for the sizes, as numbers in C order. */
export function arrays({ B = 1, H = 1, Hkv = H, n, m = n, d, dv = d }) {
    return [random(B * H * n * d, 1), random(B * Hkv * m * d, 2), random(B * Hkv * m * dv, 3)];
}

/** Of sizes from batch on, those that a file of this rank has. */
export const leading = (rank, ...sizes) => sizes.slice(4 - rank);

/** The files q.npy, k.npy and v.npy of arrays(). */
export function inputFiles(sizes, rank, options = {}) {
    const { B = 1, H = 1, Hkv = H, n, m = n, d, dv = d } = sizes;
    const [q, k, v] = arrays(sizes);
    return {
        "q.npy": npy(leading(rank, B, H, n, d), q, options),
        "k.npy": npy(leading(rank, B, Hkv, m, d), k, options),
        "v.npy": npy(leading(rank, B, Hkv, m, dv), v, options),
    };
}
