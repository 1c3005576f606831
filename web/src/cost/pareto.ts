/** Error against cost of all that was tried, live. */

import { element, find, isAbort } from "../dom/dom";
import type { Findings } from "../compare/lines";
import type { Table } from "../take/menu";
import { bytes, count, milliseconds, short, significant } from "../dom/format";
import { Fold } from "./fold";
import type { Candidate } from "./lengths";
import { costs, pointsOf, settingOf, type Cost, type Point, type Trials } from "./trials";
import { mostTried } from "./tried";
import { costTerms, type Label } from "../dom/terms";
import { loadFigures } from "./loading";
import { words } from "../words/words";

const text: Record<Cost, (value: number) => string> = {
    time: milliseconds,
    flops: (value) => short(value),
    bytes,
};

const { costs: told, nouns } = words;

/** Tries settings again, and gives of each, as it is done, what it has found, or why it has not. */
export type Retrying = (
    candidates: readonly Candidate[],
    onTried: (candidate: Candidate, found: Findings | string) => void,
) => Promise<void>;

interface Around {
    label: Label;
    backends(): string[];
    now(): Candidate[];
    retry: Retrying;
    onSettings(): void;
}

export class Pareto {
    #fold: Fold;
    #root = find(document, "#pareto", HTMLElement);
    #against = find(document, "#against", HTMLSelectElement);
    #trials: Trials;
    #around: Around;
    #isRetrying = false;

    constructor(trials: Trials, around: Around) {
        this.#trials = trials;
        this.#around = around;
        this.#fold = new Fold(
            "pareto",
            () => {
                around.onSettings();
                this.refresh();
            },
            (width) => this.#draw(width),
            () => this.#table(),
        );
        this.#against.addEventListener("change", () => {
            around.onSettings();
            this.show();
        });
    }

    get against(): Cost {
        return costs.find((cost) => cost === this.#against.value) ?? "flops";
    }

    set against(against: Cost) {
        this.#against.value = against;
    }

    /** There are other trials. */
    show(): void {
        this.#fold.draw();
    }

    /** What a link has is tried again, where it is wanted, until something else is under way. */
    refresh(): void {
        const isWanted = this.#fold.isOpen && this.#trials.wanted.length > 0;
        if (isWanted && !this.#isRetrying) void this.#retry();
    }

    async #retry(): Promise<void> {
        this.#isRetrying = true;
        this.#root.ariaBusy = "true";
        await this.#around
            .retry(this.#trials.wanted, (candidate, found) => {
                this.#trials.settle(candidate, found);
                this.show();
            })
            .then(this.#around.onSettings) // of what was refused the link has nothing
            .catch((error: unknown) => {
                if (!isAbort(error)) throw error;
            })
            .finally(() => {
                this.#isRetrying = false;
                this.#root.ariaBusy = "false";
            });
    }

    #table(): Table | null {
        const rows = this.#trials.all.map(({ backend, params, error, time, flops, bytes }) => {
            return [backend, JSON.stringify(params), error, time, flops, bytes];
        });
        const columns = ["backend", "params", "error", "milliseconds", "flops", "workspace bytes"];
        return rows.length === 0 ? null : { columns, rows, about: {} };
    }

    async #draw(width: number): Promise<Node[]> {
        const { paretoFigure } = await loadFigures();
        const points = pointsOf(this.#trials.all, this.against);
        if (points.length === 0) return [element("p", {}, told.nothingYet), ...this.#notes];
        const figure = paretoFigure(points, this.#around.backends(), this.against, width);
        return [figure, ...this.#notes, table(points, this.against, this.#around.label)];
    }

    /** What there is to know of the link: what it has that is no dot, and dots that it has not. */
    get #notes(): HTMLElement[] {
        const { wanted, refused } = this.#trials;
        const all = this.#trials.besides(this.#around.now()).length;
        const lines = [
            wanted.length > 0 && told.toTry(count(wanted.length, nouns.setting)),
            refused && told.refused(count(refused.count, nouns.setting), refused.reason),
            all > mostTried && told.newest(mostTried, count(all, nouns.setting)),
        ];
        return lines
            .filter((line) => typeof line === "string")
            .map((line) => element("p", {}, line));
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
