/** How far a panel's answer is off, in one number beside its name. */

import { element } from "../dom/dom";
import { significant } from "../dom/format";
import { words } from "../words/words";

const rounding = 1e-5; // what f32 makes of exact attention is less

/** null: not known. */
export function showOff(places: readonly HTMLElement[], error: number | null): void {
    for (const place of places) {
        const value = error === null ? "" : String(error);
        const text = error === null ? "…" : offText(error);
        if (place.textContent !== text || place.firstElementChild?.getAttribute("value") !== value)
            place.replaceChildren(element("data", { value }, text));
    }
}

function offText(error: number): string {
    if (error < rounding) return words.panel.exact;
    if (!Number.isFinite(error)) return words.panel.useless;
    return words.panel.off(
        error >= 1 ? String(Math.round(100 * error)) : significant(100 * error, 2),
    );
}
