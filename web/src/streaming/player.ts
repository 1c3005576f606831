/** Tokens that come one by one, to a stream of each backend: what it keeps of them, and what it answers. */

import type { Attn, Stream } from "libattn/worker";
import { PerWorker, type Bench } from "../bench";
import type { Candidate } from "../cost/lengths";
import { distance, dotProducts, exactWeights, headArrays, mix, type Place } from "../row/place";
import type { Input } from "../types";

/** What a backend has after so many tokens. */
export interface Kept {
    backend: string;
    /** Of its tokens, as it would save them; null: it has no streams. */
    bytes: number | null;
    /** How far its answer to the last token is from exact attention; null: the same. */
    error: number | null;
    /** Why there is none. */
    reason: string | null;
}

/** The last so many come one by one: some streams keep what came at once as it came. */
const single = 16;

/** With an lse or without. */
type AnyStream = Stream<"f32", "f32", Float32Array<ArrayBuffer> | null>;

interface Streams {
    /** Tokens that they have. */
    tokens: number;
    /** Each, or why it cannot be had. */
    all: Map<string, AnyStream | string>;
}

/** Of one head of an input. */
export class Player {
    #bench: Bench;
    #input: Input;
    #scale: number | null;
    #place: Omit<Place, "query" | "key">;
    #candidates: readonly Candidate[];
    #streams = new PerWorker((attn) => this.#open(attn));
    #end = new AbortController();

    constructor(
        bench: Bench,
        input: Input,
        scale: number | null,
        place: Omit<Place, "query" | "key">,
        candidates: readonly Candidate[],
    ) {
        this.#bench = bench;
        this.#input = input;
        this.#scale = scale;
        this.#place = place;
        this.#candidates = candidates;
    }

    /** What there is once so many tokens have come; those that came already are not sent again. */
    async play(tokens: number): Promise<Kept[]> {
        const { signal } = this.#end;
        return this.#bench.piece(Number.MAX_SAFE_INTEGER, signal, async (attn) => {
            const held = await this.#streams.on(attn);
            if (tokens < held.tokens) await this.#restart(held);
            const kept = [];
            for (const { backend } of this.#candidates)
                kept.push(await this.#send(backend, held, tokens));
            held.tokens = tokens;
            return kept;
        });
    }

    end(): void {
        this.#end.abort();
        this.#streams.discard(({ all }) => {
            for (const stream of all.values()) if (typeof stream !== "string") stream.dispose();
        });
    }

    async #open(attn: Attn): Promise<Streams> {
        const { dim, valueDim, keys } = this.#input.shape;
        const all = new Map<string, AnyStream | string>();
        for (const { backend, params } of this.#candidates) {
            const scale = this.#scale === null ? {} : { scale: this.#scale };
            const sizes = { dim, valueDim, maxKeys: keys, causal: true };
            const opening = attn.stream({ backend, params, ...sizes, ...scale });
            all.set(backend, await opening.catch((error: unknown) => String(error)));
        }
        return { tokens: 0, all };
    }

    async #restart(held: Streams): Promise<void> {
        for (const stream of held.all.values())
            if (typeof stream !== "string") await stream.truncate(0);
        held.tokens = 0;
    }

    async #send(backend: string, { tokens: first, all }: Streams, last: number): Promise<Kept> {
        const stream = all.get(backend) ?? "no stream";
        const none = { backend, bytes: null, error: null };
        if (typeof stream === "string") return { ...none, reason: stream };
        const place = { ...this.#place, query: last - 1, key: 0 };
        const problem = { causal: true, scale: this.#scale };
        const arrays = headArrays(this.#input, problem, place);
        const { query, key, value, dim, valueDim } = arrays;
        for (let from = first, to; from < last; from = to) {
            to = Math.max(from + 1, last - single);
            const keys = key.slice(from * dim, to * dim);
            await stream.append(keys, value.slice(from * valueDim, to * valueDim));
        }
        const { out } = await stream.query(query.slice());
        const exact = mix(exactWeights(dotProducts(arrays), arrays), arrays);
        return {
            backend,
            bytes: (await stream.save()).length,
            error: distance(Float64Array.from(out), exact),
            reason: null,
        };
    }
}
