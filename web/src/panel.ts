/** One backend: its weights, its numbers and its controls. */

import type { Backend } from "libattn";
import { quotedName } from "./axes";
import type { Theme } from "./colors";
import { makeControls, type Controls } from "./controls";
import { find, message, showLine } from "./dom";
import { significant } from "./format";
import type { Cell } from "./drawing";
import type { Engine } from "./engine";
import { Heatmap } from "./heatmap";
import { factLines, fillList, numberLines, warnings, type Findings } from "./lines";
import type { Accuracy, Grid, Problem, Timing, Values } from "./types";

/** What a panel needs from the page around it. */
export interface Surroundings {
    engine: Engine;
    problem(): Problem;
    view(): { batch: number; head: number };
    tokens(): string[] | null;
    /** The weights that a difference is taken from. */
    reference(): Grid | null;
    commandLine(panel: Panel): string;
    /** The panel's picture changed: colours are shared, so all may have to be drawn again. */
    onPicture(): void;
    onSettings(): void;
    onPoint(cell: Cell | null): void;
    /** Everything is computed, or failed, but for the time a run takes. */
    onSolved(): void;
}

/** What a panel begins with. */
export interface Initial {
    params: Values;
    difference: boolean;
}

const patience = 250; // milliseconds after which the other numbers do not wait for the error

export class Panel {
    readonly id: string;
    /** The file it came from, or null. */
    readonly plugin: string | null;
    readonly element: HTMLElement;
    grid: Grid | null = null;
    #around: Surroundings;
    #controls: Controls;
    #heatmap: Heatmap;
    #tokens: string[] | null = null;
    #values: Float32Array | null = null;
    #cell: Cell | null = null;
    #ticket = 0;
    #findings: Findings | null = null;
    #isSolving = false;

    constructor(backend: Backend, initial: Initial, isReference: boolean, around: Surroundings) {
        this.id = backend.id;
        this.plugin = backend.origin === "built-in" ? null : backend.origin;
        this.#around = around;
        const template = find(document, "#panel", HTMLTemplateElement);
        const copy = template.content.cloneNode(true) as DocumentFragment;
        const root = (this.element = find(copy, "article", HTMLElement));
        root.dataset.backend = backend.id;
        this.#part("h2").textContent = backend.name;
        this.#part(".description").textContent = backend.description;
        this.#part(".reference").textContent = backend.reference;
        this.#part(".difference").classList.toggle("invisible", isReference);
        this.#differenceBox.disabled = isReference;
        this.#differenceBox.checked = initial.difference && !isReference;
        this.#differenceBox.addEventListener("change", () => {
            around.onSettings();
            around.onPicture();
        });

        const canvas = find(root, "canvas", HTMLCanvasElement);
        canvas.setAttribute("aria-label", `${backend.name}: weights by query and key; arrows move`);
        canvas.addEventListener("focus", () => this.#readout.setAttribute("aria-live", "polite"));
        canvas.addEventListener("blur", () => this.#readout.removeAttribute("aria-live"));
        this.#heatmap = new Heatmap(canvas, around.onPoint);
        const fields = this.#part(".controls");
        this.#controls = makeControls(fields, backend.id, backend.params, initial.params, () => {
            around.onSettings();
            void this.refresh();
        });
        this.#part(".command button").addEventListener("click", () => void this.#copyCommand());
    }

    /** Parameters that differ from the backend's defaults. */
    get changedParams(): Values {
        return this.#controls.changed();
    }

    get showsDifference(): boolean {
        return this.#differenceBox.checked;
    }

    /** What the heatmap shows: the weights, or their difference from the reference's. */
    get values(): Float32Array | null {
        return this.#values;
    }

    get isSolving(): boolean {
        return this.#isSolving;
    }

    /** Compute everything again. What an earlier call still computes is never shown. */
    async refresh(): Promise<void> {
        const ticket = ++this.#ticket;
        this.#isSolving = true;
        this.element.ariaBusy = "true";
        this.#part("code").textContent = this.#around.commandLine(this);
        try {
            await this.#solve(ticket);
        } catch (error) {
            if (ticket === this.#ticket) this.#fail(message(error));
        }
        if (ticket !== this.#ticket) return;
        this.#isSolving = false;
        this.#around.onSolved();
    }

    async #solve(ticket: number): Promise<void> {
        const { engine, problem } = this.#around;
        const numbers = await engine.solve(this.id, problem(), this.#controls.values());
        if (numbers === null || ticket !== this.#ticket) return;
        this.#controls.reflect(numbers.facts);
        await this.#refreshGrid(ticket);
        if (ticket !== this.#ticket) return;
        const show = (accuracy: Accuracy | null) => {
            if (ticket === this.#ticket) this.#show({ numbers, accuracy, timing: null });
        };
        const early = setTimeout(show, patience, null);
        const accuracy = await engine.error(this.id).finally(() => clearTimeout(early));
        if (accuracy) show(accuracy);
    }

    /** How long a run takes, which is found last; null: nobody knows. */
    showTiming(timing: Timing | null): void {
        if (this.#isSolving) return;
        if (this.#findings && timing) this.#show({ ...this.#findings, timing });
        this.element.ariaBusy = "false";
    }

    /** Show another batch or head of what is computed. */
    async refreshView(): Promise<void> {
        const ticket = this.#ticket;
        try {
            await this.#refreshGrid(ticket);
        } catch (error) {
            if (ticket === this.#ticket) this.#fail(message(error));
        }
    }

    /** Take the difference anew, as the reference may have changed; none while they do not fit. */
    prepare(): void {
        const cells = this.grid?.cells ?? null;
        this.#values = this.showsDifference
            ? difference(cells, this.#around.reference()?.cells)
            : cells;
    }

    paint(max: number, theme: Theme): void {
        if (!this.grid || !this.#values) return;
        const { grid } = this;
        this.#heatmap.show({ grid, values: this.#values, max, tokens: this.#tokens }, theme);
        this.point(this.#cell);
    }

    /** Mark a cell and say what is in it. */
    point(cell: Cell | null): void {
        const inside =
            cell && this.grid && cell.row < this.grid.rows && cell.column < this.grid.columns;
        this.#cell = inside ? cell : null;
        this.#heatmap.point(this.#cell);
        this.#readout.classList.toggle("idle", !this.#cell);
        const largest = this.#cell ? null : largestCell(this.grid, this.#values);
        if (this.#cell) this.#readout.textContent = this.#reading(this.#cell);
        else this.#readout.textContent = largest ? `largest: ${this.#reading(largest)}` : "";
    }

    async #refreshGrid(ticket: number): Promise<void> {
        const { batch, head } = this.#around.view();
        const grid = await this.#around.engine.heatmap(this.id, batch, head);
        const view = this.#around.view();
        if (grid === null || ticket !== this.#ticket) return;
        if (batch !== view.batch || head !== view.head) return;
        this.grid = grid;
        this.#tokens = this.#around.tokens();
        this.element.classList.remove("failed");
        this.#around.onPicture();
    }

    #reading({ row, column }: Cell): string {
        const { grid } = this;
        if (!grid || !this.#values) return "";
        const tokens = this.#tokens;
        const query = quotedName(row, grid.rowsPerCell, grid.queries, tokens);
        const key = quotedName(column, grid.columnsPerCell, grid.keys, tokens);
        const value = this.#values[row * grid.columns + column] ?? NaN;
        const sign = this.showsDifference && value > 0 ? "+" : "";
        return `${query} → ${key}  ${sign}${significant(value, 3)}`;
    }

    #show(findings: Findings): void {
        this.#findings = findings;
        showLine(this.#part(".problem"), warnings(findings.numbers, this.grid));
        fillList(this.#part(".numbers"), numberLines(findings));
        fillList(this.#part(".facts"), factLines(findings.numbers));
    }

    /** There is no input: show nothing of the last. */
    clear(): void {
        this.#ticket++;
        this.#isSolving = false;
        this.#fail(null);
        this.element.ariaBusy = "false";
    }

    #fail(reason: string | null): void {
        this.grid = this.#values = this.#findings = null;
        this.point(null);
        this.element.classList.add("failed");
        showLine(this.#part(".problem"), reason);
        this.#part(".numbers").replaceChildren();
        this.#part(".facts").replaceChildren();
        this.#around.onPicture();
    }

    async #copyCommand(): Promise<void> {
        const button = this.#part(".command button");
        try {
            await navigator.clipboard.writeText(this.#part("code").textContent ?? "");
            button.textContent = "Copied";
        } catch {
            getSelection()?.selectAllChildren(this.#part("code"));
            button.textContent = "Selected";
        }
        setTimeout(() => (button.textContent = "Copy"), 1500);
    }

    get #readout(): HTMLElement {
        return this.#part(".readout");
    }

    get #differenceBox(): HTMLInputElement {
        return find(this.element, ".difference input", HTMLInputElement);
    }

    #part(selector: string): HTMLElement {
        return find(this.element, selector, HTMLElement);
    }
}

function difference(cells: Float32Array | null, base: Float32Array | undefined) {
    if (!cells || cells.length !== base?.length) return null;
    return cells.map((weight, i) => weight - (base[i] ?? NaN));
}

/** The cell with the largest value, by size. */
function largestCell(grid: Grid | null, values: Float32Array | null): Cell | null {
    if (!grid || !values) return null;
    let largest = 0;
    values.forEach((value, i) => {
        if (Math.abs(value) > Math.abs(values[largest] ?? 0)) largest = i;
    });
    return { row: Math.floor(largest / grid.columns), column: largest % grid.columns };
}
