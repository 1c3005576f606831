/* What is heard of a worker in Node. */

/** Also an end without an error, which would leave its job unsettled. Returns what ends the worker. */
export function listen(worker, { onMessage, onError }) {
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
    return end;
}
