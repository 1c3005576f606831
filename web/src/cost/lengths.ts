/** What backends cost by the number of tokens: measured, counted by their plans, and extrapolated by both. */

import type { Attn, Plan, Tensor } from "libattn/worker";
import { posed } from "../rules/posed";
import type { Problem, Values } from "../state/types";

export const quantities = ["time", "flops", "memory"] as const;
export type Quantity = (typeof quantities)[number];

/** 64 to 1,048,576. */
export const lengths = Array.from({ length: 15 }, (_, i) => 64 << i);
export const longestMeasured = 4096;
const mostFlops = 2 ** 34; // of a run that is measured
const rounds = 3; // of which the middle one counts

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

/** A plan's own count; a length that a backend refuses has none. */
export async function countLength(
    attn: Attn,
    { backend, params }: Candidate,
    { dim, problem }: Setting,
    length: number,
): Promise<LengthPoint> {
    const point = { backend, params, length, time: null, isMeasured: false };
    try {
        const plan = await attn.plan(optionsOf(backend, params, dim, problem, length));
        const { cost, workspaceBytes } = plan;
        plan.dispose();
        const flops = cost && Number.isFinite(cost.flops) ? cost.flops : null;
        return { ...point, flops, memory: workspaceBytes + 4 * 4 * length * dim };
    } catch {
        return { ...point, flops: null, memory: null };
    }
}

/** Milliseconds of a run, warm; null: it would take too long, or is refused. */
export async function measureLength(
    attn: Attn,
    { backend, params, length, flops }: LengthPoint,
    { dim, problem }: Setting,
): Promise<number | null> {
    if (length > longestMeasured || flops === null || flops > mostFlops) return null;
    const x = numbers(length * dim);
    const plan = await attn.plan(optionsOf(backend, params, dim, problem, length));
    const held: (Plan | Tensor)[] = [plan];
    try {
        const tensor = await attn.tensor(x);
        held.push(tensor);
        const out = await attn.tensor(x.length);
        held.push(out);
        const { arrays: rules } = posed(problem, sizesOf(length));
        const arrays = { ...rules, query: tensor, key: tensor, value: tensor, out };
        const { milliseconds: cold } = await plan.run(arrays);
        const repeats = Math.max(1, Math.ceil(1 / Math.max(cold, 1e-3)));
        const times = [];
        for (let round = 0; round < rounds; round++)
            times.push((await plan.run({ ...arrays, repeats })).milliseconds);
        return times.sort((one, other) => one - other)[rounds >> 1] ?? null;
    } finally {
        for (const each of held) each.dispose();
    }
}

/** Some numbers, over and over: a cosine for each of a million is a task of 50 ms. */
function numbers(count: number): Float32Array<ArrayBuffer> {
    const x = new Float32Array(count);
    const own = Math.min(count, 2 ** 14);
    for (let i = 0; i < own; i++) x[i] = Math.cos(i * i);
    for (let done = own; done < count; done *= 2)
        x.copyWithin(done, 0, Math.min(done, count - done));
    return x;
}

function optionsOf(backend: string, params: Values, dim: number, problem: Problem, length: number) {
    const sizes = sizesOf(length);
    return { backend, params, dim, ...sizes, ...posed(problem, sizes).options };
}

function sizesOf(length: number) {
    return { batch: 1, heads: 1, queries: length, keys: length };
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
