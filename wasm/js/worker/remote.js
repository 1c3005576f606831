/*
 * The protocol between a program and its worker, from the program's side: serve.js is the other one.
 *
 *   to the worker      ["open", options]       first of all
 *                      ["call", id, target, method, args, watched]
 *                                              a method of what has the id `target`; 0: the root
 *                      ["cancel", id]          nobody waits for this call any more
 *                      ["release", id]         nor needs what it made
 *   from the worker    ["progress", id, done]  so much of a call that is watched
 *                      ["result", id, value, made, state]
 *                                              `made`: what is told of a result that stays in the worker,
 *                                              with the call's id; `state`: of the target
 *                      ["error", id, error]    { name, code, message }
 *                      ["unstarted", id, error]
 *                                              the worker's, which is of no use
 *
 * Calls wait here and go over one at a time. Each has one answer, which is its own, and an ended worker
 * is not heard, whatever it has sent before. A call that is aborted while it runs ends its worker, and
 * the next one starts another: so nothing is waited for. Where something is held in the worker, that
 * would be lost: there the call is let go, and the worker goes on when it has finished.
 */
import { AttnError, disposed, notLoaded } from "../problem/errors.js";

const UNWATCHED = { __proto__: null };

export class Remote {
    #start;
    #options;
    #worker = null;
    #running = null;
    #waiting = [];
    #held = new Set(); // what held.js frees
    #count = 0;
    #disposed = false;

    /**
     * `start({ onMessage, onError })` gives a new worker: { post(message, transfer), end(), work(isBusy) },
     * the last of which is told whether there is something to wait for.
     */
    constructor(start, options) {
        this.#start = start;
        this.#options = options;
    }

    /* What held.js asks of a session. */

    adopt(held) {
        this.#held.add(held);
    }

    forget(held) {
        this.#held.delete(held);
    }

    /** The answer of a call: { id, value, made, state }. */
    call(target, method, args = [], transfer = [], { signal, onProgress } = UNWATCHED) {
        return new Promise((resolve, reject) => {
            this.check();
            signal?.throwIfAborted();
            const watched = Boolean(signal || onProgress);
            const id = ++this.#count;
            const message = ["call", id, target, method, args, watched];
            const job = { id, message, transfer, onProgress, isOver: false };
            const abort = () => this.#stop(job, signal.reason);
            const settle = (how) => (value) => {
                signal?.removeEventListener("abort", abort);
                job.isOver = true;
                how(value);
            };
            job.resolve = settle(resolve);
            job.reject = settle(reject);
            signal?.addEventListener("abort", abort);
            this.#waiting.push(job);
            this.#next();
        });
    }

    /** Frees what a call has made, after the calls that there are already. */
    release(id) {
        if (this.#disposed) return;
        this.#waiting.push({ message: ["release", id], reject: null });
        this.#next();
    }

    check() {
        if (this.#disposed) throw disposed("libattn");
    }

    dispose() {
        this.#disposed = true;
        this.#endWorker();
        const jobs = [this.#running, ...this.#waiting.splice(0)];
        this.#running = null;
        for (const job of jobs) job?.reject?.(disposed("libattn"));
    }

    #next() {
        while (this.#running === null && this.#waiting.length > 0) {
            const job = this.#waiting.shift();
            if (!job.reject) {
                this.#worker?.post(job.message); // a release: nothing is left of an ended worker
                continue;
            }
            this.#running = job;
            try {
                this.#worker ??= this.#started();
                this.#worker.post(job.message, job.transfer);
                this.#worker.work(true);
            } catch (error) {
                this.#running = null;
                job.reject(error); // its file was left behind
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
            const worker = this.#start({
                onMessage: heard((message) => this.#receive(message)),
                onError: heard((cause) => this.#failed(notLoaded(cause))),
            });
            worker.post(["open", this.#options]);
            const end = () => {
                ended = true;
                worker.end();
            };
            return { ...worker, end };
        } catch (cause) {
            throw notLoaded(cause);
        }
    }

    #receive([kind, id, value, made, state]) {
        const job = this.#running;
        if (id !== job?.id) return;
        if (kind === "progress") this.#tell(job, value);
        else if (kind === "unstarted") this.#failed(revive(value));
        else if (kind === "error") this.#finish().reject(revive(value));
        else if (this.#tell(job, 1)) this.#finish().resolve({ id, value, made, state });
    }

    /** The worker is of no use; the next job starts another. */
    #failed(error) {
        this.#endWorker();
        this.#finish()?.reject(error);
    }

    /** Calls onProgress; where that throws, the job has failed. Does it still run? */
    #tell(job, done) {
        try {
            if (!job.isOver) job.onProgress?.(done);
        } catch (error) {
            this.#stop(job, error);
        }
        return this.#running === job; // it may have aborted the job
    }

    /** The job that ran; the next one starts. */
    #finish() {
        const job = this.#running;
        this.#running = null;
        this.#worker?.work(false);
        this.#next();
        return job;
    }

    #stop(job, reason) {
        job.reject(reason);
        if (this.#running !== job) {
            this.#waiting = this.#waiting.filter((other) => other !== job);
        } else if (this.#held.size > 0) {
            this.#worker.post(["cancel", job.id]);
        } else {
            this.#endWorker();
            this.#finish();
        }
    }

    #endWorker() {
        this.#worker?.end();
        this.#worker = null;
        for (const held of this.#held) held.dispose();
    }
}

function revive({ name, code, message }) {
    if (name === "AttnError") return new AttnError(code, message);
    return name === "TypeError" ? new TypeError(message) : new Error(message);
}
