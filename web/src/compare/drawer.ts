/** Settings, which stand beside the pictures where there is room, and else in a drawer. */

import { find } from "../dom/dom";

export class Drawer {
    #root = find(document, "#settings", HTMLElement);
    #button = find(document, "#open-settings", HTMLButtonElement);

    constructor() {
        this.#button.addEventListener("click", () => (this.#isOpen ? this.close() : this.open()));
        find(this.#root, ".close", HTMLButtonElement).addEventListener("click", () => this.close());
        this.#root.addEventListener("keydown", (event) => {
            if (event.key !== "Escape" || event.defaultPrevented || !this.#isOpen) return;
            event.preventDefault();
            this.close();
        });
    }

    get #isOpen(): boolean {
        return this.#button.ariaExpanded === "true";
    }

    /** `at`: what is looked for in it; by default it is its first field. */
    open(at: string | null = null): void {
        this.#set(true);
        const sought = at === null ? null : this.#root.querySelector<HTMLElement>(at);
        sought?.scrollIntoView({ block: "nearest" });
        (sought ?? find(this.#root, ".close", HTMLButtonElement)).focus();
    }

    close(): void {
        this.#set(false);
        this.#button.focus();
    }

    #set(isOpen: boolean): void {
        this.#button.ariaExpanded = String(isOpen);
        this.#root.classList.toggle("open", isOpen);
    }
}
