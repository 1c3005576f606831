/** What a panel is computing, and how far it is. */

import { Late } from "../dom/late";

export type Step = "picture" | "output" | "error" | "time";

export const steps: readonly Step[] = ["picture", "output", "error", "time"];

const patience = 300; // milliseconds: numbers that come sooner are not dimmed

export class Doing {
    #element: HTMLElement;
    #late: Late;
    #onChange: () => void;
    /** null: nothing. */
    #step: Step | null = null;
    /** How much of it is done. */
    #part = 0;
    /** The same of another picture of what is computed; null: none is under way. */
    #view: number | null = null;

    /** `element`: is busy meanwhile. */
    constructor(element: HTMLElement, onChange: () => void) {
        this.#element = element;
        this.#late = new Late(element, "counting", patience);
        this.#onChange = onChange;
    }

    get step(): Step | null {
        return this.#view === null ? this.#step : "picture";
    }

    /** Is there no output yet that will be? */
    get isSolving(): boolean {
        return this.#step !== null && this.#step !== "time";
    }

    /** How much of all steps is done, from 0 to 1. */
    get progress(): number {
        if (this.#step === null) return this.#view ?? 1;
        return (steps.indexOf(this.#step) + this.#part) / steps.length;
    }

    begin(step: Step | null): void {
        this.#step = step;
        this.#part = 0;
        this.#change();
    }

    /** Another picture of what is computed is under way, as far as that; null: it is not any more. */
    look(part: number | null): void {
        if (part === this.#view) return;
        this.#view = part;
        this.#change();
    }

    /** Of the first picture, or another one, so much is done. */
    advance(part: number): void {
        if (this.#view !== null) this.#view = part;
        else if (this.#step === "picture") this.#part = part;
        this.#onChange();
    }

    #change(): void {
        const isBusy = this.step !== null;
        this.#element.ariaBusy = String(isBusy);
        this.#late.set(isBusy);
        this.#onChange();
    }
}
