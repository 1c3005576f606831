/* libattn/worker for browsers. Node's entry is worker-node.js. */
import { fetchBytes } from "./loader.js";
import { makeRemoteInit } from "./remote.js";

export { AttnError } from "./errors.js";
export const init = makeRemoteInit(({ onMessage, onError }) => {
    const worker = new Worker(new URL("./served.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => onMessage(data);
    worker.onerror = ({ message }) => onError(new Error(message ?? "it did not start"));
    return {
        post: (message) => worker.postMessage(message),
        end: () => worker.terminate(),
    };
}, fetchBytes);
