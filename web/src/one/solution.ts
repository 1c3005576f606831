/** One backend's computation on the arrays of a file: what ../work does in a worker, here and at once. */

import type { Backend } from "libattn";
import type { Attn, Plan } from "libattn/inline";
import type { Attn as Worker, Plan as Remote } from "libattn/worker";
import { tooMuch, type Findings } from "../compare/lines";
import { lookAt, type HeadRows, type Look } from "../look/look";
import { headRows, type Part } from "../look/rows";
import { emptyGrid, fillRows, queriesOf } from "../engine/pool";
import type { Place } from "../row/place";
import { probe, type Held } from "../row/probe";
import { stepsOf, type Steps } from "../row/steps";
import { argumentsOf } from "../rules/arguments";
import { exactOnce } from "../source/exact";
import { numbersOf } from "../engine/told";
import type { Grid, Input, Numbers, Problem, Values } from "../state/types";
import type { Viewport } from "../zoom/zoom";

const turns = 5; // of which the middle one's time counts
const shortest = 8; // milliseconds a turn lasts at least: clocks of pages tick by tenths and whole ones
const mostFlops = 2 ** 30; // 2048 tokens of 64 numbers: longer work stops a tab for seconds

/** What is computed. */
export interface Task {
    backend: Backend;
    params: Values;
    problem: Problem;
}

type Ran = Pick<Findings, "run" | "accuracy" | "timing" | "ended">;

export class Solution {
    readonly numbers: Numbers;
    #attn: Attn;
    #input: Input;
    #task: Task;
    #arguments: ReturnType<typeof argumentsOf>;
    #plan: Plan;
    /** Of the run; null: there was none. */
    #out: Float32Array | null = null;

    constructor(attn: Attn, input: Input, task: Task) {
        const { backend, params, problem } = task;
        this.#attn = attn;
        this.#input = input;
        this.#task = task;
        this.#arguments = argumentsOf(problem, input.shape);
        const { options, hidesPairs } = this.#arguments;
        this.#plan = attn.plan({ backend: backend.id, ...input.shape, params, ...options });
        this.numbers = numbersOf(this.#plan, input.shape, hidesPairs);
    }

    dispose(): void {
        this.#plan.dispose();
    }

    get hasRun(): boolean {
        return this.#out !== null;
    }

    picture(batch: number, head: number, { region, pooling }: Viewport): Grid {
        const grid = emptyGrid(region, this.#input.shape, pooling);
        for (let row = 0; row < grid.rows; row++) {
            const part = { batch, head, ...queriesOf(grid, row) };
            fillRows(grid, row, this.#weights(part));
        }
        return grid;
    }

    #weights(part: Part): Float32Array {
        const { query, key } = this.#input;
        return this.#plan.weights({ ...this.#arguments.arrays, query, key, ...part });
    }

    /** With its error and its time, or why there are none. */
    run(): Ran {
        const works = [
            ["run", this.numbers.flops ?? 0],
            ["exact", this.#exactFlops],
        ] as const;
        const long = works.find(([, flops]) => flops > mostFlops);
        if (!long) return this.#run();
        return { run: null, accuracy: null, timing: null, ended: tooMuch(long[0], long[1]) };
    }

    /** Of what errors are taken against. */
    get #exactFlops(): number {
        const { batch, heads, queries, keys, dim, valueDim } = this.#input.shape;
        return 2 * batch * heads * queries * keys * (dim + valueDim);
    }

    #run(): Ran {
        const { query, key, value, shape } = this.#input;
        const rows = shape.batch * shape.heads * shape.queries;
        const arrays = { ...this.#arguments.arrays, query, key, value };
        const { out, degenerateRows } = this.#plan.run(arrays);
        this.#out = out;
        const times = timesOf(() => this.#plan.run(arrays));
        const error = this.#plan.error({ ...arrays, out });
        const milliseconds = times[turns >> 1] ?? NaN;
        const [low = NaN, high = NaN] = [times[0], times.at(-1)];
        const nonfinite = out.filter((value) => !Number.isFinite(value)).length;
        return {
            run: { degenerateRows, nonfinite, milliseconds },
            accuracy: { error, rows, total: rows, low: error, high: error },
            timing: { milliseconds, timings: turns, low, high },
            ended: null,
        };
    }

    /** Rows of a head beside the exact ones: so many pairs of a query and a key at most. */
    async look(
        batch: number,
        head: number,
        pairs: number,
    ): Promise<{ look: Look; rows: HeadRows }> {
        const { shape } = this.#input;
        const out = this.#out ?? new Float32Array();
        const weigh = (part: Part) => this.#weights(part);
        const rows = await headRows(shape, { batch, head }, pairs, out, weigh);
        const place = batch * shape.heads + head;
        const exact = exactOnce(this.#input, this.#task.problem, place, rows.queries);
        return { look: lookAt(rows, exact, shape.queries), rows };
    }

    /** What the backend does for one query, and what exact attention does. */
    async row(place: Place): Promise<Steps> {
        const { query, key, value } = this.#input;
        const on = () => Promise.resolve({ query, key, value });
        const held = awaited<Held>({ input: this.#input, on });
        const [attn, plan] = [awaited<Worker>(this.#attn), awaited<Remote>(this.#plan)];
        const found = await probe(attn, plan, held, { ...this.#task, place });
        return stepsOf(this.#input, this.#task.problem, place, found);
    }
}

/** As it is where calls give promises: whoever awaits them takes answers that are there at once, too. */
function awaited<T>(here: unknown): T {
    return here as T;
}

/** Milliseconds of a run in each turn, by size. */
function timesOf(run: () => unknown): number[] {
    const turn = (repeats: number) => {
        const start = performance.now();
        for (let i = 0; i < repeats; i++) run();
        return performance.now() - start;
    };
    let repeats = 1;
    while (turn(repeats) < shortest) repeats *= 2; // they warm up, too
    const times = Array.from({ length: turns }, () => turn(repeats) / repeats);
    return times.sort((one, other) => one - other);
}
