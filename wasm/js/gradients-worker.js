/* libattn/gradients/worker for browsers. Node's entry is gradients-worker-node.js. */
import { makeGradientsRemoteInit } from "./gradients-remote.js";
import { fetchBytes } from "./loader.js";
import { workerOfWeb } from "./worker-of-web.js";

export { AttnError } from "./errors.js";
export const init = makeGradientsRemoteInit((listeners) => {
    const worker = new Worker(new URL("./gradients-served.js", import.meta.url), {
        type: "module",
    });
    return workerOfWeb(worker, listeners);
}, fetchBytes);
