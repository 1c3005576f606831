/** For visits without a network. */

const pause = 3000; // milliseconds in which a page has the network and the processors for itself

/**
 * The browser keeps all pages' files, once this one is there. Where it does not, as from a server that has no such
 * file, the page is as it is.
 */
export function keep(): void {
    if (!("serviceWorker" in navigator)) return; // not from every address
    const wait = () => setTimeout(register, pause);
    if (document.readyState === "complete") wait();
    else addEventListener("load", wait);
}

function register(): void {
    navigator.serviceWorker.register("service-worker.js").catch(() => undefined);
}
