/** The parts of the page about costs, together: what was tried, and what lengths cost. */

import type { Findings } from "../compare/lines";
import type { Label } from "../dom/terms";
import type { Values } from "../state/types";
import type { Candidate } from "./lengths";
import type { Counting, Longer } from "./longer";
import { OnOpening } from "./opening";
import type { Pareto, Retrying } from "./pareto";
import { usualCosts, type CostSettings } from "./settings";
import { Trials } from "./trials";

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
    #around: Around;
    /** What a part begins with that has not been opened. */
    #asked = usualCosts;
    #pareto: OnOpening<Pareto>;
    #longer: OnOpening<Longer>;

    constructor(around: Around) {
        this.#around = around;
        const { reference, count, onSettings } = around;
        this.#pareto = new OnOpening("pareto", onSettings, async () => {
            const { Pareto } = await import("./pareto");
            const made = new Pareto(this.#trials, around);
            made.against = this.#asked.against;
            return made;
        });
        this.#longer = new OnOpening("longer", onSettings, async () => {
            const { Longer } = await import("./longer");
            const made = new Longer(reference, count, onSettings);
            made.quantity = this.#asked.quantity;
            made.length = this.#asked.length;
            return made;
        });
    }

    get settings(): CostSettings {
        const [pareto, longer] = [this.#pareto.isOpen, this.#longer.isOpen];
        const { against } = this.#pareto.part ?? this.#asked;
        const { quantity, length } = this.#longer.part ?? this.#asked;
        const tried = pareto ? this.#trials.besides(this.#around.now()) : [];
        return { pareto, longer, against, tried, quantity, length };
    }

    /** As a link has them, before any of it was opened. */
    set settings(asked: CostSettings) {
        this.#asked = asked;
        this.#trials.wanted = this.#around.known(asked.tried);
        this.#pareto.isOpen = asked.pareto;
        this.#longer.isOpen = asked.longer;
    }

    note(backend: string, params: Values, findings: Findings): void {
        this.#trials.note({ backend, params }, findings);
        this.#pareto.part?.show();
    }

    /** The input or the problem is another one. */
    clear(): void {
        this.#trials.clear();
        this.#pareto.part?.show();
        this.outdate();
    }

    /** A backend has other parameters. */
    outdate(): void {
        this.#longer.part?.outdate();
    }

    /** Nothing else is under way any more. */
    refresh(): void {
        this.#trials.begin();
        this.#pareto.part?.refresh();
        this.#longer.part?.refresh();
    }
}
