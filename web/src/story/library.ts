/** What the steps of the story compute: rows of attention, on texts and presets, and costs. */

import type { Backend } from "libattn";
import { Bench } from "../engine/bench";
import { countLength } from "../cost/counting";
import { lengths, type Candidate, type LengthPoint } from "../cost/lengths";
import { Held } from "../engine/held";
import { presetOf } from "../presets/list";
import { opening } from "../presets/opening";
import { emptyGrid, fillRows } from "../engine/pool";
import { argumentsOf } from "../rules/arguments";
import { distance, dotProducts, exactWeights, headArrays, mix } from "../row/place";
import { Source } from "../source/source";
import type { Grid, Input, Problem } from "../state/types";
import { wholeOf } from "../zoom/region";

/** A query of one head under a backend. */
export interface Row {
    /** q.k of all keys. */
    dots: Float64Array;
    weights: Float32Array;
    /** Those of softmax, in double precision. */
    exact: Float64Array;
    /** How far the output is from softmax's, relative to that. */
    error: number;
    /** (query, key) pairs of all queries that have a weight; null: the backend does not tell. */
    pairs: number | null;
}

export class Library {
    #bench = new Bench();
    #source = new Source();
    #presets = new Map<string, Promise<Held>>();
    #trained: Held | null = null;

    open(): Promise<{ version: string; build: string; tier: string; backends: Backend[] }> {
        return this.#bench.piece(0, new AbortController().signal, (attn) => {
            const { version, build, tier } = attn;
            return { version, build, tier, backends: attn.backends() };
        });
    }

    async ofText(text: string, dim: number): Promise<Held> {
        return new Held(await this.#source.text(text, dim));
    }

    /** One head of the model that the site opens with; it is kept. */
    async ofTrained(): Promise<Held> {
        const { input } = await this.ofPreset(opening.preset);
        const view = presetOf(opening.preset)?.view ?? { batch: 0, head: 0 };
        return (this.#trained ??= new Held(headOf(input, view)));
    }

    forget(held: Held): void {
        if (held === this.#trained) return;
        held.release();
        this.#source.forget(held.input);
    }

    ofPreset(id: string): Promise<Held> {
        const known = this.#presets.get(id);
        if (known) return known;
        const coming = this.#load(id);
        this.#presets.set(id, coming);
        coming.catch(() => this.#presets.delete(id)); // the next one tries again
        return coming;
    }

    row(
        held: Held,
        candidate: Candidate,
        problem: Problem,
        query: number,
        signal: AbortSignal,
    ): Promise<Row> {
        return this.#bench.piece(0, signal, async (attn) => {
            const plan = await attn.plan(optionsOf(held.input, candidate, problem));
            try {
                const { query: q, key } = await held.on(attn);
                const weights = await plan.weights({ query: q, key, first: query, count: 1 });
                const place = { batch: 0, head: 0, query, key: 0 };
                const arrays = headArrays(held.input, problem, place);
                const dots = dotProducts(arrays);
                const exact = exactWeights(dots, arrays);
                const error = distance(mix(weights, arrays), mix(exact, arrays));
                const { pairs } = plan.cost ?? { pairs: NaN };
                return { dots, weights, exact, error, pairs: Number.isNaN(pairs) ? null : pairs };
            } finally {
                plan.dispose();
            }
        });
    }

    /** All weights of the head. */
    grid(held: Held, candidate: Candidate, problem: Problem, signal: AbortSignal): Promise<Grid> {
        const { shape } = held.input;
        return this.#bench.piece(0, signal, async (attn) => {
            const plan = await attn.plan(optionsOf(held.input, candidate, problem));
            try {
                const { query, key } = await held.on(attn);
                const grid = emptyGrid(wholeOf(shape), shape);
                fillRows(grid, 0, await plan.weights({ query, key, first: 0, count: grid.rows }));
                return grid;
            } finally {
                plan.dispose();
            }
        });
    }

    /** Operations and memory of all lengths. */
    costs(
        candidates: readonly Candidate[],
        dim: number,
        problem: Problem,
        signal: AbortSignal,
    ): Promise<LengthPoint[]> {
        return this.#bench.piece(0, signal, (attn) =>
            Promise.all(
                candidates.flatMap((candidate) =>
                    lengths.map((length) => countLength(attn, candidate, { dim, problem }, length)),
                ),
            ),
        );
    }

    async #load(id: string): Promise<Held> {
        const preset = presetOf(id);
        if (!preset) throw new Error(`there is no preset ${id}`);
        return new Held(await this.#source.preset(preset));
    }
}

/** As an input of its own. */
function headOf(input: Input, { batch, head }: { batch: number; head: number }): Input {
    const place = { batch, head, query: 0, key: 0 };
    const { key, value } = headArrays(input, {} as Problem, place);
    const { heads, queries, dim } = input.shape;
    const first = (batch * heads + head) * queries * dim;
    const query = input.query.subarray(first, first + queries * dim);
    return {
        ...input,
        query,
        key,
        value,
        shape: { ...input.shape, batch: 1, heads: 1, kvHeads: 1 },
    };
}

function optionsOf({ shape }: Input, { backend, params }: Candidate, problem: Problem) {
    return { backend, params, ...shape, ...argumentsOf(problem, shape).options };
}
