/** One backend's computation on one input: its picture, its output, and how far that is from exact. */

import type { Backend } from "libattn";
import type { Attn, Plan, Tensor } from "libattn/worker";
import { accuracyOf, worstOf } from "./accuracy";
import { PerWorker, type Bench } from "./bench";
import type { Held } from "./held";
import { tooMuch } from "../compare/lines";
import { emptyGrid, fillRows, queriesOf } from "./pool";
import { isSame, wholeOf } from "../zoom/region";
import type { Viewport } from "../zoom/zoom";
import type { Reference } from "./reference";
import type { HeadRows, Look } from "../look/look";
import { chunk, gather, headRows, type Part } from "../look/rows";
import { argumentsOf } from "../rules/arguments";
import type { Place } from "../row/place";
import type { Steps } from "../row/steps";
import { numbersOf } from "./told";
import type { Accuracy, Grid, Numbers, Problem, Run, Values, WorstRow } from "../state/types";

/** What comes first for all backends; within one, they go in order. */
const stages = { picture: 0, run: 1, time: 2 };
const mostBackends = 1024;
/** A place behind those of all backends, at whatever they are. */
export const afterAll = 3 * mostBackends;

const mostWholes = 8;
const mostFlops = 2 ** 39; // of a run: it takes about half a minute

export interface Task {
    backend: string;
    /** The backend's place among all. */
    place: number;
    problem: Problem;
    params: Values;
}

/** Each step rejects with an AbortError once the work has ended, whose signal tells. */
export class Work {
    readonly task: Task;
    readonly signal: AbortSignal;
    #bench: Bench;
    #held: Held;
    #reference: Reference;
    #arguments: ReturnType<typeof argumentsOf>;
    #plan: PerWorker<Plan>;
    /** Where runs put their output: made for the first, after all pictures. */
    #output: PerWorker<Tensor>;
    #end = new AbortController();
    #view = new AbortController();
    /** Of the last run: all, and rows that errors are taken over. */
    #out: Float32Array | null = null;
    #rows: Float32Array | null = null;
    #first: number | null = null;
    #numbers: Numbers | null = null;
    /** Pictures of all queries and keys, to which the reader comes back; the latest. */
    #wholes = new Map<string, Grid>();

    constructor(bench: Bench, held: Held, reference: Reference, task: Task) {
        this.#bench = bench;
        this.#held = held;
        this.#reference = reference;
        this.task = task;
        this.signal = this.#end.signal;
        this.#arguments = argumentsOf(task.problem, held.input.shape);
        this.#plan = new PerWorker((attn) => this.#solve(attn));
        const { batch, heads, queries, valueDim } = held.input.shape;
        this.#output = new PerWorker((attn) => attn.tensor(batch * heads * queries * valueDim));
    }

    /** Whatever was under way is stale from now on. */
    end(): void {
        this.#end.abort();
        this.#plan.discard((plan) => plan.dispose());
        this.#output.discard((out) => out.dispose());
    }

    /** Milliseconds that the first run took; null: there was none. */
    get first(): number | null {
        return this.#first;
    }

    /** What the plan tells; null: it is not made yet. */
    get numbers(): Numbers | null {
        return this.#numbers;
    }

    /** The same of a plan that is made for the first picture, or for this. */
    async describe(): Promise<Numbers> {
        if (!this.#numbers) await this.#piece(stages.picture, (attn) => this.#plan.on(attn));
        if (!this.#numbers) throw new Error("a plan tells its numbers as it is made");
        return this.#numbers;
    }

    /** Weights of a head. The picture of others that was asked for before is stale then. */
    async picture(
        batch: number,
        head: number,
        viewport: Viewport,
        onProgress: (done: number) => void,
    ): Promise<Grid> {
        this.#view.abort();
        this.#view = new AbortController();
        const signal = AbortSignal.any([this.signal, this.#view.signal]);
        const { queries, keys } = this.#held.input.shape;
        const { region, pooling } = viewport;
        const isAll = isSame(region, wholeOf({ queries, keys }));
        const name = [batch, head, pooling].join();
        const known = isAll && this.#wholes.get(name);
        if (known) return known;
        const grid = emptyGrid(region, { queries, keys }, pooling);
        const { rowsPerCell, sampledRows } = grid;
        const isWhole = sampledRows === rowsPerCell;
        const step = isWhole ? Math.max(1, Math.floor(chunk / (keys * rowsPerCell))) : 1;
        for (let row = 0; row < grid.rows; row += step) {
            const part = { batch, head, ...queriesOf(grid, row, step) };
            fillRows(grid, row, await this.#weights(part, signal));
            onProgress(Math.min(1, (row + step) / grid.rows));
        }
        if (isAll) this.#wholes = new Map([...this.#wholes].slice(1 - mostWholes)).set(name, grid);
        return grid;
    }

    #weights(part: Part, signal: AbortSignal): Promise<Float32Array> {
        return this.#piece(
            stages.picture,
            async (attn) => {
                const plan = await this.#plan.on(attn);
                const { query, key } = await this.#held.on(attn);
                return plan.weights({ ...this.#arguments.arrays, query, key, ...part });
            },
            signal,
        );
    }

    async run(flops: number | null): Promise<Run> {
        if (flops !== null && flops > mostFlops) throw new Error(tooMuch("run", flops));
        const rows = this.#reference.rows;
        const { valueDim } = this.#held.input.shape;
        return this.#piece(stages.run, async (attn) => {
            const [plan, out] = [await this.#plan.on(attn), await this.#output.on(attn)];
            const arrays = { ...this.#arguments.arrays, ...(await this.#held.on(attn)) };
            const { degenerateRows, milliseconds } = await plan.run({ ...arrays, out });
            const nonfinite = await attn.countNonfinite(out);
            this.#out = await out.read();
            this.#rows = gather(this.#out, rows, valueDim);
            this.#first = milliseconds;
            return { degenerateRows, nonfinite, milliseconds };
        });
    }

    async error(): Promise<Accuracy> {
        const exact = await this.#reference.exact();
        this.signal.throwIfAborted();
        const { batch, heads, queries, valueDim } = this.#held.input.shape;
        if (!this.#rows) throw new Error("an error needs a run");
        return accuracyOf(this.#rows, exact, valueDim, batch * heads * queries);
    }

    /** How far the output is from that of another run. */
    errorAgainst(other: Work): Accuracy {
        const { batch, heads, queries, valueDim } = this.#held.input.shape;
        if (!this.#rows || !other.#rows) throw new Error("an error needs two runs");
        return accuracyOf(
            this.#rows,
            Float64Array.from(other.#rows),
            valueDim,
            batch * heads * queries,
        );
    }

    /** Rows of a head beside the exact ones: so many pairs of a query and a key at most. */
    async look(
        batch: number,
        head: number,
        pairs: number,
    ): Promise<{ look: Look; rows: HeadRows }> {
        const { shape } = this.#held.input;
        const out = this.#out ?? new Float32Array();
        const weigh = (part: Part) => this.#weights(part, this.signal);
        const rows = await headRows(shape, { batch, head }, pairs, out, weigh);
        const look = await this.#reference.look(batch * shape.heads + head, rows);
        this.signal.throwIfAborted();
        return { look, rows };
    }

    /** The row that is farthest off, of those that errors are taken over; null: none has a size. */
    async worst(): Promise<WorstRow | null> {
        const exact = await this.#reference.exact();
        const { batch, heads, queries, valueDim } = this.#held.input.shape;
        const { rows } = this.#reference;
        const worst = this.#rows && worstOf(this.#rows, exact, valueDim);
        if (!worst) return null;
        const row = rows[worst.place] ?? NaN;
        const head = Math.floor(row / queries); // of all batches
        const place = { batch: Math.floor(head / heads), head: head % heads };
        const query = row % queries;
        const weights = await this.#weights({ ...place, first: query, count: 1 }, this.signal);
        const some = rows.length < batch * heads * queries ? rows.length : null;
        return { ...place, query, key: largestOf(weights), error: worst.error, some };
    }

    /** What the backend does for one query, and what exact attention does. */
    async row(place: Place, backend: Backend): Promise<Steps> {
        const [{ probe }, { stepsOf }] = await Promise.all([
            import("../row/probe"),
            import("../row/steps"),
        ]);
        const { problem, params } = this.task;
        const subject = { backend, params, problem, place };
        const found = await this.#piece(stages.picture, async (attn) => {
            const plan = await this.#plan.on(attn);
            return probe(attn, plan, this.#held, subject);
        });
        return stepsOf(this.#held.input, problem, place, found);
    }

    /** Milliseconds of one of so many runs. */
    async time(repeats: number, signal: AbortSignal): Promise<number> {
        return this.#piece(
            stages.time,
            async (attn) => {
                const [plan, out] = [await this.#plan.on(attn), await this.#output.on(attn)];
                const arrays = { ...this.#arguments.arrays, ...(await this.#held.on(attn)) };
                return (await plan.run({ ...arrays, out, repeats })).milliseconds;
            },
            AbortSignal.any([this.signal, signal]),
        );
    }

    #piece<T>(stage: number, body: (attn: Attn) => Promise<T>, signal = this.signal): Promise<T> {
        return this.#bench.piece(stage * mostBackends + this.task.place, signal, body);
    }

    async #solve(attn: Attn): Promise<Plan> {
        const { backend, params } = this.task;
        const { shape } = this.#held.input;
        const { options, hidesPairs } = this.#arguments;
        const plan = await attn.plan({ ...{ backend, ...shape, params }, ...options });
        this.#numbers = numbersOf(plan, shape, hidesPairs);
        return plan;
    }
}

/** The place of the largest; of NaN alone the first. */
function largestOf(weights: Float32Array): number {
    const most = weights.reduce((most, weight) => (weight > most ? weight : most), -Infinity);
    return Math.max(0, weights.indexOf(most));
}
