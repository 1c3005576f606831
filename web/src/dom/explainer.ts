/** One box that says what a number means, beside whatever is pointed at or has the focus. */

import { element, find } from "./dom";
import type { Term } from "./terms";
import { words } from "../words/words";

const gap = 6; // pixels between a number and what is said of it
const patience = 200; // milliseconds that the pointer rests

export class Explainer {
    #box = find(document, "#explanation", HTMLElement);
    #terms = new WeakMap<Element, Term>();
    #shown: Element | null = null;
    #waiting = 0;
    /** Where the pointer was last. */
    #pointer = "";

    constructor() {
        const show = ({ target }: Event) => this.#show(target);
        document.addEventListener("focusin", show);
        document.addEventListener("click", show); // Safari gives buttons no focus
        document.addEventListener("pointerover", (event) => {
            const place = `${event.clientX},${event.clientY}`;
            if (place !== this.#pointer) this.#showSoon(event.target); // else the page has moved
            this.#pointer = place;
        });
        document.addEventListener("pointermove", ({ clientX, clientY }) => {
            this.#pointer = `${clientX},${clientY}`;
        });
        document.addEventListener("keydown", (event) => {
            if (event.key !== "Escape" || !this.#shown) return;
            event.preventDefault(); // it closes nothing else
            this.#show(null);
        });
        addEventListener("scroll", () => this.#follow(), { passive: true });
    }

    /** A label that explains itself. */
    label(text: string, term: Term): HTMLElement {
        const button = element("button", { type: "button", className: "term" }, text);
        button.setAttribute("aria-describedby", this.#box.id);
        this.#terms.set(button, term);
        return button;
    }

    /** What is no label explains itself as a whole. */
    explain(whole: HTMLElement, term: Term): void {
        whole.tabIndex = 0;
        whole.classList.add("explained");
        whole.setAttribute("aria-describedby", this.#box.id);
        this.#terms.set(whole, term);
    }

    /** What the pointer comes across on its way, to the box for one, does not count. */
    #showSoon(target: EventTarget | null): void {
        clearTimeout(this.#waiting);
        this.#waiting = setTimeout(() => this.#show(target), patience);
    }

    #show(target: EventTarget | null): void {
        clearTimeout(this.#waiting);
        if (target instanceof Element && this.#box.contains(target)) return; // it can be read at leisure
        const line = target instanceof Element ? lineOf(target) : null;
        const term = line && this.#terms.get(line);
        if (line === this.#shown) return;
        this.#shown = term ? line : null;
        this.#box.hidePopover();
        if (!term || !line) return;
        this.#box.replaceChildren(...sentences(term));
        this.#box.showPopover();
        this.#place(line.getBoundingClientRect());
    }

    /** The box stays beside what it explains, as long as that is to be seen. */
    #follow(): void {
        if (!this.#shown) return;
        const place = this.#shown.getBoundingClientRect();
        if (place.bottom < 0 || place.top > innerHeight) this.#show(null);
        else this.#place(place);
    }

    /** Below, or above where there is no room. */
    #place({ left, top, bottom }: DOMRect): void {
        const { offsetWidth, offsetHeight, style } = this.#box;
        const fits = bottom + gap + offsetHeight <= innerHeight;
        style.left = `${Math.max(gap, Math.min(left, innerWidth - offsetWidth - gap))}px`;
        style.top = `${fits ? bottom + gap : Math.max(gap, top - gap - offsetHeight)}px`;
    }
}

/** What explains itself, or the label beside a number. */
function lineOf(target: Element): Element | null {
    return (
        target.closest(".term, .explained") ??
        target.closest("dl > div")?.querySelector(".term") ??
        null
    );
}

function sentences({ definition, formula, unit }: Term): Node[] {
    return [
        element("p", {}, definition),
        ...(formula ? [formula()] : []),
        ...(unit ? [element("p", { className: "unit" }, words.numbers.unit(unit))] : []),
    ];
}
