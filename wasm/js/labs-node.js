/* libattn/labs for Node. */
import { Worker } from "worker_threads"; // without "node:", so that webpack sees the worker
import { makeLabs } from "./labs-run.js";
import { listen } from "./listen-node.js";
import { readUrl } from "./read.js";

export { AttnError } from "./errors.js";

export const { labs, lab } = makeLabs({
    readUrl,
    startWorker({ onMessage, onError }) {
        const worker = new Worker(new URL("./labs-worker-node.js", import.meta.url), {
            execArgv: [], // the process's own, such as --input-type, may be none for a thread
        });
        const stop = listen(worker, { onMessage, onError });
        return { post: (message) => worker.postMessage(message), stop };
    },
});
