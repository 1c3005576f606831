/*
 * The library in a worker. Jobs wait here and go over one at a time; a job that is aborted while it
 * runs ends its worker, and the next one starts another. So nothing is waited for, whatever it does.
 * Each job has one answer, which is its own: it goes out as one message, and an ended worker is not
 * heard, whatever it has sent before.
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
        const { about, backends } = await this.#job("about", null, { __proto__: null });
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
        while (this.#running === null && this.#waiting.length > 0) {
            const job = (this.#running = this.#waiting.shift());
            try {
                this.#worker ??= this.#started();
                this.#worker.post([this.#options, job.call, job.argument]);
            } catch (error) {
                this.#running = null;
                job.reject(error); // its file was left behind, or what cannot be cloned
            }
        }
    }

    /** A worker that is heard until it ends: Node's send what is still under way. */
    #started() {
        let ended = false;
        const heard = (listener) => (what) => {
            if (!ended) listener(what);
        };
        try {
            const { post, end } = this.#start({
                onMessage: heard((message) => this.#receive(message)),
                onError: heard((cause) => this.#failed(notLoaded(cause))),
            });
            const stop = () => {
                ended = true;
                end();
            };
            return { post, end: stop };
        } catch (cause) {
            throw notLoaded(cause);
        }
    }

    #receive([kind, value]) {
        const job = this.#running;
        if (kind === "progress") this.#tell(job, value);
        else if (kind === "unstarted") this.#failed(revive(value));
        else if (kind === "error") this.#finish().reject(revive(value));
        else if (this.#tell(job, 1)) this.#finish().resolve(value);
    }

    /** The worker is of no use; the next job starts another. */
    #failed(error) {
        this.#endWorker();
        this.#finish()?.reject(error);
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
        const { array, gaps } = outputs[name];
        checkOwn(array, name);
        if (gaps) call[name] = copied(array, name);
        else if (name !== "out") call[name] = true;
    }
    return call;
}

function checkOwn(array, name) {
    if (!isTensor(array)) return;
    const why = "is a tensor, which is another instance's: pass its data";
    throw new AttnError("ATTN_ERROR_ARGUMENT", `${name} ${why}`);
}

function copied(array, name) {
    checkOwn(array, name);
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
