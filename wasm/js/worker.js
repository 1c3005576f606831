/* libattn/worker for browsers. Node's entry is worker-node.js. */
import { fetchBytes } from "./loader.js";
import { makeRemoteInit } from "./remote-attn.js";
import { workerOfWeb } from "./worker-of-web.js";

export { AttnError } from "./errors.js";
export const init = makeRemoteInit((listeners) => {
    const worker = new Worker(new URL("./served.js", import.meta.url), { type: "module" });
    return workerOfWeb(worker, listeners);
}, fetchBytes);
