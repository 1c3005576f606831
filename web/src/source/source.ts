/** Inputs and exact attention on them, by a worker of their own: nothing else waits for it. */

import type { HeadRows, Look } from "../look/look";
import type { Preset } from "../presets/list";
import type { ArrayFile, Input, Problem, Role, TensorInfo } from "../types";
import type { Thought } from "./trained";
import type { Answer, Letter, Request } from "./worker";

interface Waiting {
    resolve(value: unknown): void;
    reject(reason: Error): void;
}

const mostLetters = 1 << 20; // some hundred thousand tokens

export class Source {
    #worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    #waiting = new Map<number, Waiting>();
    #count = 0;
    /** What the worker calls them. */
    #inputs = new WeakMap<Input, number>();

    constructor() {
        this.#worker.onmessage = ({ data }: MessageEvent<Answer>) => {
            const { resolve, reject } = this.#waiting.get(data.number) ?? {};
            this.#waiting.delete(data.number);
            if ("value" in data) resolve?.(data.value);
            else reject?.(new Error(data.problem));
        };
        this.#worker.onerror = (event) => {
            const reason = new Error(event.message || "the worker that reads inputs did not start");
            for (const { reject } of this.#waiting.values()) reject(reason);
            this.#waiting.clear();
        };
    }

    async text(text: string, dim: number): Promise<Input> {
        if (text.length > mostLetters) {
            const has = `the text has ${text.length} letters`;
            throw new Error(`${has}, and this page takes ${mostLetters} at most`);
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
            this.#waiting.set(number, { resolve, reject });
            this.#worker.postMessage({ ...request, number } satisfies Letter);
        });
    }
}
