/** What every page that computes does first. */

import { find } from "../dom";
import { keep } from "./keep";

/** A way to another language takes along what the page's address says, and is remembered for other pages. */
function takeAlong(link: HTMLAnchorElement): void {
    link.addEventListener("click", () => {
        const query = new URLSearchParams(location.hash.slice(1));
        query.set("lang", link.lang);
        link.hash = query.toString();
        try {
            localStorage.setItem("language", link.lang);
        } catch {
            // a browser that keeps nothing
        }
    });
}

/** The page runs: it does not say any more that it has not started, and is kept for the next visit. */
export function start(): void {
    find(document, ".unstarted", HTMLElement).remove();
    document.querySelectorAll<HTMLAnchorElement>(".language a").forEach(takeAlong);
    keep();
}
