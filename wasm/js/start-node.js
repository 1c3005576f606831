/* Starts threads in Node. A file of its own: 1 ms that most programs never need. */
import { Worker } from "worker_threads"; // without "node:", so that webpack sees the worker

/** Resolves when the thread has begun. It keeps no process alive. */
export function startThread(job) {
    return new Promise((resolve, reject) => {
        const worker = new Worker(new URL("./thread-node.js", import.meta.url), {
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
