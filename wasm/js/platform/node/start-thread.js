/* Starts a thread in Node. */
import { Worker } from "worker_threads"; // without "node:", so that webpack sees the worker

/** Resolves when the thread has begun. It keeps no process alive. */
export function startThread(job) {
    return new Promise((resolve, reject) => {
        const worker = new Worker(new URL("../../threads/thread.js", import.meta.url), {
            workerData: job,
            execArgv: [],
        });
        worker.once("error", reject);
        worker.once("exit", () => reject(new Error("it ended at once")));
        worker.once("message", () => {
            worker.unref();
            resolve();
        });
    });
}
