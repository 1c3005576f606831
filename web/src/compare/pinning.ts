/** The query that is looked at step by step. */

import { nameOf } from "../map/axes";
import { find } from "../dom/dom";
import { isHeatmap } from "../map/heatmap";
import type { Pin } from "../row/place";
import type { Summary } from "../state/types";
import { words } from "../words/words";

export class Pinning {
    /** As it was asked for: the input may not have it. */
    asked: Pin | null = null;
    #holder = find(document, "#pin", HTMLElement);
    /** Where the reader was. */
    #from: Element | null = null;
    #summary: () => Summary | null;

    /** `summary`: of the input; null while there is none. */
    constructor(summary: () => Summary | null, onClose: () => void) {
        this.#summary = summary;
        const close = () => {
            const back = this.#from ?? document.querySelector(".enlarged canvas, .picture canvas");
            onClose();
            if (back instanceof HTMLElement) back.focus({ preventScroll: true }); // the button is gone
        };
        find(this.#holder, "button", HTMLButtonElement).onclick = close;
        document.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && !event.defaultPrevented && this.pin) close();
        });
    }

    /** The pinned query, as far as the input has it. */
    get pin(): Pin | null {
        const { queries = 0, keys = 0 } = this.#summary()?.shape ?? {};
        const pin = this.asked;
        return pin && pin.query < queries && pin.key < keys ? pin : null;
    }

    /** How it is called. */
    get name(): string | null {
        const { pin } = this;
        return pin && nameOf(pin.query, this.#summary()?.tokens ?? null);
    }

    /** Ask for another one, from the picture that has the focus. */
    ask(pin: Pin | null): void {
        this.asked = pin;
        this.#from = isHeatmap(document.activeElement) ? document.activeElement : null;
    }

    /** Say which one it is; of an input without it none is. */
    show(): void {
        const { shape, tokens } = this.#summary() ?? {};
        const { pin } = this;
        this.#holder.hidden = pin === null;
        if (!pin || !shape) return;
        const name = nameOf(pin.query, tokens ?? null);
        find(this.#holder, "span", HTMLElement).textContent = words.row.pinned(name, pin.query);
    }
}
