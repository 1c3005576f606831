/** What a backend costs at a number of tokens: counted by its plan, and measured. */

import type { Attn, Plan, Tensor } from "libattn/worker";
import { argumentsOf } from "../rules/arguments";
import type { Problem, Values } from "../state/types";
import { longestMeasured, type Candidate, type LengthPoint, type Setting } from "./lengths";

const mostFlops = 2 ** 34; // of a run that is measured
const rounds = 3; // of which the middle one counts

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
        const { arrays: rules } = argumentsOf(problem, sizesOf(length));
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
    return { backend, params, dim, ...sizes, ...argumentsOf(problem, sizes).options };
}

function sizesOf(length: number) {
    return { batch: 1, heads: 1, queries: length, keys: length };
}
