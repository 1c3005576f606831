/**
 * What a backend does for one query, by what it declares: its weights; where it has an lse their logits; where
 * its normaliser can be switched off its weights before that; and arrays of its own that it writes, its state.
 */

import type { ArrayInfo, AttnErrorCode, Backend } from "libattn";
import type { Attn, Plan } from "libattn/worker";
import type { Held as Whole } from "../engine/held";
import { argumentsOf } from "../rules/arguments";
import type { Input, Problem, Role, Values } from "../state/types";
import { isExact } from "./logits";
import { dotProducts, exactLogits, headArrays, seenArrays, seenPairs, type Place } from "./place";
import { planned, scaled } from "./plans";
import { logitShares } from "./shares";

export interface Probe {
    /** Of all keys: out = weights * V. */
    weights: Float32Array;
    /** Of all keys: does the backend's pattern keep them? null: it does not tell. */
    kept: boolean[] | null;
    /** log sum exp of the backend's own logits; null: it has none. */
    lse: number | null;
    /** Weights before they are divided by their sum; null: it does not tell. */
    products: Float32Array | null;
    states: State[];
    /** Of the place's key: what each column adds to its product, or to a logit of the backend's own; null: it is not told. */
    features: Float64Array | null;
}

/** What the backend keeps of the keys that the query sees. */
export interface State {
    name: string;
    help: string;
    rows: number;
    columns: number;
    values: Float32Array;
}

/** The input, and its arrays where the library takes them from. */
export type Held = Pick<Whole, "input" | "on">;

/** What is to be probed. */
export interface Subject {
    backend: Backend;
    params: Values;
    problem: Problem;
    place: Place;
}

const rounding = 1e-4; // of a sum of floats, by the sum of their sizes
const mostFlops = 2 ** 33; // of a run for its lse: some tenths of a second

export async function probe(attn: Attn, plan: Plan, held: Held, subject: Subject): Promise<Probe> {
    const { backend, problem, place } = subject;
    const { query, key, value } = await held.on(attn);
    const { arrays } = argumentsOf(problem, held.input.shape);
    const { batch, head, query: first } = place;
    const weights = await plan.weights({ ...arrays, query, key, batch, head, first, count: 1 });
    const hasLse = backend.features.includes("lse") && (plan.cost?.flops ?? 0) <= mostFlops;
    const lse = hasLse ? (await plan.run({ ...arrays, query, key, value, lse: true })).lse : null;
    const { heads, queries } = held.input.shape;
    const ofRow = lse?.[(batch * heads + head) * queries + first] ?? null;
    const made = await products(attn, held, subject);
    return {
        weights,
        kept: await keptKeys(attn, plan, held, subject, weights),
        lse: ofRow,
        products: made,
        states: await states(attn, held.input, subject),
        features: made
            ? await features(attn, held, subject, made)
            : await shares(
                  attn,
                  plan,
                  held,
                  subject,
                  Math.log(weights[place.key] ?? NaN) + (ofRow ?? NaN),
              ),
    };
}

/** null: the logit is the exact one, whose parts the arrays tell, or there is none. */
async function shares(
    attn: Attn,
    plan: Plan,
    held: Held,
    subject: Subject,
    logit: number,
): Promise<Float64Array | null> {
    const { problem, place } = subject;
    const arrays = headArrays(held.input, problem, place);
    const exact = exactLogits(dotProducts(arrays), arrays)[place.key] ?? NaN;
    const isLong = (plan.cost?.flops ?? 0) > mostFlops / 8; // which a gradient takes a multiple of
    if (isLong || !Number.isFinite(logit) || isExact(logit, exact)) return null;
    return logitShares(attn, held, subject, logit);
}

async function products(attn: Attn, held: Held, subject: Subject): Promise<Float32Array | null> {
    const { backend, params } = subject;
    const normaliser = backend.params.find(({ name }) => name === "normaliser");
    if (!normaliser?.choices?.includes("off")) return null;
    return otherWeights(attn, held, {
        ...subject,
        params: { ...params, normaliser: "off" },
    });
}

/**
 * A feature map that takes each column by itself has the same products of vectors of one column. Whether it does, their
 * sum says.
 */
async function features(
    attn: Attn,
    { input }: Held,
    { backend, params, problem, place }: Subject,
    products: Float32Array,
): Promise<Float64Array | null> {
    const { query, key, dim } = headArrays(input, problem, place);
    const [one, column] = [query.slice(), key.slice(place.key * dim, (place.key + 1) * dim)];
    const { scale } = problem;
    const asked = {
        ...{ backend: backend.id, params: { ...params, normaliser: "off" } },
        ...{ batch: dim, heads: 1, queries: 1, keys: 1, dim: 1, valueDim: 1 },
        ...(scale !== null && { scale }),
    };
    const plan = await planned(attn, asked);
    if (!plan) return null;
    try {
        const parts = new Float64Array(dim);
        for (let batch = 0; batch < dim; batch++) {
            const at = { batch, head: 0, first: 0, count: 1 };
            const [part = NaN] = await plan.weights({ query: one, key: column, ...at });
            parts[batch] = part;
        }
        const sums = parts.reduce((sum, part) => sum + part, 0);
        const size = parts.reduce((sum, part) => sum + Math.abs(part), 0);
        const product = products[place.key] ?? NaN;
        return Math.abs(sums - product) <= rounding * size ? parts : null;
    } finally {
        plan.dispose();
    }
}

/**
 * A weight of 0 may be one too small for a float. So what a pattern leaves out is what has none with logits and
 * sink so small, each by the same factor, that no exponential underflows.
 */
async function keptKeys(
    attn: Attn,
    plan: Plan,
    held: Held,
    subject: Subject,
    weights: Float32Array,
): Promise<boolean[] | null> {
    const { input } = held;
    const { problem, place } = subject;
    const pairs = plan.cost?.pairs ?? NaN;
    if (Number.isNaN(pairs)) return null;
    if (pairs >= seenPairs(input, problem)) return Array.from(weights, () => true);
    const arrays = headArrays(input, problem, place);
    const finite = exactLogits(dotProducts(arrays), arrays).filter(Number.isFinite);
    const least = Math.max(1, Math.abs(problem.sink ?? 0));
    const largest = finite.reduce((most, logit) => Math.max(most, Math.abs(logit)), least);
    const shown = await otherWeights(attn, held, subject, 1 / largest);
    return Array.from(shown, (weight) => weight !== 0);
}

/** The place's weights with other parameters than the plan's, or with all logits times a factor. */
async function otherWeights(
    attn: Attn,
    held: Held,
    { backend, params, problem, place }: Subject,
    factor = 1,
): Promise<Float32Array> {
    const { query, key } = await held.on(attn);
    const { shape } = held.input;
    const { options, arrays } = argumentsOf(scaled(problem, factor, shape.dim), shape);
    const slopes = arrays.slopes && { slopes: arrays.slopes.map((slope) => slope * factor) };
    const plan = await attn.plan({ backend: backend.id, ...shape, ...options, params });
    try {
        const { batch, head, query: first } = place;
        const part = { batch, head, first, count: 1 };
        return await plan.weights({ ...arrays, ...slopes, query, key, ...part });
    } finally {
        plan.dispose();
    }
}

/** Outputs of its own, of a run of the place's query on the keys that it sees: as far as it has them. */
export async function states(
    attn: Attn,
    input: Input,
    { backend, params, problem, place }: Subject,
): Promise<State[]> {
    const own = backend.arrays.filter(
        ({ own, role, presence }) => own && role === "output" && presence === "optional",
    );
    if (own.length === 0) return [];
    const { heads, kvHeads, dim, valueDim } = input.shape;
    const arrays = seenArrays(input, problem, place);
    if (!arrays) return [];
    const { query, key, value, seen } = arrays;
    const { causal, scale } = problem;
    const plan = await attn.plan({
        ...{ backend: backend.id, params, heads, kvHeads, queries: 1, keys: seen, dim, valueDim },
        causal: causal && "bottom-right", // the one query is the last
        ...(scale !== null && { scale }),
    });
    try {
        const found: State[] = [];
        for (const info of own) {
            const values = await written(plan, { query, key, value }, info.name);
            if (values) found.push(stateOf(info, ofHead(values, input, place), valueDim));
        }
        return found;
    } finally {
        plan.dispose();
    }
}

/** An output of the backend's own; null: the plan does not have it, which none tells before. */
async function written(
    plan: Plan,
    arrays: Record<Role, Float32Array>,
    name: string,
): Promise<Float32Array | null> {
    try {
        const result: unknown = await plan.run({ ...arrays, [name]: true });
        return (result as Record<string, Float32Array | null>)[name] ?? null;
    } catch (error) {
        const { code } = error as { code?: AttnErrorCode };
        if (code === "ATTN_ERROR_ARGUMENT") return null;
        throw error;
    }
}

/** The part of an array by batch 0 and heads of keys that is of the place's. */
function ofHead(values: Float32Array, { shape }: Input, { head }: Place): Float32Array {
    const size = values.length / shape.kvHeads;
    const kvHead = Math.floor(head / (shape.heads / shape.kvHeads));
    return values.subarray(kvHead * size, (kvHead + 1) * size);
}

function stateOf(info: ArrayInfo, values: Float32Array, valueDim: number): State {
    const columns = info.axes.at(-1) === "valueDim" ? valueDim : 1;
    return { name: info.name, help: info.help, rows: values.length / columns, columns, values };
}
