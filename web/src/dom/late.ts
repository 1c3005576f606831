/** What is not told at once, as it may be over soon. */

/**
 * A class that an element gets when something has lasted for a while. With a transition that waits in its place, a browser
 * would draw frame after frame meanwhile.
 */
export class Late {
    #element: HTMLElement;
    #name: string;
    #patience: number;
    #timer: number | null = null;

    /** `patience`: in milliseconds. */
    constructor(element: HTMLElement, name: string, patience: number) {
        this.#element = element;
        this.#name = name;
        this.#patience = patience;
    }

    /** Does it last? */
    set(lasts: boolean): void {
        if (lasts === (this.#timer !== null)) return;
        if (lasts) {
            const tell = () => this.#element.classList.add(this.#name);
            this.#timer = setTimeout(tell, this.#patience);
        } else {
            clearTimeout(this.#timer ?? 0);
            this.#timer = null;
            this.#element.classList.remove(this.#name);
        }
    }
}
