/* Node's worker threads as remote.js wants a worker. */

/** Also an end without an error is heard, which would leave its call unsettled. */
export function workerOfNode(worker, { onMessage, onError }) {
    let ended = false;
    const end = () => {
        ended = true;
        worker.terminate();
    };
    const fail = (error) => {
        if (ended) return;
        end();
        onError(error);
    };
    worker.on("message", onMessage).on("messageerror", fail).on("error", fail);
    worker.on("exit", () => fail(new Error("a worker ended without an answer")));
    worker.unref();
    return {
        post: (message, transfer) => worker.postMessage(message, transfer),
        end,
        /* It keeps the process alive while a call runs, and no longer. */
        work: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
    };
}
