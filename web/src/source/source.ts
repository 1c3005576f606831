/** Inputs and exact attention on them, by a worker of their own: nothing else waits for it. */

import type { HeadRows, Look } from "../look/look";
import type { Preset } from "../presets/list";
import type { ArrayFile, Input, Problem, Role, TensorInfo } from "../state/types";
import type { Thought } from "./trained";
import type { Answer, Letter, Request } from "./input-worker";
import { words } from "../words/words";

interface Waiting {
    request: Request;
    /** Is its answer still of use? */
    isWanted: boolean;
    resolve(value: unknown): void;
    reject(reason: Error): void;
}

const mostLetters = 1 << 20; // some hundred thousand tokens
const patience = 100; // milliseconds for what is not wanted any more

/** What takes as long as its input is large; exact attention is asked for in small pieces. */
const reading: readonly Request["kind"][] = ["text", "files", "preset", "thought", "list"];

export class Source {
    /** null: it has to be started. */
    #worker: Worker | null = null;
    #waiting = new Map<number, Waiting>();
    #count = 0;
    /** Those that the worker has, and what it calls them. */
    #inputs = new Map<Input, number>();

    constructor() {
        this.#worker = this.#started();
    }

    /** What is being read is not wanted any more: where that goes on, the worker is ended and started anew. */
    leave(): void {
        const left = [...this.#waiting.values()].filter(
            ({ request, isWanted }) => isWanted && reading.includes(request.kind),
        );
        if (left.length === 0) return;
        for (const each of left) each.isWanted = false;
        const isUnderWay = () => [...this.#waiting.values()].some((each) => left.includes(each));
        setTimeout(() => {
            if (isUnderWay()) this.#restart();
        }, patience);
    }

    /** Another worker is asked for what is still wanted. */
    #restart(): void {
        this.#worker?.terminate();
        this.#worker = this.#started();
        for (const [number, { request, isWanted, reject }] of this.#waiting) {
            if (isWanted) this.#post(request, number);
            else {
                this.#waiting.delete(number);
                reject(new DOMException("", "AbortError"));
            }
        }
    }

    /** It has what the last one had. */
    #started(): Worker {
        const worker = new Worker(new URL("./input-worker.ts", import.meta.url), {
            type: "module",
        });
        worker.onmessage = ({ data }: MessageEvent<Answer>) => this.#take(data);
        worker.onerror = ({ message }) => {
            worker.terminate();
            if (worker === this.#worker) this.#fail(message);
        };
        for (const [input, number] of this.#inputs) {
            worker.postMessage({
                kind: "hold",
                held: { input, number },
                number: 0,
            } satisfies Letter);
        }
        return worker;
    }

    #take(answer: Answer): void {
        const { resolve, reject } = this.#waiting.get(answer.number) ?? {};
        this.#waiting.delete(answer.number);
        if ("value" in answer) resolve?.(answer.value);
        else reject?.(new Error(answer.isUnloaded ? words.input.unloaded : answer.problem));
    }

    /** The worker is no more, and the next who asks has another one. */
    #fail(message: string): void {
        this.#worker = null;
        const reason = new Error(message || "the worker that reads inputs did not start");
        for (const { reject } of this.#waiting.values()) reject(reason);
        this.#waiting.clear();
    }

    async text(text: string, dim: number): Promise<Input> {
        if (text.length > mostLetters) {
            throw new Error(words.files.tooLong(text.length, mostLetters));
        }
        return this.#input({ kind: "text", text, dim });
    }

    files(files: Record<Role, ArrayFile>): Promise<Input> {
        return this.#input({ kind: "files", files });
    }

    preset({ id, question }: Preset): Promise<Input> {
        return this.#input({ kind: "preset", id, question: question && question.text });
    }

    /** What a trained model says; its input is one as the others. */
    async thought(model: string, question: string): Promise<Thought> {
        const number = this.#count + 1;
        const said = (await this.#ask({ kind: "thought", model, question })) as Thought;
        this.#inputs.set(said.input, number);
        return said;
    }

    /** The arrays in files. */
    async list(files: readonly ArrayFile[]): Promise<TensorInfo[]> {
        return (await this.#ask({ kind: "list", files })) as TensorInfo[];
    }

    /** The exact output of some rows. */
    async exact(input: Input, problem: Problem, rows: readonly number[]): Promise<Float64Array> {
        const number = this.#inputs.get(input) ?? 0;
        return (await this.#ask({ kind: "exact", input: number, problem, rows })) as Float64Array;
    }

    /** What there is to know of rows of a head, which is counted over all batches, beside the exact ones. */
    async look(input: Input, problem: Problem, head: number, rows: HeadRows): Promise<Look> {
        const number = this.#inputs.get(input) ?? 0;
        return (await this.#ask({ kind: "look", input: number, problem, head, rows })) as Look;
    }

    forget(input: Input): void {
        void this.#ask({ kind: "forget", input: this.#inputs.get(input) ?? 0 });
        this.#inputs.delete(input);
    }

    async #input(request: Request): Promise<Input> {
        const number = this.#count + 1;
        const input = (await this.#ask(request)) as Input;
        this.#inputs.set(input, number);
        return input;
    }

    #ask(request: Request): Promise<unknown> {
        const number = ++this.#count;
        return new Promise((resolve, reject) => {
            this.#waiting.set(number, { request, isWanted: true, resolve, reject });
            this.#worker ??= this.#started();
            this.#post(request, number);
        });
    }

    #post(request: Request, number: number): void {
        this.#worker?.postMessage({ ...request, number } satisfies Letter);
    }
}
