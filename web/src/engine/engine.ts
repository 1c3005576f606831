/** What the page computes: by the library in its worker, and exact attention in another. */

import type { Backend } from "libattn";
import type { Attn } from "libattn/worker";
import { Bench } from "./bench";
import { lengths } from "../cost/lengths";
import type { Candidate, LengthPoint, Setting } from "../cost/lengths";
import { message } from "../dom/dom";
import { Held } from "./held";
import type { Findings } from "../compare/lines";
import { timeByTurns } from "./measure";
import type { Preset } from "../presets/list";
import { offered } from "./offering";
import { Reference } from "./reference";
import type { Place } from "../row/place";
import { Source } from "../source/source";
import type { Thought } from "../source/trained";
import type { Playing } from "../streaming/player";
import type { ArrayFile, Input, Problem, Role, Summary, TensorInfo, Timing } from "../state/types";
import { afterAll, Work, type Task } from "./work";

const retryShare = 1 / 4; // of the time that panels are timed for, all together
const last = Number.MAX_SAFE_INTEGER; // in the bench's line

export class Engine {
    #bench = new Bench();
    #source = new Source();
    #asked = 0; // inputs
    #held: Held | null = null;
    #reference: Reference | null = null;
    /** The latest of each backend. */
    #works = new Map<string, Work>();
    #timing = new AbortController();
    #counting = new AbortController();
    #retrying = new AbortController();

    start(): Promise<{ version: string; build: string; tier: string; backends: Backend[] }> {
        return this.ask(async (attn) => {
            const { version, build, tier } = attn;
            return { version, build, tier, backends: await offers(attn) };
        });
    }

    /** The backends that a plugin, a .wasm file, brings. */
    async loadPlugin(file: ArrayFile): Promise<Backend[]> {
        const added = await this.#bench.addPlugin(file);
        return this.ask(async (attn) => {
            return (await offers(attn)).filter(({ id }) => added.includes(id));
        });
    }

    /** The arrays that are computed on. */
    get input(): Input | null {
        return this.#held?.input ?? null;
    }

    /** There will be another input: what was computed is stale at once. */
    drop(): void {
        this.stop();
        for (const work of this.#works.values()) work.end();
        this.#works.clear();
        this.#held?.release();
        if (this.#held) this.#source.forget(this.#held.input);
        this.#held = null;
    }

    /** null: another input was asked for meanwhile. */
    useText(text: string, dim: number): Promise<Summary | null> {
        return this.#use(this.#source.text(text, dim));
    }

    /** null: the same. */
    useFiles(files: Record<Role, ArrayFile>): Promise<Summary | null> {
        return this.#use(this.#source.files(files));
    }

    /** null: the same. */
    usePreset(preset: Preset): Promise<Summary | null> {
        return this.#use(this.#source.preset(preset));
    }

    /** The heads of a trained model as it answers; null: the same. */
    async useThought(model: string, question: string): Promise<Thought | null> {
        const coming = this.#source.thought(model, question);
        const summary = await this.#use(coming.then(({ input }) => input));
        return summary && coming;
    }

    /** What is being read is not wanted any more. */
    leaveReading(): void {
        this.#source.leave();
    }

    listTensors(files: readonly ArrayFile[]): Promise<TensorInfo[]> {
        return this.#source.list(files);
    }

    /** A new computation of a backend; what it computed before is stale. null: there is no input. */
    begin(task: Task): Work | null {
        if (!this.#held) return null;
        this.#timing.abort();
        this.#counting.abort();
        this.#retrying.abort();
        this.#works.get(task.backend)?.end();
        const reference = this.#referenceFor(this.#held, task.problem);
        const work = new Work(this.#bench, this.#held, reference, task);
        this.#works.set(task.backend, work);
        return work;
    }

    /** What a backend computes now; null: nothing that has run. */
    workOf(backend: string): Work | null {
        const work = this.#works.get(backend);
        return work && work.first !== null && !work.signal.aborted ? work : null;
    }

    /** Of each backend that has run; null: something began meanwhile. */
    async time(): Promise<Map<string, Timing> | null> {
        this.#timing.abort();
        const { signal } = (this.#timing = new AbortController());
        const works = [...this.#works.values()].filter((work) => !work.signal.aborted);
        const runners = works.flatMap((work) => {
            const { first } = work;
            if (first === null) return [];
            return [{ id: work.task.backend, first, run: (n: number) => work.time(n, signal) }];
        });
        try {
            const timings = await timeByTurns(runners);
            return new Map(runners.map(({ id }, i) => [id, timings[i] as Timing]));
        } catch (error) {
            if (signal.aborted) return null;
            throw error;
        }
    }

    /** Streams of the tokens of a head. */
    player(
        place: Omit<Place, "query" | "key">,
        problem: Problem,
        candidates: readonly Candidate[],
    ): Playing | null {
        const input = this.#held?.input;
        if (!input || input.shape.queries !== input.shape.keys) return null;
        const coming = import("../streaming/player").then(
            ({ Player }) => new Player(this.#bench, input, problem, place, candidates),
        );
        return {
            play: async (tokens) => (await coming).play(tokens),
            end: () => {
                coming.then(
                    (player) => player.end(),
                    () => undefined, // who plays is told
                );
            },
        };
    }

    /** What lengths cost: counted for all, then measured for the short ones, after everything else. */
    async lengths(
        candidates: readonly Candidate[],
        setting: Setting,
        onPoint: (point: LengthPoint) => void,
    ): Promise<void> {
        this.#counting.abort();
        const { signal } = (this.#counting = new AbortController());
        const { countLength, measureLength } = await import("../cost/counting");
        const counted: LengthPoint[] = [];
        for (const candidate of candidates) {
            for (const length of lengths) {
                const count = (attn: Attn) => countLength(attn, candidate, setting, length);
                const point = await this.#bench.piece(last, signal, count);
                counted.push(point);
                onPoint(point);
            }
        }
        counted.sort((one, other) => one.length - other.length); // by turns
        for (const point of counted) {
            const measure = (attn: Attn) => measureLength(attn, point, setting);
            const time = await this.#bench.piece(last, signal, measure);
            if (time !== null) onPoint({ ...point, time, isMeasured: true });
        }
    }

    /** What other settings come to, one after the other, after what panels have; a string: why one has nothing. */
    async retry(
        candidates: readonly Candidate[],
        problem: Problem,
        onTried: (candidate: Candidate, found: Findings | string) => void,
    ): Promise<void> {
        this.#retrying.abort();
        const { signal } = (this.#retrying = new AbortController());
        for (const candidate of candidates) {
            if (!this.#held) return;
            const reference = this.#referenceFor(this.#held, problem);
            const task = { ...candidate, place: afterAll, problem };
            const work = new Work(this.#bench, this.#held, reference, task);
            signal.addEventListener("abort", () => work.end());
            const found = await findingsOf(work).catch(message);
            work.end();
            signal.throwIfAborted();
            onTried(candidate, found);
        }
    }

    /** What is computed for all backends is not wanted any more. */
    stop(): void {
        this.#timing.abort();
        this.#counting.abort();
        this.#retrying.abort();
        this.#reference?.end();
        this.#reference = null;
    }

    /** What the library in its worker says, before all else. */
    ask<T>(body: (attn: Attn) => T | Promise<T>): Promise<T> {
        return this.#bench.piece(0, new AbortController().signal, body);
    }

    async #use(coming: Promise<Input>): Promise<Summary | null> {
        const asked = ++this.#asked;
        const input = await coming;
        if (asked !== this.#asked) {
            this.#source.forget(input);
            return null;
        }
        this.drop();
        this.#held = new Held(input);
        const { shape, tokens, nonfinite, unread = 0 } = input;
        return { shape, tokens, nonfinite, unread };
    }

    #referenceFor({ input }: Held, problem: Problem): Reference {
        if (this.#reference?.isOf(input, problem)) return this.#reference;
        this.#reference?.end();
        return (this.#reference = new Reference(this.#source, input, problem));
    }
}

async function findingsOf(work: Work): Promise<Findings> {
    const numbers = await work.describe();
    const run = await work.run(numbers.flops);
    const accuracy = await work.error();
    const timed = { first: run.milliseconds, run: (n: number) => work.time(n, work.signal) };
    const [timing = null] = await timeByTurns([timed], retryShare);
    return { numbers, run, accuracy, timing, look: null, ended: null };
}

function offers(attn: Attn): Promise<Backend[]> {
    return Promise.all(attn.backends().map((backend) => offered(attn, backend)));
}
