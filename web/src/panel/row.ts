/** A panel's steps of the query that is pinned. */

import { isAbort, message } from "../dom/dom";
import type { Place } from "../row/place";
import type { Steps } from "../row/steps";
import type { Words } from "../row/view";
import { words } from "../words/words";

export const { stopped } = words.panel;

export class Row {
    #holder: HTMLElement;
    #note: Node;
    #words: Words;
    #asked = 0;

    /** `note`: says that what stands there is from before a change. */
    constructor(holder: HTMLElement, note: Node, words: Words) {
        this.#holder = holder;
        this.#note = note;
        this.#words = words;
    }

    /** null: none are wanted. What is shown meanwhile is dimmed and says so, or nothing where none can be had. */
    async show(
        place: Place | null,
        compute: ((place: Place) => Promise<Steps>) | null,
    ): Promise<void> {
        const asked = ++this.#asked;
        this.#holder.hidden = place === null;
        this.#holder.classList.toggle("old", place !== null && compute !== null);
        if (!place || !compute) return this.#holder.replaceChildren();
        if (this.#holder.hasChildNodes()) this.#holder.append(this.#note);
        const shown = await this.#view(compute(place));
        if (asked !== this.#asked) return;
        this.#holder.classList.remove("old");
        this.#holder.replaceChildren(...shown);
    }

    /** What stands there is from before a change. */
    outdate(): void {
        this.leave();
        if (this.#holder.hidden || !this.#holder.hasChildNodes()) return;
        this.#holder.classList.add("old");
        this.#holder.append(this.#note);
    }

    /** What is under way is not shown. */
    leave(): void {
        this.#asked++;
    }

    clear(): void {
        this.leave();
        this.#holder.replaceChildren();
    }

    async #view(coming: Promise<Steps>): Promise<(Node | string)[]> {
        try {
            const [steps, { rowView }] = await Promise.all([coming, import("../row/view")]);
            return rowView(steps, this.#words);
        } catch (error) {
            return [isAbort(error) ? stopped : message(error)];
        }
    }
}
