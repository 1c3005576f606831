/** A panel's numbers: what it found, what its plan tells, and what is wrong. */

import { find, showLine } from "../dom/dom";
import { Drawn } from "../map/frame";
import {
    factLines,
    fillList,
    numberLines,
    warnings,
    type Findings,
    type Line,
} from "../compare/lines";
import { Late } from "../dom/late";
import { showOff } from "./off";
import type { Grid } from "../state/types";

const patience = 300; // milliseconds: what comes sooner takes the place of what is not dimmed before

export class Figures {
    #problem: HTMLElement;
    #numbers: HTMLElement;
    #facts: HTMLElement;
    #label: (line: Line) => Node;
    #off: readonly HTMLElement[];
    #drawn = new Drawn();
    #old: Late;

    /** `tab`: has the one number, too. */
    constructor(root: HTMLElement, label: (line: Line) => Node, tab: HTMLElement | null = null) {
        this.#problem = find(root, ".problem", HTMLElement);
        this.#numbers = find(root, ".numbers", HTMLElement);
        this.#facts = find(root, ".facts", HTMLElement);
        this.#old = new Late(this.#facts, "old", patience);
        this.#label = label;
        this.#off = [
            find(root, ".off", HTMLElement),
            ...(tab ? [find(tab, "span", HTMLElement)] : []),
        ];
    }

    /** What is wrong, in words; null: nothing. */
    get problem(): string | null {
        return this.#problem.textContent || null;
    }

    show(findings: Findings, grid: Grid | null): void {
        if (!this.#drawn.changes(findings, grid)) return;
        this.#old.set(false);
        showLine(this.#problem, warnings(findings, grid));
        showOff(this.#off, findings.accuracy?.error ?? null);
        fillList(this.#numbers, numberLines(findings), this.#label);
        fillList(this.#facts, factLines(findings.numbers), this.#label);
    }

    /** What the plan tells is of another input, or of other controls: numbers are dimmed while more of them come. */
    outdate(): void {
        this.#old.set(true);
    }

    /** There are none, and why; null: there is no input. */
    clear(reason: string | null): void {
        this.#drawn.forget();
        this.#old.set(false);
        showLine(this.#problem, reason);
        for (const place of this.#off) place.replaceChildren();
        this.#numbers.replaceChildren();
        this.#facts.replaceChildren();
    }
}
