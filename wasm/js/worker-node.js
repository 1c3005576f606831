/* libattn/worker for Node. */
import { Worker } from "worker_threads"; // without "node:", so that webpack sees the worker
import { readUrl } from "./read.js";
import { makeRemoteInit } from "./remote-attn.js";
import { workerOfNode } from "./worker-of-node.js";

export { AttnError } from "./errors.js";
export const init = makeRemoteInit((listeners) => {
    const worker = new Worker(new URL("./served-node.js", import.meta.url), { execArgv: [] });
    return workerOfNode(worker, listeners);
}, readUrl);
