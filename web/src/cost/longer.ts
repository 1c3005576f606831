/** What the same attention costs from 64 tokens to a million. */

import { element, find, isAbort, message } from "../dom/dom";
import type { Table } from "../take/menu";
import { bytes, count, milliseconds, significant } from "../dom/format";
import { Fold } from "./fold";
import {
    below,
    extrapolate,
    lengths,
    longestMeasured,
    quantities,
    valueAtLength,
    type Below,
    type LengthPoint,
    type Quantity,
} from "./lengths";
import { loadFigures } from "./loading";
import { words } from "../words/words";

const { costs: told } = words;
const steps = 4; // of the slider between a length and the next

const texts: Record<Quantity, (value: number) => string> = {
    time: (value) => (value < 10_000 ? milliseconds(value) : `${significant(value / 1000, 3)} s`),
    flops: (value) => told.operations(significant(value, 3)),
    memory: bytes,
};

/** Gives all points, each as it is known. */
export type Counting = (onPoint: (point: LengthPoint) => void) => Promise<void>;

export class Longer {
    #fold: Fold;
    #root = find(document, "#longer", HTMLElement);
    #slider = find(document, "#length", HTMLInputElement);
    #quantity = find(document, "#quantity", HTMLSelectElement);
    #words = find(document, "#length-words", HTMLElement);
    #points: LengthPoint[] = [];
    #isStale = true;
    /** Why not all is known. */
    #problem: string | null = null;
    #count: Counting;
    #reference: string;

    constructor(reference: string, count: Counting, onChange: () => void) {
        this.#reference = reference;
        this.#count = count;
        this.#slider.max = String(steps * (lengths.length - 1));
        const changed = () => {
            onChange();
            this.refresh();
        };
        this.#fold = new Fold(
            "longer",
            changed,
            (width) => this.#draw(width),
            () => this.#table(),
        );
        for (const control of [this.#slider, this.#quantity]) {
            control.addEventListener("input", () => {
                onChange();
                this.#fold.draw();
            });
        }
    }

    get quantity(): Quantity {
        return quantities.find((each) => each === this.#quantity.value) ?? "time";
    }

    set quantity(quantity: Quantity) {
        this.#quantity.value = quantity;
    }

    /** Tokens. */
    get length(): number {
        return Math.round(64 * 2 ** (Number(this.#slider.value) / steps));
    }

    set length(length: number) {
        this.#slider.value = String(Math.round(steps * Math.log2(length / 64)));
    }

    /** Parameters, the problem or the dimension are others: what is known no longer holds. */
    outdate(): void {
        this.#isStale = true;
        this.#root.classList.add("old");
    }

    /** Count and measure, where it is wanted and not done. */
    refresh(): void {
        if (!this.#fold.isOpen || !this.#isStale) return;
        this.#isStale = false;
        this.#root.classList.remove("old");
        this.#points = [];
        this.#problem = null;
        const mine = this.#points;
        const add = (point: LengthPoint) => {
            const place = mine.findIndex((each) => isSame(each, point));
            mine.splice(place < 0 ? mine.length : place, 1, point);
            if (mine === this.#points) this.#fold.draw();
        };
        void this.#countAll(add);
    }

    async #countAll(add: (point: LengthPoint) => void): Promise<void> {
        const mine = this.#points;
        this.#root.ariaBusy = "true";
        const failure: unknown = await this.#count(add).then(
            () => null,
            (error: unknown) => error,
        );
        if (mine !== this.#points) return;
        this.#root.ariaBusy = "false";
        if (isAbort(failure))
            this.#isStale = true; // the worker had something else to do
        else if (failure !== null) this.#problem = message(failure);
        this.#fold.draw();
    }

    #table(): Table | null {
        const rows = this.#lines
            .flatMap(([, line]) => line)
            .map((point) => {
                const { backend, params, length, time, isMeasured, flops, memory } = point;
                return [backend, JSON.stringify(params), length, time, isMeasured, flops, memory];
            });
        const times = ["milliseconds", "measured"];
        const columns = ["backend", "params", "tokens", ...times, "flops", "bytes"];
        return rows.length === 0 ? null : { columns, rows, about: {} };
    }

    /** By backend, with times that are extrapolated. */
    get #lines(): [string, LengthPoint[]][] {
        const backends = [...new Set(this.#points.map(({ backend }) => backend))];
        return backends.map((id) => [id, extrapolate(this.#of(id))]);
    }

    async #draw(width: number): Promise<Node[]> {
        const { lengthsFigure } = await loadFigures();
        const { quantity, length } = this;
        const lines = new Map(this.#lines);
        const backends = [...lines.keys()];
        const base = lines.get(this.#reference) ?? [];
        const others = backends.filter((backend) => backend !== this.#reference);
        const comparisons = others.flatMap((backend): Comparison[] => {
            const line = lines.get(backend) ?? [];
            const from = below(line, base, quantity);
            const value = typeof from === "number" ? valueAtLength(line, quantity, from) : null;
            return from === null ? [] : [{ backend, from, value }];
        });
        this.#say(backends.map((id) => [id, valueAtLength(lines.get(id) ?? [], quantity, length)]));
        const all = [...lines.values()].flat();
        const className = "problem";
        const problem = this.#problem ? [element("p", { className }, this.#problem)] : [];
        const waiting = this.#isStale ? told.waiting : told.counting;
        if (all.length === 0) return problem.length > 0 ? problem : [element("p", {}, waiting)];
        const crossings = comparisons.flatMap(({ from, value }) => {
            return typeof from === "number" && value !== null ? [{ length: from, value }] : [];
        });
        const figure = lengthsFigure(all, crossings, backends, quantity, length, width);
        return [...problem, figure, ...comparisons.map((each) => this.#sentence(each))];
    }

    #of(backend: string): LengthPoint[] {
        const own = this.#points.filter((point) => point.backend === backend);
        return own.sort((one, other) => one.length - other.length);
    }

    #say(values: [string, number | null][]): void {
        const isBeyond = this.length > longestMeasured && this.quantity === "time";
        const parts = values.map(([backend, value]) => {
            return `${backend} ${value === null ? told.notKnown : texts[this.quantity](value)}`;
        });
        const how = isBeyond ? told.extrapolated : "";
        this.#words.textContent = `${count(this.length, words.nouns.token)}: ${parts.join(", ")}${how}.`;
        this.#slider.setAttribute("aria-valuetext", this.#words.textContent);
    }

    #sentence({ backend, from, value }: Comparison): HTMLElement {
        const line = element("p", {}, `${backend} `);
        line.dataset.crossing = backend;
        const reference = this.#reference;
        if (from === "always") line.append(told.always(reference));
        else if (from === "never") line.append(told.never(reference));
        else {
            const text = count(Math.round(from), words.nouns.token);
            const data = element("data", { value: String(from) }, text);
            const at = value === null ? "." : told.at(texts[this.quantity](value));
            line.append(told.from(reference), data, at);
        }
        return line;
    }
}

/** Of a backend and the reference. */
interface Comparison {
    backend: string;
    from: Below;
    /** What it costs there. */
    value: number | null;
}

function isSame(one: LengthPoint, other: LengthPoint): boolean {
    return one.backend === other.backend && one.length === other.length;
}
