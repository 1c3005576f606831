/** What a map shows, in words beside it, to which it refers. */

import { element, setText } from "../dom/dom";
import { summaryOf, type Shown } from "./summary";

export class Description {
    #words = element("p", { className: "hidden" });

    /** `name`: of the map among those of its page. */
    constructor(canvas: HTMLCanvasElement, name: string) {
        this.#words.id = `told-${name}`;
        canvas.setAttribute("aria-describedby", this.#words.id);
        canvas.after(this.#words);
    }

    show(shown: Shown): void {
        setText(this.#words, summaryOf(shown));
    }
}
