/**
 * Tokens on two sides, and a line from each query to the keys that it looks at: the head view of BertViz
 * (arXiv:1906.05714).
 */

import { topKeys } from "libattn/view/words";
import { nameOf } from "../map/axes";
import { Fold } from "../cost/fold";
import { element, find } from "../dom/dom";
import { significant } from "../dom/format";
import type { Pin } from "../row/place";
import type { Matrix, Table } from "../take/menu";
import { tableOfWeights } from "../take/weights";
import type { Grid } from "../state/types";
import type { Side, Strands, Weights } from "./strands";
import { words } from "../words/words";

const most = 64; // tokens on a side: more have no room
const named = 5; // keys, in words

interface Around {
    /** null: the input has no tokens. */
    tokens(): string[] | null;
    backends(): string[];
    /** The weights that its panel shows; null: none. */
    grid(backend: string): Grid | null;
    onPin(pin: Pin): void;
    onSettings(): void;
}

export class HeadView {
    #root = find(document, "#strands", HTMLDetailsElement);
    #backend = find(document, "#strands-of", HTMLSelectElement);
    #words = element("p", { className: "hint", role: "status" });
    #fold: Fold;
    #around: Around;
    #drawn: Grid | null = null;
    #made: Node[] = [];

    constructor(around: Around) {
        this.#around = around;
        this.#fold = new Fold(
            "strands",
            around.onSettings,
            () => this.#draw(),
            () => this.#table(),
            { matrix: () => this.#matrix() },
        );
        this.#backend.addEventListener("change", () => {
            around.onSettings();
            this.#fold.draw();
        });
    }

    /** The backend whose lines are shown; null: it is not open. */
    get open(): string | null {
        return this.#fold.isOpen ? this.#backend.value : null;
    }

    set(open: string | null): void {
        this.#offer();
        if (open !== null && this.#around.backends().includes(open)) this.#backend.value = open;
        this.#fold.isOpen = open !== null;
    }

    /** There may be other weights, or none. */
    refresh(): void {
        this.#root.hidden = this.#around.tokens() === null;
        this.#offer();
        if (this.#drawn !== this.#grid) this.#fold.draw();
    }

    /** The weights that are drawn are of before a change by now. */
    outdate(): void {
        this.#fold.draw();
    }

    get #grid(): Grid | null {
        return this.#around.grid(this.#backend.value);
    }

    #offer(): void {
        const known = [...this.#backend.options].map(({ value }) => value);
        const added = this.#around.backends().filter((backend) => !known.includes(backend));
        this.#backend.append(...added.map((backend) => new Option(backend)));
    }

    /** The same ones of the same weights: who has come to a token by keyboard stays there. */
    async #draw(): Promise<Node[]> {
        const { Strands: Made } = await import("./strands");
        const grid = this.#grid;
        if (!grid || grid !== this.#drawn)
            this.#made = this.#drawAnew(Made, grid, this.#around.tokens());
        this.#drawn = grid;
        return this.#made;
    }

    #drawAnew(Made: typeof Strands, grid: Grid | null, tokens: string[] | null): Node[] {
        this.#words.textContent = "";
        if (!grid || !tokens) return [];
        if (Math.max(grid.queries, grid.keys) > most)
            return [element("p", {}, words.strands.zoomIn(most))];
        const strands = new Made(weightsOf(grid, tokens), {
            onLook: (side, at) => {
                this.#words.textContent = at === null ? "" : sentence(grid, tokens, side, at);
            },
            onChoice: (side, at) => this.#around.onPin(pinOf(grid, side, at)),
        });
        return [strands.element, this.#words];
    }

    /** Its weights, where each has a cell of its own. */
    get #weights(): Grid | null {
        const grid = this.#grid;
        return grid && grid.rowsPerCell * grid.columnsPerCell === 1 ? grid : null;
    }

    #matrix(): Matrix | null {
        const grid = this.#weights;
        return grid && { numbers: grid.cells, shape: [grid.rows, grid.columns] };
    }

    #table(): Table | null {
        const [grid, tokens] = [this.#weights, this.#around.tokens()];
        if (!grid || !tokens) return null;
        return { ...tableOfWeights(grid, tokens), about: { backend: this.#backend.value } };
    }
}

function weightsOf(grid: Grid, tokens: string[]): Weights {
    const name = (first: number) => (_: unknown, i: number) => tokens[first + i] ?? "";
    return {
        queries: Array.from({ length: grid.queries }, name(grid.query)),
        keys: Array.from({ length: grid.keys }, name(grid.key)),
        first: { query: grid.query, key: grid.key },
        weights: grid.cells,
    };
}

function rowOf({ cells, columns }: Grid, row: number): Float32Array {
    return cells.subarray(row * columns, (row + 1) * columns);
}

function columnOf(grid: Grid, column: number): Float32Array {
    return Float32Array.from({ length: grid.rows }, (_, i) => rowOf(grid, i)[column] ?? NaN);
}

/** A token with the one on the other side with which it has the largest weight. */
function pinOf(grid: Grid, side: Side, at: number): Pin {
    const [top] = topKeys(side === "query" ? rowOf(grid, at) : columnOf(grid, at), 1);
    const [query, key] = side === "query" ? [at, top?.key ?? 0] : [top?.key ?? 0, at];
    return { query: grid.query + query, key: grid.key + key };
}

/** What a query looks at most, or who looks most at a key. */
function sentence(grid: Grid, tokens: string[], side: Side, at: number): string {
    const isQuery = side === "query";
    const [own, other] = isQuery ? [grid.query, grid.key] : [grid.key, grid.query];
    const top = topKeys(isQuery ? rowOf(grid, at) : columnOf(grid, at), named);
    const list = top.map(
        ({ key, weight }) => `${nameOf(other + key, tokens)} ${significant(weight, 3)}`,
    );
    const { looksAt, isLookedAt, none } = words.strands;
    return (isQuery ? looksAt : isLookedAt)(nameOf(own + at, tokens), list.join(", ") || none);
}
