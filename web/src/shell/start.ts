/** What every page does first. */

import { find } from "../dom";

/** The page runs: it does not say any more that it has not started, and is kept for the next visit. */
export function start(): void {
    find(document, ".unstarted", HTMLElement).remove();
    if (document.readyState === "complete") keep();
    else addEventListener("load", keep);
}

/**
 * The browser keeps all pages' files, for visits without a network. Where it does not, as from a server
 * that has no such file, the page is as it is.
 */
function keep(): void {
    if (!("serviceWorker" in navigator)) return; // not from every address
    navigator.serviceWorker.register("service-worker.js").catch(() => undefined);
}
