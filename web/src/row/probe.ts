/**
 * What a backend does for one query, by what it declares: its weights; where it has an lse their logits; where
 * its normaliser can be switched off its weights before that; and arrays of its own that it writes, its state.
 */

import type { ArrayInfo, Backend } from "libattn";
import { AttnError, type Attn, type Plan } from "libattn/worker";
import type { Held } from "../held";
import type { Input, Values } from "../types";
import { dotProducts, headArrays, seenArrays, seenPairs, type Place } from "./place";

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
}

/** What the backend keeps of the keys that the query sees. */
export interface State {
    name: string;
    help: string;
    rows: number;
    columns: number;
    values: Float32Array;
}

/** What is to be probed. */
export interface Subject {
    backend: Backend;
    params: Values;
    causal: boolean;
    place: Place;
}

const mostFlops = 2 ** 33; // of a run for its lse: some tenths of a second

export async function probe(
    attn: Attn,
    plan: Plan,
    held: Held,
    scale: number | null,
    subject: Subject,
): Promise<Probe> {
    const { backend, place } = subject;
    const { query, key, value } = await held.on(attn);
    const { batch, head, query: first } = place;
    const weights = await plan.weights({ query, key, batch, head, first, count: 1 });
    const hasLse = backend.features.includes("lse") && (plan.cost?.flops ?? 0) <= mostFlops;
    const lse = hasLse ? (await plan.run({ query, key, value, lse: true })).lse : null;
    const { heads, queries } = held.input.shape;
    return {
        weights,
        kept: await keptKeys(attn, plan, held, scale, subject, weights),
        lse: lse?.[(batch * heads + head) * queries + first] ?? null,
        products: await products(attn, held, scale, subject),
        states: await states(attn, held.input, scale, subject),
    };
}

async function products(
    attn: Attn,
    held: Held,
    scale: number | null,
    subject: Subject,
): Promise<Float32Array | null> {
    const { backend, params } = subject;
    const normaliser = backend.params.find(({ name }) => name === "normaliser");
    if (!normaliser?.choices?.includes("off")) return null;
    return otherWeights(attn, held, scale, {
        ...subject,
        params: { ...params, normaliser: "off" },
    });
}

/**
 * A weight of 0 may be one too small for a float. So what a pattern leaves out is what has none at a scale
 * by which no exponential underflows.
 */
async function keptKeys(
    attn: Attn,
    plan: Plan,
    held: Held,
    scale: number | null,
    subject: Subject,
    weights: Float32Array,
): Promise<boolean[] | null> {
    const { input } = held;
    const pairs = plan.cost?.pairs ?? NaN;
    if (Number.isNaN(pairs)) return null;
    if (pairs >= seenPairs(input, subject.causal)) return Array.from(weights, () => true);
    const dots = dotProducts(headArrays(input, { causal: subject.causal, scale }, subject.place));
    const finite = dots.filter(Number.isFinite);
    const largest = finite.reduce((most, dot) => Math.max(most, Math.abs(dot)), 1);
    const gentle = Math.sign(scale ?? 1) / largest;
    const shown = await otherWeights(attn, held, gentle, subject);
    return Array.from(shown, (weight) => weight !== 0);
}

/** The place's weights at another scale or with other parameters than the plan's. */
async function otherWeights(
    attn: Attn,
    held: Held,
    scale: number | null,
    { backend, params, causal, place }: Subject,
): Promise<Float32Array> {
    const { query, key } = await held.on(attn);
    const plan = await attn.plan({
        ...{ backend: backend.id, ...held.input.shape, causal: causal && "top-left", params },
        ...(scale !== null && { scale }),
    });
    try {
        const { batch, head, query: first } = place;
        return await plan.weights({ query, key, batch, head, first, count: 1 });
    } finally {
        plan.dispose();
    }
}

/** Outputs of its own, of a run of the place's query on the keys that it sees: as far as it has them. */
export async function states(
    attn: Attn,
    input: Input,
    scale: number | null,
    { backend, params, causal, place }: Subject,
): Promise<State[]> {
    const own = backend.arrays.filter(
        ({ own, role, presence }) => own && role === "output" && presence === "optional",
    );
    if (own.length === 0) return [];
    const { heads, kvHeads, dim, valueDim } = input.shape;
    const { query, key, value, seen } = seenArrays(input, causal, place);
    const plan = await attn.plan({
        ...{ backend: backend.id, params, heads, kvHeads, queries: 1, keys: seen, dim, valueDim },
        causal: causal && "bottom-right", // the one query is the last
        ...(scale !== null && { scale }),
    });
    try {
        const found: State[] = [];
        for (const info of own) {
            const run = plan.run({ query, key, value, [info.name]: true });
            const result = await run.catch(refused); // no plan tells which outputs it takes
            const written = result as unknown as Record<string, Float32Array | null> | null;
            const values = written?.[info.name];
            if (values) found.push(stateOf(info, ofHead(values, input, place), valueDim));
        }
        return found;
    } finally {
        plan.dispose();
    }
}

/** Of what the plan does not have: null. */
function refused(error: unknown): null {
    if (error instanceof AttnError && error.code === "ATTN_ERROR_ARGUMENT") return null;
    throw error;
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
