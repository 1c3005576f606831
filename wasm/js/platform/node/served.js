/* Starts the worker of libattn/worker in Node. */
import { Worker } from "worker_threads"; // without "node:", so that webpack sees the worker
import { workerOfNode } from "./worker.js";

export function openServed(listeners) {
    // The process's own execArgv, such as --input-type, may be none for a thread.
    const worker = new Worker(new URL("../../worker/served.js", import.meta.url), { execArgv: [] });
    return workerOfNode(worker, listeners);
}
