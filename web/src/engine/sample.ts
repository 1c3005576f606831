/** Rows drawn by a seed: one of each stretch of as many rows, so that all places have their share. */

export const seed = 1;
const mostRows = 1024; // that are looked at all
const fewRows = 64; // of more than that

/** All rows, or a few, in ascending order. */
export function sampleRows(total: number): number[] {
    if (total <= mostRows) return Array.from({ length: total }, (_, i) => i);
    const random = generator(seed);
    const stretch = total / fewRows;
    return Array.from({ length: fewRows }, (_, i) => Math.floor((i + random()) * stretch));
}

/** Numbers in [0, 1): T. Ettinger's mulberry32. */
export function generator(seed: number): () => number {
    let state = seed;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let bits = Math.imul(state ^ (state >>> 15), state | 1);
        bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
        return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
    };
}
