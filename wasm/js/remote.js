/*
 * The library in a worker. Jobs wait here and go over one at a time; a job that is aborted while it
 * runs ends its worker, and the next one starts another. So nothing is waited for, whatever it does.
 */
import { readAttention } from "./call.js";
import { isTensor } from "./check.js";
import { AttnError, disposed, notLoaded, store } from "./errors.js";
import { compile, readInit } from "./loader.js";

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
        const { about, backends } = await this.#job("init", this.#options, {});
        this.#backends = backends;
        return Object.freeze(Object.assign(this, about));
    }

    backends() {
        if (this.#disposed) throw disposed("libattn");
        return structuredClone(this.#backends);
    }

    /** Whatever is wrong with the arguments is said here, by the same checks as without a worker. */
    async attention(...args) {
        const call = readAttention(args, ["signal", "onProgress"]);
        const computed = await this.#job("attention", message(call), call.options);
        return call.result(delivered(computed, call.job.outputs));
    }

    dispose() {
        this.#disposed = true;
        this.#endWorker();
        const jobs = [this.#running, ...this.#waiting.splice(0)];
        this.#running = null;
        for (const job of jobs) job?.reject(disposed("libattn"));
    }

    #job(call, argument, { signal, onProgress }) {
        return new Promise((resolve, reject) => {
            if (this.#disposed) throw disposed("libattn");
            signal?.throwIfAborted();
            const abort = () => this.#stop(job, signal.reason);
            const settle = (how) => (value) => {
                signal?.removeEventListener("abort", abort);
                how(value);
            };
            const job = { call, argument, onProgress };
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
        this.#worker ??= this.#started({
            onMessage: (message) => this.#receive(message),
            onError: (cause) => {
                this.#endWorker();
                this.#finish()?.reject(notLoaded(cause));
            },
        });
        try {
            if (fresh && job.call !== "init") {
                job.skip = true; // the answer to this is not the job's
                this.#worker.post(["init", this.#options]);
            }
            this.#worker.post([job.call, job.argument]);
        } catch (error) {
            this.#finish().reject(error); // what cannot be cloned
        }
    }

    /** A worker, or what stands for one that cannot be: its file was left behind. */
    #started(listeners) {
        try {
            return this.#start(listeners);
        } catch (cause) {
            const post = () => {
                throw notLoaded(cause);
            };
            return { post, end() {} };
        }
    }

    #receive([kind, value]) {
        const job = this.#running;
        if (job === null) return;
        if (kind === "progress") return this.#tell(job, value);
        if (job.skip && kind === "result") {
            job.skip = false;
            return;
        }
        if (kind === "error") return this.#finish().reject(revive(value));
        if (job.call === "attention" && !this.#tell(job, 1)) return;
        this.#finish().resolve(value);
    }

    /** Calls onProgress; where that throws, the job has failed. */
    #tell(job, done) {
        try {
            job.onProgress?.(done);
        } catch (error) {
            this.#stop(job, error);
        }
        return this.#running === job; // it may have aborted the job
    }

    /** The job that ran; the next one starts. */
    #finish() {
        const job = this.#running;
        this.#running = null;
        this.#next();
        return job;
    }

    #stop(job, reason) {
        if (this.#running === job) {
            this.#endWorker();
            this.#finish();
        } else {
            this.#waiting = this.#waiting.filter((other) => other !== job);
        }
        job.reject(reason);
    }

    #endWorker() {
        this.#worker?.end();
        this.#worker = null;
    }
}

if (Symbol.dispose) Remote.prototype[Symbol.dispose] = Remote.prototype.dispose;

/** A call as one object that can be cloned, all sizes said: arrays are copies, unless of shared memory. */
function message({ problem, options, arrays, job: { given, outputs } }) {
    const call = { __proto__: null, ...options, ...problem.sizes };
    for (const name of ["signal", "onProgress", "out"]) delete call[name];
    for (const name in given) {
        const { array } = name === "kvLengths" ? arrays[name] : given[name];
        const data = copied(array, name);
        const isGrid = name === "bias" || name === "mask";
        call[name] = isGrid ? { data, shape: given[name].shape } : data;
    }
    for (const name in outputs) {
        if (outputs[name].gaps) call[name] = copied(outputs[name].array, name);
        else if (name !== "out") call[name] = true;
    }
    return call;
}

function copied(array, name) {
    if (isTensor(array)) {
        const why = "is a tensor, which is another instance's: pass its data";
        throw new AttnError("ATTN_ERROR_ARGUMENT", `${name} ${why}`);
    }
    const shared = Object.prototype.toString.call(array.buffer) === "[object SharedArrayBuffer]";
    return shared ? array : array.slice();
}

/** What a run computed, written to the arrays that were given for it. */
function delivered(computed, outputs) {
    for (const name in outputs) {
        const { array, given } = outputs[name];
        if (array === undefined) continue;
        const { buffer, byteOffset, length } = computed[name];
        store(new array.constructor(buffer, byteOffset, length), array, name); // f16 has two classes
        computed[name] = given;
    }
    return computed;
}

function revive({ name, code, message }) {
    if (name === "AttnError") return new AttnError(code, message);
    return name === "TypeError" ? new TypeError(message) : new Error(message);
}

/** init() on a platform. */
export function makeRemoteInit(start, readUrl) {
    return async function init(given) {
        const options = readInit(given, null, ["build", "threads"]);
        const { source } = options;
        if (source) options.source = await compile(await source, readUrl);
        const remote = new Remote(start, options);
        try {
            return await remote.open();
        } catch (error) {
            remote.dispose();
            throw error;
        }
    };
}
