// Random arrays for the command line, and what exact attention makes of them.

import { exactAttention } from "../exact/exact.mjs";

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
