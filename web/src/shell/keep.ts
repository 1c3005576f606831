/** For visits without a network. */

/**
 * The browser keeps all pages' files, once this one is there. Where it does not, as from a server that has no such
 * file, the page is as it is.
 */
export function keep(): void {
    if (!("serviceWorker" in navigator)) return; // not from every address
    if (document.readyState === "complete") register();
    else addEventListener("load", register);
}

function register(): void {
    navigator.serviceWorker.register("service-worker.js").catch(() => undefined);
}
