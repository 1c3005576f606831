/** The task that is under way ends, and what is left is another. */

const { port1, port2 } = new MessageChannel();
const waiting: (() => void)[] = [];
port1.onmessage = () => waiting.shift()?.();

/** Lets the page do what has waited meanwhile: timers are too slow for that. */
export function turn(): Promise<void> {
    return new Promise((resolve) => {
        waiting.push(resolve);
        port2.postMessage(null);
    });
}
