/** A button that leads to the row of a panel's output that is farthest off. */

import { element, find } from "../dom/dom";
import { significant } from "../dom/format";
import type { WorstRow } from "../state/types";
import { words } from "../words/words";

export class Worst {
    #button: HTMLButtonElement;
    #row: WorstRow | null = null;

    constructor(root: HTMLElement, onRow: (row: WorstRow) => void) {
        this.#button = find(root, ".worst", HTMLButtonElement);
        this.#button.addEventListener("click", () => {
            if (this.#row) onRow(this.#row);
        });
    }

    /** null: it is not known, or nothing is off, and what is below stays where it is. `name`: of its query. */
    show(row: WorstRow | null, name: (query: number) => string): void {
        this.#row = row;
        this.#button.classList.toggle("idle", row === null);
        if (!row) return;
        const error = element("data", { value: String(row.error) }, significant(row.error, 3));
        this.#button.dataset.query = String(row.query);
        this.#button.replaceChildren(words.panel.worst(name(row.query), row.some), error);
    }
}
