/*
 * The library in a worker. Jobs wait here and go over one at a time; a job that is aborted while it
 * runs ends its worker, and the next one starts another. So nothing is waited for, whatever it does.
 */
import { checkOptions } from "./check.js";
import { AttnError, disposed } from "./errors.js";

export class Remote {
    #start;
    #options;
    #backends;
    #worker = null;
    #running = null;
    #waiting = [];
    #disposed = false;

    /** `start({ onMessage, onError })` gives a new worker: { post(message), end() }. */
    constructor(start, options) {
        this.#start = start;
        this.#options = options;
    }

    async open() {
        const { about, backends } = await this.#job("init", [this.#options], {});
        this.#backends = backends;
        return Object.freeze(Object.assign(this, about));
    }

    backends() {
        if (this.#disposed) throw disposed("libattn");
        return structuredClone(this.#backends);
    }

    async attention(query, key, value, options = {}) {
        const { signal, onProgress, out, ...rest } = options;
        if (signal !== undefined && typeof signal?.throwIfAborted !== "function") {
            throw new TypeError("signal must be an AbortSignal");
        }
        if (onProgress !== undefined && typeof onProgress !== "function") {
            throw new TypeError("onProgress must be a function");
        }
        const result = await this.#job("attention", [query, key, value, rest], {
            signal,
            onProgress,
        });
        if (out === undefined) return result;
        if (out.byteLength !== result.byteLength) {
            const message = `out has ${out.length} elements, not ${result.length}`;
            throw new AttnError("ATTN_ERROR_SHAPE", message);
        }
        new result.constructor(out.buffer, out.byteOffset, result.length).set(result);
        return out;
    }

    dispose() {
        this.#disposed = true;
        this.#endWorker();
        const jobs = [this.#running, ...this.#waiting.splice(0)];
        this.#running = null;
        for (const job of jobs) job?.reject(disposed("libattn"));
    }

    #job(call, args, { signal, onProgress }) {
        return new Promise((resolve, reject) => {
            if (this.#disposed) throw disposed("libattn");
            signal?.throwIfAborted();
            const abort = () => this.#abort(job);
            const settle = (how) => (value) => {
                signal?.removeEventListener("abort", abort);
                how(value);
            };
            const job = { call, args, signal, onProgress };
            job.resolve = settle(resolve);
            job.reject = settle(reject);
            signal?.addEventListener("abort", abort);
            this.#waiting.push(job);
            this.#next();
        });
    }

    #next() {
        if (this.#running !== null || this.#waiting.length === 0) return;
        const job = (this.#running = this.#waiting.shift());
        const fresh = this.#worker === null;
        this.#worker ??= this.#start({
            onMessage: (message) => this.#receive(message),
            onError: (cause) => {
                this.#endWorker();
                const message = `the worker ended: ${cause.message}`;
                this.#finish()?.reject(new AttnError("ATTN_ERROR_LOAD", message, { cause }));
            },
        });
        try {
            if (fresh && job.call !== "init") {
                job.skip = true; // the answer to this is not the job's
                this.#worker.post({ call: "init", args: [this.#options] });
            }
            this.#worker.post({ call: job.call, args: job.args });
        } catch (error) {
            this.#finish().reject(error); // what cannot be cloned
        }
    }

    #receive({ progress, result, error }) {
        const job = this.#running;
        if (job === null) return;
        if (progress !== undefined) return job.onProgress?.(progress);
        if (job.skip && error === undefined) {
            job.skip = false;
            return;
        }
        this.#finish();
        if (error !== undefined) return job.reject(revive(error));
        if (job.call === "attention") job.onProgress?.(1);
        job.resolve(result);
    }

    /** The job that ran; the next one starts. */
    #finish() {
        const job = this.#running;
        this.#running = null;
        this.#next();
        return job;
    }

    #abort(job) {
        if (this.#running === job) {
            this.#endWorker();
            this.#finish();
        } else {
            this.#waiting = this.#waiting.filter((other) => other !== job);
        }
        job.reject(job.signal.reason);
    }

    #endWorker() {
        this.#worker?.end();
        this.#worker = null;
    }
}

if (Symbol.dispose) Remote.prototype[Symbol.dispose] = Remote.prototype.dispose;

function revive({ name, code, message }) {
    if (name === "AttnError") return new AttnError(code, message);
    return name === "TypeError" ? new TypeError(message) : new Error(message);
}

/** init() on a platform. */
export function makeRemoteInit(start) {
    return async function init(options = {}) {
        checkOptions(options, ["build", "threads"], "init");
        const remote = new Remote(start, options);
        try {
            return await remote.open();
        } catch (error) {
            remote.dispose();
            throw error;
        }
    };
}
