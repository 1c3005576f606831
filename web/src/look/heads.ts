/** All heads of a backend side by side: a small picture and three numbers of each, and a way to it. */

import { readTheme } from "../map/colors";
import { Fold } from "../cost/fold";
import { element, find, isAbort, message } from "../dom/dom";
import { count } from "../dom/format";
import type { Matrix, Table } from "../take/menu";
import type { Shape } from "../state/types";
import type { Work } from "../engine/work";
import type { HeadButton, View } from "./button";
import { words } from "../words/words";

const mostHeads = 144; // of them all: those of twelve layers of twelve
const mostInLine = 8; // heads of a layer: more have no room beside each other
const pairs = 2 ** 16; // of a query and a key that are looked at in each

/** What it needs from the page around it. */
interface Around {
    /** null: there is no input. */
    shape(): Shape | null;
    backends(): string[];
    /** What the backend computes now; null: nothing. */
    work(backend: string): Pick<Work, "look"> | null;
    view(): View;
    /** How batches are called. */
    batchName(): string;
    onView(view: View): void;
    onSettings(): void;
}

export class Heads {
    #root = find(document, "#heads", HTMLDetailsElement);
    #backend = find(document, "#heads-of", HTMLSelectElement);
    #grid = element("div", { className: "heads" });
    #fold: Fold;
    #around: Around;
    #heads: HeadButton[] = [];
    /** Why there are no more. */
    #problem: string | null = null;
    #isStale = true;
    #asked = 0;

    constructor(around: Around) {
        this.#around = around;
        const changed = () => {
            around.onSettings();
            this.refresh();
        };
        this.#fold = new Fold(
            "heads",
            changed,
            () => Promise.resolve(this.#draw()),
            () => this.#table(),
            { picture: (title) => this.#picture(title), matrix: () => this.#matrix() },
        );
        this.#backend.addEventListener("change", () => {
            this.clear();
            changed();
        });
    }

    /** The backend whose heads are shown; null: it is not open. */
    get open(): string | null {
        return this.#fold.isOpen ? this.#backend.value : null;
    }

    /** `backends`: to choose from. */
    set(open: string | null, backends: readonly string[]): void {
        this.#offer(backends);
        if (open !== null && backends.includes(open)) this.#backend.value = open;
        this.#fold.isOpen = open !== null;
    }

    /** The input, the problem or parameters are others. */
    clear(): void {
        this.#asked++;
        this.#isStale = true;
        this.#problem = null;
        this.#heads = [];
        this.#grid.replaceChildren();
        this.#fold.draw();
    }

    /** Look at them, where that is wanted and not done. */
    refresh(): void {
        const shape = this.#around.shape();
        this.#root.hidden = !shape || shape.batch * shape.heads === 1;
        this.#offer(this.#around.backends());
        if (!shape || this.#root.hidden || !this.#fold.isOpen || !this.#isStale) return;
        this.#isStale = false;
        void this.#look(shape);
    }

    /** Another head is shown above. */
    mark(): void {
        const now = this.#around.view();
        for (const head of this.#heads) head.mark(now);
    }

    /** The page's colours are others. */
    paint(): void {
        for (const head of this.#heads) head.paint(readTheme());
    }

    async #look({ batch, heads }: Shape): Promise<void> {
        const asked = ++this.#asked;
        const work = this.#around.work(this.#backend.value);
        const theme = readTheme();
        this.#grid.classList.toggle("by-layer", heads <= mostInLine);
        this.#grid.style.setProperty("--heads", String(heads));
        try {
            const { HeadButton } = await import("./button");
            for (let i = 0; work && i < Math.min(mostHeads, batch * heads); i++) {
                const view = { batch: Math.floor(i / heads), head: i % heads };
                const { look, rows } = await work.look(view.batch, view.head, pairs);
                if (asked !== this.#asked) return;
                const head = new HeadButton(view, look, rows, this.#nameOf(view, batch));
                head.element.addEventListener("click", () => this.#around.onView(view));
                head.paint(theme);
                head.mark(this.#around.view());
                this.#heads.push(head);
                this.#grid.append(head.element);
            }
        } catch (error) {
            if (asked !== this.#asked) return;
            if (isAbort(error)) this.#isStale = true;
            else this.#problem = message(error);
        }
        this.#fold.draw();
    }

    #nameOf({ batch, head }: View, batches: number): string {
        const { headOf, head: only } = words.heads;
        return batches > 1 ? headOf(this.#around.batchName(), batch, head) : only(head);
    }

    #offer(backends: readonly string[]): void {
        const known = [...this.#backend.options].map(({ value }) => value);
        const added = backends.filter((backend) => !known.includes(backend));
        this.#backend.append(...added.map((backend) => new Option(backend)));
    }

    async #picture(title: string): Promise<string | null> {
        const { sheet } = await import("./sheet");
        const tiles = this.#heads.map(({ tile }) => tile);
        const { heads = 1 } = this.#around.shape() ?? {};
        const perRow = Math.min(heads, mostInLine); // where there is room a row is a layer
        return tiles.length === 0 ? null : sheet(tiles, perRow, readTheme(), title);
    }

    #table(): Table | null {
        const rows = this.#heads.map(({ view, look }) => {
            const { error, entropy, distance, queries, total } = look;
            return [view.batch, view.head, error, entropy, distance, queries.length, total];
        });
        const columns = ["batch", "head", "error", "entropy", "distance", "rows", "of"];
        const [first] = this.#heads;
        if (!first) return null;
        const { rowsPerCell, keysPerCell } = first.small;
        return { columns, rows, about: { backend: this.#backend.value, rowsPerCell, keysPerCell } };
    }

    /** What pictures show, means of weights: (batch, head, row, column); of some heads only, (head, row, column). */
    #matrix(): Matrix | null {
        const smalls = this.#heads.map(({ small }) => small);
        const [first] = smalls;
        const shape = this.#around.shape();
        if (!first || !shape) return null;
        const { batch, heads } = shape;
        const places = smalls.length === batch * heads ? [batch, heads] : [smalls.length];
        const numbers = joined(smalls.map(({ means }) => means));
        return { numbers, shape: [...places, first.rows, first.columns] };
    }

    /** What numbers are means of, where that is not all rows. */
    #sampled(): Node[] {
        const [{ look } = {}] = this.#heads;
        if (!look || look.queries.length === look.total) return [];
        const all = count(look.total, words.nouns.row);
        return [element("p", {}, words.heads.some(look.queries.length, all))];
    }

    /** The grid is always the same one: who has come to a head by keyboard stays there. */
    #draw(): Node[] {
        const { batch = 1, heads = 1 } = this.#around.shape() ?? {};
        const all = batch * heads;
        const first = words.heads.first(mostHeads, count(all, words.nouns.head));
        return [
            ...(all > mostHeads ? [element("p", {}, first)] : []),
            ...this.#sampled(),
            ...(this.#problem ? [element("p", { className: "problem" }, this.#problem)] : []),
            this.#grid,
        ];
    }
}

function joined(arrays: readonly Float32Array[]): Float32Array {
    const all = new Float32Array(arrays.reduce((size, { length }) => size + length, 0));
    let at = 0;
    for (const array of arrays) {
        all.set(array, at);
        at += array.length;
    }
    return all;
}
