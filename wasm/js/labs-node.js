/* libattn/labs for Node. */
import { readFile } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { makeLabs } from "./labs-run.js";

export { AttnError } from "./errors.js";

export const { labs, lab } = makeLabs({
    readUrl: readFile,
    startWorker({ onMessage, onError }) {
        const worker = new Worker(new URL("./labs-worker-node.js", import.meta.url), {
            execArgv: [], // the process's own, such as --input-type, may be none for a thread
        });
        worker.on("message", onMessage).on("messageerror", onError).on("error", onError);
        return {
            post: (message) => worker.postMessage(message),
            stop: () => void worker.terminate(),
        };
    },
});
