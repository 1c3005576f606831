/* libattn/labs for browsers. Node's entry is labs-node.js. */
import { fetchBytes } from "./loader.js";
import { makeLabs } from "./labs-run.js";
import { workerOfWeb } from "./worker-of-web.js";

export { AttnError } from "./errors.js";
export const { init, labs, lab } = makeLabs((listeners) => {
    const worker = new Worker(new URL("./labs-worker.js", import.meta.url), { type: "module" });
    return workerOfWeb(worker, listeners);
}, fetchBytes);
