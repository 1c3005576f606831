/** How all panels show what they have: colours, and weights or differences. */

import { colourLaws, type ColourLaw } from "../map/colors";
import { find } from "../dom/dom";

export interface Viewing {
    colours: ColourLaw;
    /** From softmax. */
    difference: boolean;
}

export class ViewingControls {
    #colours = find(document, "#colours", HTMLSelectElement);
    #difference = find(document, "#difference", HTMLInputElement);

    constructor(onChange: () => void) {
        this.#colours.addEventListener("change", onChange);
        this.#difference.addEventListener("change", onChange);
    }

    get values(): Viewing {
        const { value } = this.#colours;
        const colours = colourLaws.find((law) => law === value) ?? "shared";
        return { colours, difference: this.#difference.checked };
    }

    set({ colours, difference }: Viewing): void {
        this.#colours.value = colours;
        this.#difference.checked = difference;
    }
}
