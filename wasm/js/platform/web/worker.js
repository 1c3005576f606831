/* A browser's workers as remote.js wants a worker. */

export function workerOfWeb(worker, { onMessage, onError }) {
    worker.onmessage = ({ data }) => onMessage(data);
    worker.onmessageerror = () => onError(new Error("a worker's message cannot be read"));
    worker.onerror = (event) => {
        event.preventDefault();
        onError(new Error(event.message ?? "a worker did not start"));
    };
    return {
        post: (message, transfer) => worker.postMessage(message, transfer),
        end: () => worker.terminate(),
        work() {},
    };
}
