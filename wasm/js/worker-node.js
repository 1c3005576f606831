/* libattn/worker for Node. */
import { Worker } from "worker_threads"; // without "node:", so that webpack sees the worker
import { listen } from "./listen-node.js";
import { readUrl } from "./read.js";
import { makeRemoteInit } from "./remote.js";

export { AttnError } from "./errors.js";

/* It keeps the process alive while a job runs, and no longer. */
export const init = makeRemoteInit(({ onMessage, onError }) => {
    const worker = new Worker(new URL("./served-node.js", import.meta.url), { execArgv: [] });
    worker.unref();
    const answered = (message) => {
        if (message[0] !== "progress") worker.unref();
        onMessage(message);
    };
    const end = listen(worker, { onMessage: answered, onError });
    return {
        post: (message) => {
            worker.postMessage(message);
            worker.ref();
        },
        end,
    };
}, readUrl);
