/** The line below the pictures: what the row that is pointed at looks at, and how much of that the others see. */

import { topKeys } from "libattn/view/words";
import { keyAxis, queryAxis, quotedName } from "../map/axes";
import { find, setText } from "../dom/dom";
import { speakOfKeys } from "../dom/spoken";
import { percent } from "../dom/format";
import type { Cell } from "../map/drawing";
import type { Grid } from "../state/types";
import { words } from "../words/words";

const { looks: told } = words;
const mostKeys = 3;
const least = 0.01; // of a weight that is named

/** A picture, and whose it is. */
export interface Seen {
    name: string;
    grid: Grid | null;
}

export class Looks {
    #line = find(document, "#looks", HTMLElement);
    #hint = this.#line.textContent;
    #idle = this.#hint;

    constructor() {
        speakOfKeys(this.#line, find(document, "#panels", HTMLElement));
    }

    /** What it says while nothing is pointed at: of a query that is shown step by step; null: none is. */
    tellPinned(name: string | null): void {
        const isIdle = this.#line.textContent === this.#idle;
        this.#idle = name === null ? this.#hint : told.pinned(name);
        if (isIdle) setText(this.#line, this.#idle);
    }

    /** `large`: what its row is told of; null: nothing is pointed at. */
    show(cell: Cell | null, large: Seen | null, others: Seen[], tokens: string[] | null): void {
        setText(this.#line, (cell && large && sentence(cell, large, others, tokens)) ?? this.#idle);
    }
}

function sentence(cell: Cell, large: Seen, others: Seen[], tokens: string[] | null): string | null {
    const { grid } = large;
    const weights = grid && rowOf(grid, cell.row);
    if (!grid || !weights) return null;
    const keyName = (key: number) => quotedName(key, keyAxis(grid), tokens);
    const [first, ...rest] = topKeys(weights, mostKeys).filter(({ weight }) => weight >= least);
    const name = quotedName(cell.row, queryAxis(grid), tokens);
    if (!first) return told.atNothing(name);
    const seen = [first, ...rest].map(({ key, weight }) => told.key(keyName(key), percent(weight)));
    const beside = others.flatMap(({ name, grid }) => {
        const weight = grid && rowOf(grid, cell.row)?.[first.key];
        return weight === null || weight === undefined ? [] : `${name} ${percent(weight)}`;
    });
    return told.looks(name, seen.join(", "), keyName(first.key), beside.join(", "));
}

/** null: the picture has no such row. */
function rowOf({ cells, columns, rows }: Grid, row: number): Float32Array | null {
    return row < rows ? cells.subarray(row * columns, (row + 1) * columns) : null;
}
