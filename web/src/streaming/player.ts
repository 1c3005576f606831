/** Tokens that come one by one, to a stream of each backend: what it keeps of them, and what it answers. */

import type { Attn, Stream } from "libattn/worker";
import { PerWorker, type Bench } from "../engine/bench";
import type { Candidate } from "../cost/lengths";
import { message } from "../dom/dom";
import { states } from "../row/probe";
import { distance, dotProducts, exactWeights, headArrays, mix } from "../row/place";
import type { HeadArrays, Place } from "../row/place";
import type { Input, Problem } from "../state/types";
import { countedParts, partsOf, sizesOf, type Sizes } from "./sizes";

/** What a backend has after so many tokens. */
export interface Kept {
    backend: string;
    /** Of its tokens, as it would save them; null: it has no streams. */
    bytes: number | null;
    /** The part of it whose size tokens do not change: what they come to. */
    state: number;
    /** Tokens that it has as they came: all, or those that are not in the state yet. */
    held: number;
    /** How far its answer to the last token is from exact attention; null: the same. */
    error: number | null;
    /** Why there is none. */
    reason: string | null;
    /** What all fewer tokens were kept by; null: that cannot be counted. */
    sizes: Sizes | null;
}

/** With an lse or without. */
type AnyStream = Stream<"f32", "f32", Float32Array<ArrayBuffer> | null>;

interface Fed {
    stream: AnyStream;
    /** Tokens that it has. */
    tokens: number;
    sizes: Sizes;
}

/** What whoever plays needs of a player. */
export type Playing = Pick<Player, "play" | "end">;

/** By backend; or why it cannot be had. */
type Streams = Map<string, Fed | string>;

/** Of one head of an input. */
export class Player {
    #bench: Bench;
    #input: Input;
    #problem: Problem;
    #place: Omit<Place, "query" | "key">;
    #candidates: readonly Candidate[];
    #streams = new PerWorker((attn) => this.#open(attn));
    #end = new AbortController();

    constructor(
        bench: Bench,
        input: Input,
        problem: Problem,
        place: Omit<Place, "query" | "key">,
        candidates: readonly Candidate[],
    ) {
        this.#bench = bench;
        this.#input = input;
        this.#problem = streamed(problem);
        this.#place = place;
        this.#candidates = candidates;
    }

    /** What there is once so many tokens have come; those that came already are not sent again. */
    async play(tokens: number): Promise<Kept[]> {
        const { signal } = this.#end;
        return this.#bench.piece(Number.MAX_SAFE_INTEGER, signal, async (attn) => {
            const streams = await this.#streams.on(attn);
            const place = { ...this.#place, query: tokens - 1, key: 0 };
            const arrays = headArrays(this.#input, this.#problem, place);
            const exact = mix(exactWeights(dotProducts(arrays), arrays), arrays);
            const kept = [];
            for (const [backend, fed] of streams)
                kept.push({ backend, ...(await answer(fed, tokens, arrays, exact)) });
            return kept;
        });
    }

    end(): void {
        this.#end.abort();
        this.#streams.discard((streams) => {
            for (const fed of streams.values()) if (typeof fed !== "string") fed.stream.dispose();
        });
    }

    async #open(attn: Attn): Promise<Streams> {
        const { dim, valueDim, keys } = this.#input.shape;
        const all: Streams = new Map();
        for (const { backend, params } of this.#candidates) {
            const sizes = { dim, valueDim, maxKeys: keys };
            const { scale, ...rules } = this.#problem;
            const given = { ...sizes, ...rules, ...(scale !== null && { scale }) };
            const opening = attn.stream({ backend, params, ...given });
            const begun = async (stream: AnyStream) => {
                try {
                    const state = await this.#stateBytes(attn, { backend, params });
                    return {
                        stream,
                        tokens: 0,
                        sizes: await sizesOf(stream, dim, valueDim, keys, state),
                    };
                } catch (error) {
                    stream.dispose();
                    throw error;
                }
            };
            all.set(backend, await opening.then(begun).catch(message));
        }
        return all;
    }

    /** Bytes of what a backend declares as its state. */
    async #stateBytes(attn: Attn, { backend: id, params }: Candidate): Promise<number> {
        const backend = attn.backends().find((each) => each.id === id);
        if (!backend) return 0;
        const place = { ...this.#place, query: 0, key: 0 };
        const subject = { backend, params, problem: this.#problem, place };
        const found = await states(attn, this.#input, subject);
        return found.reduce((sum, { values }) => sum + values.byteLength, 0);
    }
}

/** The rules that streams know; they are always causal. */
function streamed({ scale, window, softcap }: Problem): Problem {
    const left = window && ([window[0], 0] as const);
    const rules = { ...(left && { window: left }), ...(softcap !== undefined && { softcap }) };
    return { causal: true, scale, ...rules };
}

/** A stream's answer to the last of so many tokens, once it has them. */
async function answer(
    fed: Fed | string,
    tokens: number,
    arrays: HeadArrays,
    exact: Float64Array,
): Promise<Omit<Kept, "backend">> {
    if (typeof fed === "string")
        return { bytes: null, state: 0, held: 0, error: null, reason: fed, sizes: null };
    await feed(fed, tokens, arrays);
    const { out } = await fed.stream.query(arrays.query.slice());
    const bytes = (await fed.stream.save()).length;
    const error = distance(Float64Array.from(out), exact);
    const isCounted = bytes === countedParts(tokens, fed.sizes).bytes;
    const sizes = isCounted ? fed.sizes : null;
    return { bytes, ...partsOf(bytes, tokens, fed.sizes), error, reason: null, sizes };
}

/**
 * What it has is counted as it takes it: one that fails half way goes on from there. The last ones come one by one,
 * each with a query, after which a stream with a state keeps as many as if all had come so.
 */
async function feed(fed: Fed, tokens: number, arrays: HeadArrays): Promise<void> {
    const { key, value, dim, valueDim } = arrays;
    const { most } = fed.sizes;
    const atOnce = most === Infinity ? tokens : tokens - 1 - ((tokens - 1) % most);
    if (tokens < fed.tokens) {
        await fed.stream.truncate(0);
        fed.tokens = 0;
    }
    while (fed.tokens < tokens) {
        const from = fed.tokens;
        const to = Math.max(from + 1, atOnce);
        const keys = key.slice(from * dim, to * dim);
        await fed.stream.append(keys, value.slice(from * valueDim, to * valueDim));
        fed.tokens = to;
        if (to < tokens) await fed.stream.query(arrays.query.slice());
    }
}
