/** Error against cost of all that was tried, live. */

import { element, find } from "../dom";
import type { Table } from "../take/menu";
import { bytes, milliseconds, short, significant } from "../format";
import { Fold } from "./fold";
import { costs, pointsOf, settingOf, type Cost, type Point, type Trials } from "./trials";
import { costTerms, type Label } from "../terms";
import { turn } from "../turn";
import { words } from "../words/words";

const text: Record<Cost, (value: number) => string> = {
    time: milliseconds,
    flops: (value) => short(value),
    bytes,
};

const { costs: told } = words;

export class Pareto {
    #fold: Fold;
    #against = find(document, "#against", HTMLSelectElement);
    #trials: Trials;
    #backends: () => string[];
    #label: Label;

    constructor(trials: Trials, backends: () => string[], label: Label, onChange: () => void) {
        this.#label = label;
        this.#trials = trials;
        this.#backends = backends;
        this.#fold = new Fold(
            "pareto",
            onChange,
            (width) => this.#draw(width),
            () => this.#table(),
        );
        this.#against.addEventListener("change", () => {
            onChange();
            this.show();
        });
    }

    get isOpen(): boolean {
        return this.#fold.isOpen;
    }

    get against(): Cost {
        return costs.find((cost) => cost === this.#against.value) ?? "flops";
    }

    set(isOpen: boolean, against: Cost): void {
        this.#against.value = against;
        this.#fold.isOpen = isOpen;
    }

    /** There are other trials. */
    show(): void {
        this.#fold.draw();
    }

    #table(): Table | null {
        const rows = this.#trials.all.map(({ backend, params, error, time, flops, bytes }) => {
            return [backend, JSON.stringify(params), error, time, flops, bytes];
        });
        const columns = ["backend", "params", "error", "milliseconds", "flops", "workspace bytes"];
        return rows.length === 0 ? null : { columns, rows, about: {} };
    }

    async #draw(width: number): Promise<Node[]> {
        const { paretoFigure } = await import("./figures");
        await turn(); // to load it is a task, to draw another
        const points = pointsOf(this.#trials.all, this.against);
        if (points.length === 0) return [element("p", {}, told.nothingYet)];
        const figure = paretoFigure(points, this.#backends(), this.against, width);
        return [figure, table(points, this.against, this.#label)];
    }
}

function table(points: readonly Point[], against: Cost, label: Label): HTMLElement {
    const { backend, setting, error, noneBetter, columns } = told;
    const heads = [
        backend,
        setting,
        label(columns[against], costTerms[against]),
        label(error, costTerms.error),
        label(noneBetter, costTerms.best),
    ];
    const head = heads.map((head) => element("th", { scope: "col" }, head));
    const rows = points.map(({ trial, cost, isBest }) => {
        const data = element("data", { value: String(cost) }, text[against](cost));
        const error = element("data", { value: String(trial.error) }, significant(trial.error, 3));
        const cells = [settingOf(trial), data, error, isBest ? told.yes : ""];
        const made = element("tr", {}, element("th", { scope: "row" }, trial.backend));
        made.append(...cells.map((cell) => element("td", {}, cell)));
        return made;
    });
    return element(
        "table",
        {},
        element("thead", {}, element("tr", {}, ...head)),
        element("tbody", {}, ...rows),
    );
}
