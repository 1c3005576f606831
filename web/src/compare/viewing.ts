/** How all panels show what they have: colours, and weights or differences. */

import { colourChoices, type ColourChoice } from "../map/colors";
import { find } from "../dom/dom";

export interface Viewing {
    colours: ColourChoice;
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
        const colours = colourChoices.find((choice) => choice === value) ?? "auto";
        return { colours, difference: this.#difference.checked };
    }

    set({ colours, difference }: Viewing): void {
        this.#colours.value = colours;
        this.#difference.checked = difference;
    }
}
