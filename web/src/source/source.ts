/** Inputs, read by a worker of their own: neither the page nor attention waits for them. */

import type { ArrayFile, Input, Role } from "../types";
import type { Answer, Request } from "./worker";

type Without<T, Name extends string> = T extends unknown ? Omit<T, Name> : never;

interface Waiting {
    resolve(input: Input): void;
    reject(reason: Error): void;
}

const mostLetters = 1 << 20; // some hundred thousand tokens

export class Source {
    #worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    #waiting = new Map<number, Waiting>();
    #count = 0;

    constructor() {
        this.#worker.onmessage = ({ data }: MessageEvent<Answer>) => {
            const { resolve, reject } = this.#waiting.get(data.id) ?? {};
            this.#waiting.delete(data.id);
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
            throw new Error(
                `the text has ${text.length} letters, and this page takes ${mostLetters} at most`,
            );
        }
        return this.#ask({ kind: "text", text, dim });
    }

    files(files: Record<Role, ArrayFile>): Promise<Input> {
        return this.#ask({ kind: "files", files });
    }

    #ask(request: Without<Request, "id">): Promise<Input> {
        const id = ++this.#count;
        return new Promise((resolve, reject) => {
            this.#waiting.set(id, { resolve, reject });
            this.#worker.postMessage({ ...request, id });
        });
    }
}
