/* libattn/labs for browsers. Node's entry is labs-node.js. */
import { fetchBytes } from "./loader.js";
import { makeLabs } from "./labs-run.js";

export { AttnError } from "./errors.js";

export const { labs, lab } = makeLabs({
    readUrl: fetchBytes,
    startWorker({ onMessage, onError }) {
        const worker = new Worker(new URL("./labs-worker.js", import.meta.url), { type: "module" });
        worker.onmessage = ({ data }) => onMessage(data);
        worker.onerror = (event) => {
            event.preventDefault();
            onError(event);
        };
        return {
            post: (message) => worker.postMessage(message),
            stop: () => worker.terminate(),
        };
    },
});
