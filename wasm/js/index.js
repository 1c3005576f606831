/* libattn for browsers, workers and whatever has fetch(). Node's entry is node.js. */
import { makeFullInit } from "./full.js";
import { makeOpenPool } from "./pool.js";

export { AttnError } from "./errors.js";
export const init = makeFullInit({ openPool: makeOpenPool(startThread) });

/** Resolves when the thread has begun. */
function startThread(job) {
    return new Promise((resolve, reject) => {
        const worker = new Worker(new URL("./thread.js", import.meta.url), { type: "module" });
        worker.onmessage = resolve;
        worker.onerror = (event) => reject(new Error(event.message ?? "a worker did not start"));
        worker.postMessage(job);
    });
}
