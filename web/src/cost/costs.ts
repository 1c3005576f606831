/** The parts of the page about costs, together: what was tried, and what lengths cost. */

import type { Findings } from "../lines";
import type { Label } from "../terms";
import type { Values } from "../types";
import type { Quantity } from "./lengths";
import { Longer, type Counting } from "./longer";
import { Pareto } from "./pareto";
import { Trials, type Cost } from "./trials";

/** What the reader chose of them. */
export interface CostSettings {
    /** Are they open? */
    pareto: boolean;
    longer: boolean;
    /** What the error stands against. */
    against: Cost;
    quantity: Quantity;
    /** Tokens. */
    length: number;
}

export const usualCosts: CostSettings = {
    ...{ pareto: false, longer: false, against: "flops", quantity: "time", length: 65_536 },
};

interface Around {
    reference: string;
    label: Label;
    backends(): string[];
    count: Counting;
    onSettings(): void;
}

export class Costs {
    #trials = new Trials();
    #pareto: Pareto;
    #longer: Longer;

    constructor({ reference, label, backends, count, onSettings }: Around) {
        this.#pareto = new Pareto(this.#trials, backends, label, onSettings);
        this.#longer = new Longer(reference, count, onSettings);
    }

    get settings(): CostSettings {
        const [pareto, longer] = [this.#pareto.isOpen, this.#longer.isOpen];
        const { against } = this.#pareto;
        const { quantity, length } = this.#longer;
        return { pareto, longer, against, quantity, length };
    }

    set settings({ pareto, longer, against, quantity, length }: CostSettings) {
        this.#pareto.set(pareto, against);
        this.#longer.set(longer, quantity, length);
    }

    note(backend: string, params: Values, findings: Findings): void {
        this.#trials.note(backend, params, findings);
        this.#pareto.show();
    }

    /** The input or the problem is another one. */
    clear(): void {
        this.#trials.clear();
        this.#pareto.show();
        this.outdate();
    }

    /** A backend has other parameters. */
    outdate(): void {
        this.#longer.outdate();
    }

    /** Nothing else is under way any more. */
    refresh(): void {
        this.#longer.refresh();
    }
}
