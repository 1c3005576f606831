/** A panel's numbers: what it found, what its plan tells, and what is wrong. */

import { find, showLine } from "../dom";
import { Drawn } from "../frame";
import { factLines, fillList, numberLines, warnings, type Findings, type Line } from "../lines";
import type { Grid } from "../types";

export class Figures {
    #problem: HTMLElement;
    #numbers: HTMLElement;
    #facts: HTMLElement;
    #label: (line: Line) => Node;
    #drawn = new Drawn();

    constructor(root: HTMLElement, label: (line: Line) => Node) {
        this.#problem = find(root, ".problem", HTMLElement);
        this.#numbers = find(root, ".numbers", HTMLElement);
        this.#facts = find(root, ".facts", HTMLElement);
        this.#label = label;
    }

    /** What is wrong, in words; null: nothing. */
    get problem(): string | null {
        return this.#problem.textContent || null;
    }

    show(findings: Findings, grid: Grid | null): void {
        if (!this.#drawn.changes(findings, grid)) return;
        showLine(this.#problem, warnings(findings, grid));
        fillList(this.#numbers, numberLines(findings), this.#label);
        fillList(this.#facts, factLines(findings.numbers), this.#label);
    }

    /** There are none, and why; null: there is no input. */
    clear(reason: string | null): void {
        this.#drawn.forget();
        showLine(this.#problem, reason);
        this.#numbers.replaceChildren();
        this.#facts.replaceChildren();
    }
}
