/** What every page that computes does first. */

import { find } from "../dom/dom";
import { keep } from "./keep";
import { takeAlong } from "./language";
import { startTop } from "./top";

/** The page runs: it does not say any more that it has not started, and is kept for the next visit. */
export function start(): void {
    find(document, ".unstarted", HTMLElement).remove();
    startTop();
    takeAlong();
    keep();
}
