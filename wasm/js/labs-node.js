/* libattn/labs for Node. */
import { Worker } from "worker_threads"; // without "node:", so that webpack sees the worker
import { makeLabs } from "./labs-run.js";
import { readUrl } from "./read.js";
import { workerOfNode } from "./worker-of-node.js";

export { AttnError } from "./errors.js";
export const { init, labs, lab } = makeLabs((listeners) => {
    const worker = new Worker(new URL("./labs-worker-node.js", import.meta.url), {
        execArgv: [], // the process's own, such as --input-type, may be none for a thread
    });
    return workerOfNode(worker, listeners);
}, readUrl);
