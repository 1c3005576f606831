/* Starts the worker of libattn-labs in Node. */
import { Worker } from "worker_threads"; // without "node:", so that webpack sees the worker
import { workerOfNode } from "../../../js/platform/node/worker.js";

export function openLabs(listeners) {
    // The process's own execArgv, such as --input-type, may be none for a thread.
    const worker = new Worker(new URL("../lab/labs-worker.js", import.meta.url), {
        execArgv: [],
    });
    return workerOfNode(worker, listeners);
}
