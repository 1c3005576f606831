/** A part of the page that is folded away, and whose program comes when it is opened for the first time. */

import { find, message } from "../dom/dom";

interface Part {
    refresh(): void;
}

export class OnOpening<Made extends Part> {
    /** null: it has not been opened, or is still to come. */
    part: Made | null = null;
    #details: HTMLDetailsElement;
    #make: () => Promise<Made>;
    #isComing = false;

    /** `onToggle`: told of what happens before the part is there, and can tell by itself. */
    constructor(id: string, onToggle: () => void, make: () => Promise<Made>) {
        this.#make = make;
        this.#details = find(document, `#${id}`, HTMLDetailsElement);
        this.#details.addEventListener("toggle", () => {
            if (this.part) return;
            onToggle();
            if (this.isOpen && !this.#isComing) void this.#come();
        });
    }

    get isOpen(): boolean {
        return this.#details.open;
    }

    set isOpen(isOpen: boolean) {
        this.#details.open = isOpen;
    }

    /** Where it does not come, opening it again is another try. */
    async #come(): Promise<void> {
        this.#isComing = true;
        this.#details.ariaBusy = "true";
        try {
            this.part = await this.#make();
        } catch (error) {
            find(this.#details, ".figure", HTMLElement).replaceChildren(message(error));
        }
        this.#isComing = false;
        this.#details.ariaBusy = "false";
        this.part?.refresh();
    }
}
