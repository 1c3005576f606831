/** What backends cost by the number of tokens, and what follows from that for other numbers. */

import type { Problem, Values } from "../state/types";

export const quantities = ["time", "flops", "memory"] as const;
export type Quantity = (typeof quantities)[number];

/** 64 to 1,048,576. */
export const lengths = Array.from({ length: 15 }, (_, i) => 64 << i);
export const longestMeasured = 4096;

/** A backend as its panel has it. */
export interface Candidate {
    backend: string;
    params: Values;
}

export interface Setting {
    dim: number;
    problem: Problem;
}

/** At one length. */
export interface LengthPoint extends Candidate {
    length: number;
    /** null, as the others: not known. */
    flops: number | null;
    /** Bytes of Q, K, V, the output and the workspace. */
    memory: number | null;
    /** Milliseconds. */
    time: number | null;
    isMeasured: boolean;
}

/** A backend's points by length, with times beyond what was measured at the last one's speed. */
export function extrapolate(points: readonly LengthPoint[]): LengthPoint[] {
    const last = points.findLast(({ isMeasured }) => isMeasured);
    return points.map((point) => {
        const { time, flops } = point;
        if (time !== null || !last?.time || !last.flops || flops === null) return point;
        return { ...point, time: (last.time * flops) / last.flops };
    });
}

/** Where a line comes below another for good: at a length between two, at all of them, or at none. */
export type Below = number | "always" | "never";

/** Of the line of `points` and that of `reference`; null: not known. */
export function below(
    points: readonly LengthPoint[],
    reference: readonly LengthPoint[],
    quantity: Quantity,
): Below | null {
    const ratios = points.flatMap((point, i) => {
        const [value, base] = [point[quantity], reference[i]?.[quantity] ?? null];
        if (value === null || base === null) return [];
        return [{ length: point.length, ratio: Math.log(value / base) }];
    });
    if (ratios.length === 0) return null;
    const above = ratios.findLastIndex(({ ratio }) => ratio >= 0);
    const [from, to] = [ratios[above], ratios[above + 1]];
    if (!from) return "always";
    if (!to) return "never";
    const part = from.ratio / (from.ratio - to.ratio);
    return from.length * (to.length / from.length) ** part;
}

/** A value between the lengths that are known, along a line of powers. */
export function valueAtLength(
    points: readonly LengthPoint[],
    quantity: Quantity,
    length: number,
): number | null {
    const after = points.findIndex((point) => point.length >= length);
    const [from, to] = [points[Math.max(0, after - 1)], points[after]];
    const [low, high] = [from?.[quantity] ?? null, to?.[quantity] ?? null];
    if (!from || !to || low === null || high === null) return null;
    if (from.length === to.length) return high;
    const part = Math.log(length / from.length) / Math.log(to.length / from.length);
    return low * (high / low) ** part;
}
