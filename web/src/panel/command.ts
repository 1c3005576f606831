/** The command line that computes a panel's numbers again, to copy. */

import { find, setText } from "../dom/dom";
import { words } from "../words/words";

const patience = 1500; // milliseconds that the button says what it did

export class Command {
    #code: HTMLElement;
    #button: HTMLButtonElement;

    /** `fold`: of code and a button. */
    constructor(fold: HTMLDetailsElement) {
        this.#code = find(fold, "pre code", HTMLElement);
        this.#button = find(fold, "button", HTMLButtonElement);
        this.#button.addEventListener("click", () => void this.#copy());
    }

    show(line: string): void {
        setText(this.#code, line);
    }

    async #copy(): Promise<void> {
        const button = this.#button;
        try {
            await navigator.clipboard.writeText(this.#code.textContent);
            button.textContent = words.panel.copied;
        } catch {
            getSelection()?.selectAllChildren(this.#code);
            button.textContent = words.panel.selected;
        }
        setTimeout(() => (button.textContent = words.panel.copy), patience);
    }
}
