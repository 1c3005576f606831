/* libattn for Node. */
import { makeFullInit } from "./full.js";
import { readUrl } from "./read.js";
import { makeOpenTeam } from "./team.js";

export { AttnError } from "./errors.js";
export const init = makeFullInit({ readUrl, openTeam: makeOpenTeam(startThread) });

/** Resolves when the thread has begun. It keeps no process alive. */
async function startThread(job) {
    const { Worker } = await import("node:worker_threads"); // 1 ms that most programs never need
    return new Promise((resolve, reject) => {
        const file = new URL("./thread-node.js", import.meta.url);
        const worker = new Worker(file, { workerData: job, execArgv: [] });
        worker.once("error", reject);
        worker.once("message", () => {
            worker.unref();
            resolve();
        });
    });
}
