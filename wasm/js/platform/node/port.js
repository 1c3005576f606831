/* A thread's side of its connection to the program, in Node. */
import { parentPort, workerData } from "node:worker_threads";

export const post = (message, transfer) => parentPort.postMessage(message, transfer);

export function listen(receive) {
    parentPort.on("message", receive);
}

/** Does what the thread was started for. */
export function takeJob(work) {
    return work(workerData);
}
