/** The task that is under way ends, and what is left is another. */

/** Lets the page do what has waited meanwhile: timers are too slow for that. */
export function turn(): Promise<void> {
    const { port1, port2 } = new MessageChannel();
    return new Promise((resolve) => {
        port1.onmessage = () => {
            port1.close();
            resolve();
        };
        port2.postMessage(null);
    });
}
