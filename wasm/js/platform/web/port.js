/* A worker's side of its connection to the page. */

export const post = (message, transfer) => postMessage(message, transfer);

export function listen(receive) {
    addEventListener("message", ({ data }) => receive(data));
}

/** Does what the first message asks for, and ends. */
export function takeJob(work) {
    const take = async ({ data }) => {
        await work(data);
        close();
    };
    addEventListener("message", take, { once: true });
}
