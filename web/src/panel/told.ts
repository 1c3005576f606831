/** A picture in words and as a table, for whoever does not see it. */

import { topKeys } from "libattn/view/words";
import { keyAxis, queryAxis, quotedName } from "../map/axes";
import { summaryOf, type Shown } from "../map/summary";
import { element, find, setText } from "../dom/dom";
import { significant } from "../dom/format";
import { words } from "../words/words";

const { told } = words;
const pause = 150; // milliseconds: a picture that moves is told when it stands still
const mostRows = 256; // of a table
const mostKeys = 5; // of a row

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
        setText(this.#words, this.#shown ? summaryOf(this.#shown) : "");
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
