/* Starts threads in a browser. */

/** Resolves when the thread has begun. */
export function startThread(job) {
    return new Promise((resolve, reject) => {
        const worker = new Worker(new URL("../../threads/thread.js", import.meta.url), {
            type: "module",
        });
        worker.onmessage = resolve;
        worker.onerror = (event) => reject(new Error(event.message ?? "a worker did not start"));
        worker.postMessage(job);
    });
}
