/**
 * The library in its worker, which does one piece of work after the other. What has become stale is not
 * waited for: a worker that does not return from it in time is ended, and another one started.
 */

import { AttnError, init, type Attn, type Plugin } from "libattn/worker";
import { turn } from "./turn";
import type { ArrayFile } from "../state/types";

interface Piece {
    /** Lower ones go first. */
    rank: number;
    signal: AbortSignal;
    /** Settles when the worker has returned. */
    work(attn: Attn): Promise<void>;
    reject(reason: unknown): void;
}

const patience = 100; // milliseconds that stale work has to return

export class Bench {
    /** null: it has to be started. */
    #attn: Promise<Attn> | null;
    #plugins: ArrayFile[] = [];
    #waiting: Piece[] = [];
    #isWorking = false;

    constructor() {
        this.#attn = this.#started();
    }

    /** Rejects with the signal's reason, at once, when the work is stale. */
    async piece<T>(
        rank: number,
        signal: AbortSignal,
        body: (attn: Attn) => T | Promise<T>,
    ): Promise<T> {
        signal.throwIfAborted();
        const over = new AbortController();
        const result = new Promise<T>((resolve, reject) => {
            const stale = () => reject(signal.reason as Error);
            signal.addEventListener("abort", stale, { signal: over.signal });
            const work = async (attn: Attn) => {
                try {
                    resolve(await body(attn));
                } catch (error) {
                    reject(error as Error);
                    if (hasEnded(error)) this.#restart(attn);
                }
            };
            this.#waiting.push({ rank, signal, work, reject });
        });
        void this.#work();
        return result.finally(() => over.abort());
    }

    /** The worker knows the plugin's backends from now on; their ids. */
    async addPlugin(file: ArrayFile): Promise<string[]> {
        return this.piece(0, new AbortController().signal, async (attn) => {
            const { backends } = await load(attn, file);
            this.#plugins.push(file);
            return [...backends];
        });
    }

    async #work(): Promise<void> {
        if (this.#isWorking) return;
        this.#isWorking = true;
        for (let piece = this.#take(); piece; piece = this.#take()) {
            await this.#carryOut(piece);
            await turn(); // the page's; then whoever has more of the same rank is back in line
        }
        this.#isWorking = false;
    }

    /** The next piece of those that are not stale. */
    #take(): Piece | undefined {
        this.#waiting = this.#waiting.filter(({ signal }) => !signal.aborted);
        const least = Math.min(...this.#waiting.map(({ rank }) => rank));
        const place = this.#waiting.findIndex(({ rank }) => rank === least);
        return this.#waiting.splice(place, Number(place >= 0))[0];
    }

    async #carryOut({ work, signal, reject }: Piece): Promise<void> {
        try {
            const attn = await this.#ready();
            if (await isLate(work(attn), signal)) this.#restart(attn);
        } catch (error) {
            reject(error); // there is no worker to be had
        }
    }

    #restart(attn: Attn): void {
        attn.dispose();
        this.#attn = this.#started();
    }

    /** One that did not start is tried again by the next piece: what was missing may be there by then. */
    async #ready(): Promise<Attn> {
        const attn = (this.#attn ??= this.#started());
        try {
            return await attn;
        } catch (error) {
            this.#attn = null;
            throw error;
        }
    }

    async #started(): Promise<Attn> {
        const attn = await init();
        for (const file of this.#plugins) await load(attn, file);
        return attn;
    }
}

function load(attn: Attn, { name, bytes }: ArrayFile): Promise<Plugin> {
    return attn.loadPlugin(bytes, { name });
}

/** Is it the error of a call whose worker has ended by itself? */
function hasEnded(error: unknown): boolean {
    return error instanceof AttnError && error.code === "ATTN_ERROR_LOAD";
}

/** What a worker holds, made anew for each. */
export class PerWorker<T> {
    #made: { attn: Attn; value: Promise<T> } | null = null;
    #make: (attn: Attn) => Promise<T>;

    constructor(make: (attn: Attn) => Promise<T>) {
        this.#make = make;
    }

    on(attn: Attn): Promise<T> {
        if (this.#made?.attn !== attn) this.#made = { attn, value: this.#make(attn) };
        return this.#made.value;
    }

    /** Gives back what there is. */
    discard(free: (value: T) => void): void {
        this.#made?.value.then(free, () => undefined); // else it was never made
        this.#made = null;
    }
}

/** Has this not ended some time after the signal was aborted? */
async function isLate(done: Promise<void>, signal: AbortSignal): Promise<boolean> {
    const over = new AbortController();
    const late = new Promise<true>((resolve) => {
        const wait = () => setTimeout(resolve, patience, true);
        if (signal.aborted) wait();
        else signal.addEventListener("abort", wait, { signal: over.signal });
    });
    const result = await Promise.race([done.then(() => false), late]);
    over.abort();
    return result;
}
