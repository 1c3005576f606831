/** A panel's steps of the query that is pinned. */

import { isAbort, message } from "../dom";
import type { Place } from "../row/place";
import type { Steps } from "../row/steps";
import { rowView, type Words } from "../row/view";
import { words } from "../words/words";

export const { stopped } = words.panel;

export class Row {
    #holder: HTMLElement;
    #words: Words;
    #asked = 0;

    constructor(holder: HTMLElement, words: Words) {
        this.#holder = holder;
        this.#words = words;
    }

    /** null: none are wanted. What is shown meanwhile is dimmed, or nothing where none can be had. */
    async show(
        place: Place | null,
        compute: ((place: Place) => Promise<Steps>) | null,
    ): Promise<void> {
        const asked = ++this.#asked;
        this.#holder.hidden = place === null;
        this.#holder.classList.toggle("old", place !== null && compute !== null);
        if (!place || !compute) return this.#holder.replaceChildren();
        const shown = await this.#view(compute(place));
        if (asked !== this.#asked) return;
        this.#holder.classList.remove("old");
        this.#holder.replaceChildren(...shown);
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
            return rowView(await coming, this.#words);
        } catch (error) {
            return [isAbort(error) ? stopped : message(error)];
        }
    }
}
