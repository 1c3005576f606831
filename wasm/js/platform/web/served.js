/* Starts the worker of libattn/worker in a browser. Bundlers look for the whole expression. */
import { workerOfWeb } from "./worker.js";

export function openServed(listeners) {
    const worker = new Worker(new URL("../../worker/served.js", import.meta.url), {
        type: "module",
    });
    return workerOfWeb(worker, listeners);
}
