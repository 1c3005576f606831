/** How far an output is from exact attention: the relative error in the Frobenius norm. */

import type { Accuracy } from "../state/types";

/** `out` and `exact` are the same rows of `width` numbers each, drawn from `total`. */
export function accuracyOf(
    out: Float32Array,
    exact: Float64Array,
    width: number,
    total: number,
): Accuracy {
    const rows: Row[] = [];
    for (let at = 0; at < exact.length; at += width) {
        const row = compare(out.subarray(at, at + width), exact.subarray(at, at + width));
        if (Number.isFinite(row.norm)) rows.push(row); // else the exact row is not finite
    }
    const sampled = exact.length / width;
    if (rows.length === 0) return { error: NaN, rows: sampled, total, low: NaN, high: NaN };
    const difference = sum(rows, (row) => row.difference);
    if (difference === 0) return { error: 0, rows: sampled, total, low: 0, high: 0 };
    const ratio = difference / sum(rows, (row) => row.norm);
    const error = Math.sqrt(ratio);
    const spread = Math.exp((margin / 2) * standardError(rows, ratio, 1 - sampled / total));
    return { error, rows: sampled, total, low: error / spread, high: error * spread };
}

/** Which of these rows is farthest off, by its own size, NaN farther than all; null: none has a size. */
export function worstOf(
    out: Float32Array,
    exact: Float64Array,
    width: number,
): { place: number; error: number } | null {
    let worst: { place: number; error: number } | null = null;
    for (const [place, error] of rowErrors(out, exact, width).entries()) {
        if (error === null) continue;
        if (Number.isNaN(error)) return { place, error };
        if (error > (worst?.error ?? -1)) worst = { place, error };
    }
    return worst;
}

/** Of each row, by its own size; null where it has none. */
export function rowErrors(
    out: Float32Array,
    exact: Float64Array,
    width: number,
): (number | null)[] {
    return Array.from({ length: exact.length / width }, (_, place) => {
        const [from, to] = [place * width, (place + 1) * width];
        const { difference, norm } = compare(out.subarray(from, to), exact.subarray(from, to));
        return norm > 0 && Number.isFinite(norm) ? Math.sqrt(difference / norm) : null;
    });
}

/**
 * Standard errors of the ratio's logarithm, on which an interval is: two would be 95 of 100 for a normal
 * distribution, and were 85 where single rows are ten and twenty times as far off as the mean; three were 95.
 */
const margin = 3;

interface Row {
    difference: number;
    norm: number;
}

function compare(out: Float32Array, exact: Float64Array): Row {
    const row = { difference: 0, norm: 0 };
    exact.forEach((truth, c) => {
        row.difference += ((out[c] ?? NaN) - truth) ** 2;
        row.norm += truth ** 2;
    });
    return row;
}

/** Of a ratio of sums over a random sample, by that ratio: Cochran, Sampling Techniques, 1977, section 6.4. */
function standardError(rows: readonly Row[], ratio: number, unseen: number): number {
    const count = rows.length;
    const residual = sum(rows, ({ difference, norm }) => (difference - ratio * norm) ** 2);
    const mean = sum(rows, (row) => row.norm) / count;
    return Math.sqrt((unseen * residual) / ((count - 1) * count)) / (mean * ratio);
}

function sum(rows: readonly Row[], of: (row: Row) => number): number {
    return rows.reduce((total, row) => total + of(row), 0);
}
