/** A picture in words and as a table, for whoever does not see it. */

import { summarize, topKeys } from "libattn/view/words";
import { keyAxis, queryAxis, quotedName } from "../map/axes";
import { element, find, setText } from "../dom/dom";
import { percent, significant } from "../dom/format";
import type { Grid } from "../state/types";
import { isSame, wholeOf } from "../zoom/region";
import { words } from "../words/words";

const { told } = words;
const pause = 150; // milliseconds: a picture that moves is told when it stands still
const mostRows = 256; // of a table
const mostKeys = 5; // of a row

/** What is shown. */
export interface Shown {
    grid: Grid;
    values: Float32Array;
    tokens: string[] | null;
    isDifference: boolean;
}

export class Told {
    #words: HTMLElement;
    #details: HTMLDetailsElement;
    #shown: Shown | null = null;
    #timer = 0;

    /** `id`: of what is said of the picture, for the picture to refer to. */
    constructor(root: HTMLElement, id: string) {
        this.#words = find(root, ".told", HTMLElement);
        this.#words.id = id;
        this.#details = find(root, "details.rows", HTMLDetailsElement);
        this.#details.addEventListener("toggle", () => this.#fill());
    }

    /** null: nothing. */
    show(shown: Shown | null): void {
        if (shown && shown.values === this.#shown?.values) return;
        this.#shown = shown;
        clearTimeout(this.#timer);
        if (shown) this.#timer = setTimeout(() => this.#tell(), pause);
        else this.#tell();
    }

    #tell(): void {
        setText(this.#words, this.#shown ? summary(this.#shown) : "");
        this.#fill();
    }

    #fill(): void {
        const shown = this.#details.open ? this.#shown : null;
        find(this.#details, ".table", HTMLElement).replaceChildren(...(shown ? table(shown) : []));
    }
}

const rowName = ({ grid, tokens }: Shown, row: number) => quotedName(row, queryAxis(grid), tokens);
const columnName = ({ grid, tokens }: Shown, column: number) =>
    quotedName(column, keyAxis(grid), tokens);

/** The largest value stands in the line above it. */
function summary(shown: Shown): string {
    const { grid, isDifference } = shown;
    if (grid.pooling === "largest" && grid.rowsPerCell * grid.columnsPerCell > 1)
        return told.noShares; // of all weight
    const { diagonal, column } = summarize(sums(shown), grid.columns);
    if (!column) return isDifference ? told.noDifferences : told.noWeights;
    const isPart = !isSame(grid, wholeOf(grid.of));
    const square =
        grid.rows === grid.columns && grid.query === grid.key && grid.queries === grid.keys;
    const what = told.all(isDifference, isPart);
    const where = grid.rowsPerCell === 1 ? told.onDiagonal : told.inDiagonalCells;
    const share = `${percent(column.part)}${square ? "" : ` ${what}`}`;
    const parts = [
        ...(square ? [`${percent(diagonal)} ${what} ${where}`] : []),
        told.strongest(share, columnName(shown, column.key)),
    ];
    return `${parts.join("; ")}.`;
}

/** What cells, whose values are means, have in all; the last of a row or column may be of fewer keys or queries. */
function sums({ grid, values }: Shown): Float32Array {
    const { columns, queries, keys, rowsPerCell, columnsPerCell } = grid;
    const size = (cell: number, perCell: number, count: number) =>
        Math.min(perCell, count - cell * perCell);
    return values.map((mean, i) => {
        const height = size(Math.floor(i / columns), rowsPerCell, queries);
        return mean * height * size(i % columns, columnsPerCell, keys);
    });
}

/** Of each row the largest values and their keys. */
function table(shown: Shown): HTMLElement[] {
    const { grid, values, isDifference } = shown;
    const rows = Math.min(mostRows, grid.rows);
    const lines = Array.from({ length: rows }, (_, row) => {
        const weights = values.subarray(row * grid.columns, (row + 1) * grid.columns);
        const cells = topKeys(weights, mostKeys).map(({ key, weight }) => {
            const sign = isDifference && weight > 0 ? "+" : "";
            return element("td", {}, `${columnName(shown, key)} ${sign}${significant(weight, 3)}`);
        });
        return element("tr", {}, element("th", { scope: "row" }, rowName(shown, row)), ...cells);
    });
    const heads = [told.query, ...Array.from({ length: mostKeys }, (_, i) => `${i + 1}.`)];
    const head = heads.map((text) => element("th", { scope: "col" }, text));
    const rest = rows < grid.rows ? told.firstRows(rows, grid.rows) : "";
    const caption = `${told.caption(isDifference)}${rest}.`;
    return [
        element(
            "table",
            {},
            element("caption", {}, caption),
            element("thead", {}, element("tr", {}, ...head)),
            element("tbody", {}, ...lines),
        ),
    ];
}
