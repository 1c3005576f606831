/** All heads of all layers, small: each a picture that grows by a row with each token that is read. */

import type { Theme } from "../map/colors";
import { element, find } from "../dom/dom";
import { nameOf } from "../map/axes";
import { sharesOf } from "../map/summary";
import { takeMenu, type Matrix, type Table } from "../take/menu";
import type { Grid } from "../state/types";
import { firstRows, paintWeights, tableOfHeads } from "./weights";
import { said } from "./words";

export class Heads {
    #root = find(document, "#heads", HTMLElement);
    #grids: readonly (readonly Grid[])[] = [];
    #tokens: readonly string[] = [];
    /** So many have been read, and in what colours it is shown. */
    #token = 0;
    #theme: Theme | null = null;
    #onChoice: (layer: number, head: number) => void;

    /** `about`: of whose they are, for files. */
    constructor(onChoice: (layer: number, head: number) => void, about: () => Table["about"]) {
        this.#onChoice = onChoice;
        const card = find(document, "[aria-labelledby=heads-title]", HTMLElement);
        const title = find(card, "h2", HTMLElement).textContent;
        const menu = takeMenu(title, {
            name: () => "thinking-heads",
            svg: () => this.#sheet(title),
            table: () => {
                const matrix = this.#matrix();
                return matrix && { ...tableOfHeads(matrix, this.#tokens), about: about() };
            },
            matrix: () => this.#matrix(),
        });
        card.append(menu);
    }

    /** By layer and head; `tokens`: of queries and keys. */
    show(grids: readonly (readonly Grid[])[], tokens: readonly string[]): void {
        this.#grids = grids;
        this.#tokens = tokens;
        this.#root.style.setProperty("--heads", String(grids[0]?.length ?? 1));
        const buttons = grids.flatMap((heads, layer) =>
            heads.map((_, head) => {
                const name = `${layer + 1}.${head + 1}`;
                const canvas = element("canvas", { ariaHidden: "true" });
                const button = element("button", { type: "button" }, canvas, name);
                button.dataset.place = `${name}: ${said.place(layer + 1, head + 1)}`;
                button.addEventListener("click", () => this.#onChoice(layer, head));
                return button;
            }),
        );
        this.#root.replaceChildren(...buttons);
    }

    choose(layer: number, head: number): void {
        const chosen = layer * (this.#grids[0]?.length ?? 1) + head;
        [...this.#root.children].forEach(
            (button, i) => (button.ariaPressed = String(i === chosen)),
        );
    }

    /** So many tokens have been read. */
    paint(token: number, theme: Theme): void {
        this.#token = token;
        this.#theme = theme;
        const buttons = this.#root.querySelectorAll("button");
        this.#grids.flat().forEach((grid, i) => {
            const button = buttons[i];
            if (!button) return;
            const cells = firstRows(grid, token);
            paintWeights(find(button, "canvas", HTMLCanvasElement), { ...grid, cells }, theme);
            const nameKey = (key: number) => nameOf(key, [...this.#tokens]);
            button.ariaLabel = `${button.dataset.place}. ${sharesOf(cells, grid.columns, nameKey)}`;
        });
    }

    async #sheet(title: string): Promise<string | null> {
        const { sheet } = await import("../look/sheet");
        const buttons = [...this.#root.querySelectorAll("button")];
        if (buttons.length === 0 || !this.#theme) return null;
        const tiles = buttons.map((button) => ({
            image: find(button, "canvas", HTMLCanvasElement),
            lines: [button.textContent],
        }));
        return sheet(tiles, this.#grids[0]?.length ?? 1, this.#theme, title);
    }

    /** Rows that have been read: (layer, head, query, key). */
    #matrix(): Matrix | null {
        const [first] = this.#grids.flat();
        if (!first) return null;
        const { columns } = first;
        const size = this.#token * columns;
        const all = this.#grids.flat().map(({ cells }) => cells.subarray(0, size));
        const numbers = new Float32Array(all.length * size);
        all.forEach((rows, i) => numbers.set(rows, i * size));
        const [layers, heads] = [this.#grids.length, this.#grids[0]?.length ?? 1];
        return { numbers, shape: [layers, heads, this.#token, columns] };
    }
}
