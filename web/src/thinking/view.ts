/** One head under one kind of attention, large, with how far its output is off. */

import type { Theme } from "../map/colors";
import { element, find, showLine } from "../dom/dom";
import { speakOfKeys } from "../dom/spoken";
import { Description } from "../map/description";
import { Heatmap } from "../map/heatmap";
import { nameOf } from "../map/axes";
import { significant } from "../dom/format";
import type { Cell } from "../map/drawing";
import { takeMenu, type Matrix, type Table } from "../take/menu";
import { tableOfWeights } from "../take/weights";
import type { Accuracy, Grid } from "../state/types";
import { firstRows } from "./weights";
import { words } from "../words/words";
import { said } from "./words";

/** What a backend makes of the queries, keys and values. */
export interface Made {
    backend: string;
    /** Is it what the model was trained with? */
    isOwn: boolean;
    /** By layer and head. */
    grids: Grid[][];
    /** Against exact softmax, and against the model's own attention. */
    exact: Accuracy;
    own: Accuracy;
}

export class View {
    readonly element: HTMLElement;
    #heatmap: Heatmap;
    #readout: HTMLElement;
    #tokens: string[];
    #description: Description | null = null;
    #grid: Grid | null = null;
    #values: Float32Array | null = null;
    #token = 0;
    #cell: Cell | null = null;

    /** `made`: a text where there is nothing but a reason for that; `about`: of whose it is, for files. */
    constructor(
        name: string,
        made: Made | string,
        tokens: string[],
        onPoint: (cell: Cell | null) => void,
        about: () => Table["about"],
    ) {
        const template = find(document, "#view", HTMLTemplateElement);
        const copy = template.content.cloneNode(true) as DocumentFragment;
        const root = (this.element = find(copy, "article", HTMLElement));
        this.#tokens = tokens;
        this.#readout = find(root, ".readout", HTMLElement);
        const canvas = find(root, "canvas", HTMLCanvasElement);
        canvas.setAttribute("aria-label", said.picture(name));
        speakOfKeys(this.#readout, canvas);
        root.ariaLabel = name;
        this.#heatmap = new Heatmap(canvas, onPoint, onPoint);
        find(root, "h3", HTMLElement).textContent = name;
        if (typeof made === "string") {
            find(root, ".picture", HTMLElement).hidden = true;
            showLine(find(root, ".problem", HTMLElement), made);
            return;
        }
        root.dataset.backend = made.backend;
        this.#description = new Description(canvas, made.backend);
        root.classList.toggle("own", made.isOwn);
        find(root, ".numbers", HTMLElement).append(
            line("exact", said.errorAgainstSoftmax, made.exact),
            line("own", said.errorAgainstOwn, made.own),
        );
        const errors = { error: made.exact.error, errorAgainstOwn: made.own.error };
        const menu = takeMenu(name, {
            name: () => `thinking-${made.backend}`,
            svg: () => this.#heatmap.svg(`${name}: ${words.picture.weights}`),
            table: () => this.#table({ backend: made.backend, ...errors, ...about() }),
            matrix: () => this.#matrix(),
        });
        root.append(menu);
    }

    /** This head, as it is once so many tokens have been read. */
    show(grid: Grid, token: number, theme: Theme): void {
        this.#grid = grid;
        this.#token = token;
        this.#values = firstRows(grid, token);
        const picture = {
            grid,
            values: this.#values,
            max: 1,
            law: "shared",
            tokens: this.#tokens,
        } as const;
        this.#heatmap.show(picture, theme);
        this.#description?.show({ ...picture, isDifference: false });
        this.#heatmap.pin(token - 1);
        this.point(this.#cell ?? null, token);
    }

    /** Say what is in a cell, or else the most that the token last read takes. */
    point(cell: Cell | null, token: number): void {
        this.#cell = cell;
        this.#heatmap.point(cell);
        const shown = cell ?? this.#largest(token - 1);
        if (!this.#grid || !this.#values || !shown) return;
        const { columns } = this.#grid;
        const name = (index: number) => nameOf(index, this.#tokens);
        const weight = this.#values[shown.row * columns + shown.column] ?? NaN;
        this.#readout.classList.toggle("idle", !cell);
        const reading = `${name(shown.row)} → ${name(shown.column)}  ${significant(weight, 3)}`;
        this.#readout.textContent = cell ? reading : said.most(reading);
    }

    /** Rows that have been read. */
    #matrix(): Matrix | null {
        if (!this.#grid) return null;
        const { cells, columns } = this.#grid;
        return { numbers: cells.subarray(0, this.#token * columns), shape: [this.#token, columns] };
    }

    #table(about: Table["about"]): Table | null {
        const matrix = this.#matrix();
        if (!this.#grid || !matrix) return null;
        return { ...tableOfWeights({ ...this.#grid, cells: matrix.numbers }, this.#tokens), about };
    }

    #largest(row: number): Cell | null {
        if (!this.#grid || !this.#values) return null;
        const { columns } = this.#grid;
        const weights = [...this.#values.subarray(row * columns, (row + 1) * columns)];
        return { row, column: weights.indexOf(Math.max(...weights)) };
    }
}

function line(name: string, label: string, { error }: Accuracy): HTMLElement {
    const data = element("data", { value: String(error) }, significant(error, 3));
    const item = element("div", {}, element("dt", {}, label), element("dd", {}, data));
    item.dataset.name = name;
    return item;
}
