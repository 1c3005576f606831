/* Starts the worker of libattn-labs in a browser. Bundlers look for the whole expression. */
import { workerOfWeb } from "../../../js/platform/web/worker.js";

export function openLabs(listeners) {
    const worker = new Worker(new URL("../lab/labs-worker.js", import.meta.url), {
        type: "module",
    });
    return workerOfWeb(worker, listeners);
}
