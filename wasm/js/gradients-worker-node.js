/* libattn/gradients/worker for Node. */
import { Worker } from "worker_threads"; // without "node:", so that webpack sees the worker
import { makeGradientsRemoteInit } from "./gradients-remote.js";
import { readUrl } from "./read.js";
import { workerOfNode } from "./worker-of-node.js";

export { AttnError } from "./errors.js";
export const init = makeGradientsRemoteInit((listeners) => {
    const url = new URL("./gradients-served-node.js", import.meta.url);
    return workerOfNode(new Worker(url, { execArgv: [] }), listeners);
}, readUrl);
