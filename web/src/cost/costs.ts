/** The parts of the page about costs, together: what was tried, and what lengths cost. */

import type { Findings } from "../compare/lines";
import type { Label } from "../dom/terms";
import type { Values } from "../state/types";
import type { Quantity } from "./lengths";
import type { Candidate } from "./lengths";
import { Longer, type Counting } from "./longer";
import { Pareto, type Retrying } from "./pareto";
import { Trials, type Cost } from "./trials";

/** What the reader chose of them. */
export interface CostSettings {
    /** Are they open? */
    pareto: boolean;
    longer: boolean;
    /** What the error stands against. */
    against: Cost;
    /** Other settings that have a dot there; that of a panel has one, too. */
    tried: readonly Candidate[];
    quantity: Quantity;
    /** Tokens. */
    length: number;
}

export const usualCosts: CostSettings = {
    ...{ pareto: false, longer: false, against: "flops", tried: [] },
    ...{ quantity: "time", length: 65_536 },
};

interface Around {
    reference: string;
    label: Label;
    backends(): string[];
    /** Settings of panels as they are now. */
    now(): Candidate[];
    /** Of settings in a link those that there are, as panels have them. */
    known(told: readonly Candidate[]): Candidate[];
    count: Counting;
    retry: Retrying;
    onSettings(): void;
}

export class Costs {
    #trials = new Trials();
    #pareto: Pareto;
    #longer: Longer;
    #around: Around;

    constructor(around: Around) {
        this.#around = around;
        const { reference, count, onSettings } = around;
        this.#pareto = new Pareto(this.#trials, around);
        this.#longer = new Longer(reference, count, onSettings);
    }

    get settings(): CostSettings {
        const [pareto, longer] = [this.#pareto.isOpen, this.#longer.isOpen];
        const { against } = this.#pareto;
        const { quantity, length } = this.#longer;
        const tried = pareto ? this.#trials.besides(this.#around.now()) : [];
        return { pareto, longer, against, tried, quantity, length };
    }

    set settings({ pareto, longer, against, tried, quantity, length }: CostSettings) {
        this.#trials.wanted = this.#around.known(tried);
        this.#pareto.set(pareto, against);
        this.#longer.set(longer, quantity, length);
    }

    note(backend: string, params: Values, findings: Findings): void {
        this.#trials.note({ backend, params }, findings);
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
        this.#trials.begin();
        this.#pareto.refresh();
        this.#longer.refresh();
    }
}
