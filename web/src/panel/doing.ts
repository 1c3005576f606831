/** What a panel is computing, and how far it is. */

export type Step = "picture" | "output" | "error" | "time";

export const steps: readonly Step[] = ["picture", "output", "error", "time"];

export class Doing {
    #element: HTMLElement;
    #onChange: () => void;
    /** null: nothing. */
    #step: Step | null = null;
    /** How much of it is done. */
    #part = 0;

    /** `element`: is busy meanwhile. */
    constructor(element: HTMLElement, onChange: () => void) {
        this.#element = element;
        this.#onChange = onChange;
    }

    get step(): Step | null {
        return this.#step;
    }

    /** How much of all steps is done, from 0 to 1. */
    get progress(): number {
        if (this.#step === null) return 1;
        return (steps.indexOf(this.#step) + this.#part) / steps.length;
    }

    begin(step: Step | null): void {
        this.#step = step;
        this.#part = 0;
        this.#element.ariaBusy = String(step !== null);
        this.#onChange();
    }

    advance(part: number): void {
        this.#part = part;
        this.#onChange();
    }
}
