/**
 * What a backend does for one query, by what it declares: its weights; where it has an lse their logits; where
 * its normaliser can be switched off its weights before that; and arrays of its own that it writes, its state.
 */

import type { ArrayInfo, Backend } from "libattn";
import type { Attn, Plan } from "libattn/worker";
import type { Held } from "../held";
import type { Values } from "../types";
import { headArrays, type HeadArrays, type Place } from "./place";

export interface Probe {
    /** Of all keys: out = weights * V. */
    weights: Float32Array;
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
    const { backend, causal, place } = subject;
    const { query, key, value } = await held.on(attn);
    const { batch, head, query: first } = place;
    const one = { query, key, batch, head, first, count: 1 };
    const weights = await plan.weights(one);
    const hasLse = backend.features.includes("lse") && (plan.cost?.flops ?? 0) <= mostFlops;
    const lse = hasLse ? (await plan.run({ query, key, value, lse: true })).lse : null;
    const { heads, queries } = held.input.shape;
    const arrays = headArrays(held.input, { causal, scale }, place);
    return {
        weights,
        lse: lse?.[(batch * heads + head) * queries + first] ?? null,
        products: await products(attn, held, scale, subject, one),
        states: await states(attn, arrays, subject),
    };
}

async function products(
    attn: Attn,
    held: Held,
    scale: number | null,
    { backend, params, causal }: Subject,
    one: Parameters<Plan["weights"]>[0],
): Promise<Float32Array | null> {
    const normaliser = backend.params.find(({ name }) => name === "normaliser");
    if (!normaliser?.choices?.includes("off")) return null;
    const plan = await attn.plan({
        ...{ backend: backend.id, ...held.input.shape, causal: causal && "top-left" },
        params: { ...params, normaliser: "off" },
        ...(scale !== null && { scale }),
    });
    try {
        return await plan.weights(one);
    } finally {
        plan.dispose();
    }
}

/** Outputs of its own, of a run on the keys that the query sees. */
async function states(attn: Attn, arrays: HeadArrays, subject: Subject): Promise<State[]> {
    const { backend, params } = subject;
    const own = backend.arrays.filter(
        ({ own, role, presence }) => own && role === "output" && presence === "optional",
    );
    if (own.length === 0) return [];
    const { query, key, value, seen, dim, valueDim, scale } = arrays;
    const plan = await attn.plan({
        ...{ backend: backend.id, params, queries: 1, keys: seen, dim, valueDim },
        ...(scale !== null && { scale }),
    });
    try {
        const asked = Object.fromEntries(own.map(({ name }) => [name, true]));
        const result = await plan.run({
            query,
            key: key.subarray(0, seen * dim),
            value: value.subarray(0, seen * valueDim),
            ...asked,
        });
        const written = result as unknown as Record<string, Float32Array | null>;
        return own.flatMap((info) => stateOf(info, written[info.name], valueDim));
    } finally {
        plan.dispose();
    }
}

function stateOf(info: ArrayInfo, values: Float32Array | null | undefined, valueDim: number) {
    if (!values) return [];
    const columns = info.axes.at(-1) === "valueDim" ? valueDim : 1;
    return [{ name: info.name, help: info.help, rows: values.length / columns, columns, values }];
}
