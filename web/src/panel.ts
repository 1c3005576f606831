/** One backend: its weights, its numbers and its controls. */

import type { Backend } from "libattn";
import { quotedName } from "./axes";
import type { ColourLaw, Theme } from "./colors";
import { makeControls, type Controls } from "./controls";
import { find, isAbort, message, showLine } from "./dom";
import { significant } from "./format";
import type { Cell } from "./drawing";
import type { Engine } from "./engine";
import { Heatmap } from "./heatmap";
import { factLines, fillList, numberLines, warnings, type Findings, type Line } from "./lines";
import { withLinks } from "./references";
import type { Pin } from "./row/place";
import { rowView } from "./row/view";
import type { Term } from "./terms";
import type { Grid, Problem, Timing, Values } from "./types";
import type { Work } from "./work";

/** What a panel needs from the page around it. */
export interface Surroundings {
    engine: Engine;
    problem(): Problem;
    view(): { batch: number; head: number };
    tokens(): string[] | null;
    /** Is it the backend whose weights a difference is taken from? */
    isReference(backend: string): boolean;
    /** Those weights, where they are known. */
    reference(): Grid | null;
    commandLine(panel: Panel): string;
    /** The panel's picture changed: colours are shared, so all may have to be drawn again. */
    onPicture(): void;
    showsDifference(): boolean;
    /** A label that explains itself. */
    term(line: Line, backend: Backend): Node;
    /** The same of any words. */
    label(text: string, term: Term): Node;
    /** The query that is looked at closely. */
    pin(): Pin | null;
    onPin(pin: Pin): void;
    /** There are numbers. */
    onFindings(panel: Panel, findings: Findings): void;
    onSettings(): void;
    onEnlarge(panel: Panel): void;
    onPoint(cell: Cell | null): void;
    onProgress(): void;
    /** Everything is computed, or failed, but for the time a run takes. */
    onSolved(): void;
}

/** What a panel is computing. */
export type Step = "picture" | "output" | "error" | "time";

const steps: readonly Step[] = ["picture", "output", "error", "time"];

const patience = 250; // milliseconds after which what is known does not wait for the rest
const stopped = "stopped before all was computed";

export class Panel {
    readonly id: string;
    /** The file it came from, or null. */
    readonly plugin: string | null;
    readonly element: HTMLElement;
    #grid: Grid | null = null;
    /** The grid belongs to another input, problem or view than the present. */
    #isStale = false;
    #around: Surroundings;
    #controls: Controls;
    #heatmap: Heatmap;
    #tokens: string[] | null = null;
    #values: Float32Array | null = null;
    #cell: Cell | null = null;
    #place: number;
    #work: Work | null = null;
    #findings: Findings | null = null;
    #isStopped = false;
    #isReference: boolean;
    #label: (line: Line) => Node;
    #backend: Backend;
    #rows = 0; // asked for
    /** What is under way, and how much of it is done; null: nothing. */
    #step: Step | null = null;
    #part = 0;

    /** `place`: among all panels. */
    constructor(backend: Backend, place: number, params: Values, around: Surroundings) {
        const isReference = around.isReference(backend.id);
        this.id = backend.id;
        this.#place = place;
        this.plugin = backend.origin === "built-in" ? null : backend.origin;
        this.#around = around;
        this.#backend = backend;
        this.#label = (line) => around.term(line, backend);
        const template = find(document, "#panel", HTMLTemplateElement);
        const copy = template.content.cloneNode(true) as DocumentFragment;
        const root = (this.element = find(copy, "article", HTMLElement));
        root.dataset.backend = backend.id;
        this.#find("h2").textContent = backend.name;
        this.#find(".description").textContent = backend.description;
        this.#find(".reference").append(...withLinks(backend.reference));
        this.#isReference = isReference;
        this.#find(".enlarge").addEventListener("click", () => around.onEnlarge(this));

        const canvas = find(root, "canvas", HTMLCanvasElement);
        canvas.setAttribute(
            "aria-label",
            `${backend.name}: weights by query and key; arrows move, Enter: step by step`,
        );
        canvas.addEventListener("focus", () => this.#readout.setAttribute("aria-live", "polite"));
        canvas.addEventListener("blur", () => this.#readout.removeAttribute("aria-live"));
        this.#heatmap = new Heatmap(canvas, around.onPoint, (cell) => this.#pinCell(cell));
        const fields = this.#find(".controls");
        this.#controls = makeControls(fields, backend.id, backend.params, params, () => {
            around.onSettings();
            void this.refresh();
        });
        this.#find(".command button").addEventListener("click", () => void this.#copyCommand());
    }

    /** All parameters. */
    get params(): Values {
        return this.#controls.values();
    }

    /** Parameters that differ from the backend's defaults. */
    get changedParams(): Values {
        return this.#controls.changed();
    }

    get showsDifference(): boolean {
        return this.#around.showsDifference() && !this.#isReference;
    }

    /** The weights; null while there are none of the present input and controls. */
    get grid(): Grid | null {
        return this.#isStale ? null : this.#grid;
    }

    /** What the heatmap shows: the weights, or their difference from the reference's. */
    get values(): Float32Array | null {
        return this.#values;
    }

    get step(): Step | null {
        return this.#step;
    }

    /** Did stop() leave something undone? */
    get isStopped(): boolean {
        return this.#isStopped;
    }

    /** How much is done, from 0 to 1. */
    get progress(): number {
        if (this.#step === null) return 1;
        return (steps.indexOf(this.#step) + this.#part) / steps.length;
    }

    get isSolving(): boolean {
        return this.#step !== null && this.#step !== "time";
    }

    /** How far the output is from exact; null: not known. */
    get error(): number | null {
        return this.#findings?.accuracy?.error ?? null;
    }

    /** What is wrong, in words; null: nothing. */
    get problem(): string | null {
        return this.#find(".problem").textContent || null;
    }

    /** Set parameters, and those without a value to their defaults. */
    setParams(values: Values): void {
        this.#controls.set(values);
    }

    /** Compute everything again. What an earlier call still computes is never shown. */
    async refresh(): Promise<void> {
        const { engine, problem, commandLine } = this.#around;
        const params = this.#controls.values();
        this.outdate();
        this.#find("code").textContent = commandLine(this);
        const task = { backend: this.id, place: this.#place, problem: problem(), params };
        const work = (this.#work = engine.begin(task));
        if (!work) return; // until there is an input
        try {
            await this.#solve(work);
        } catch (error) {
            if (work === this.#work) this.#fail(message(error));
        }
        if (work !== this.#work) return;
        this.#begin("time");
        this.#around.onSolved();
    }

    async #solve(work: Work): Promise<void> {
        const numbers = await work.describe();
        if (work !== this.#work) return;
        this.#controls.reflect(numbers.facts);
        await this.#refreshGrid(work);
        if (work !== this.#work) return;

        const found: Findings = { numbers, run: null, accuracy: null, timing: null, ended: null };
        this.#findings = found;
        const show = () => {
            if (work === this.#work) this.#show({ ...found });
        };
        const early = setTimeout(show, patience);
        try {
            this.#begin("output");
            found.run = await work.run(numbers.flops);
            if (work === this.#work) this.#begin("error");
            found.accuracy = await work.error();
        } catch (error) {
            found.ended = message(error);
        }
        clearTimeout(early);
        show();
    }

    /** How long a run takes, which is found last; null: nobody knows. */
    showTiming(timing: Timing | null): void {
        if (this.isSolving) return;
        if (this.#findings && timing) this.#show({ ...this.#findings, timing });
        this.#begin(null);
    }

    /** Show the steps of the query that is pinned, if there is one. */
    async refreshRow(): Promise<void> {
        const pin = this.#around.pin();
        const holder = this.#find(".row");
        const work = this.#work;
        const asked = ++this.#rows;
        const isAsked = pin !== null && work !== null && this.grid !== null;
        holder.hidden = pin === null;
        holder.classList.toggle("old", isAsked);
        this.#markPin(pin);
        if (!isAsked) return holder.replaceChildren();
        const row = await this.#row(work, pin);
        if (work !== this.#work || asked !== this.#rows) return;
        holder.classList.remove("old");
        holder.replaceChildren(...row);
    }

    async #row(work: Work, pin: Pin): Promise<(Node | string)[]> {
        const { label, view } = this.#around;
        try {
            const steps = await work.row({ ...pin, ...view() }, this.#backend);
            return rowView(steps, { name: (i) => this.#nameOf(i), label });
        } catch (error) {
            return [isAbort(error) ? stopped : message(error)];
        }
    }

    #pinCell({ row, column }: Cell): void {
        if (!this.grid) return;
        const { rowsPerCell, columnsPerCell, queries, keys } = this.grid;
        this.#around.onPin({
            query: Math.min(queries - 1, row * rowsPerCell),
            key: Math.min(keys - 1, column * columnsPerCell),
        });
    }

    #markPin(pin: Pin | null): void {
        this.#heatmap.pin(pin && this.#grid && Math.floor(pin.query / this.#grid.rowsPerCell));
    }

    #nameOf(index: number): string {
        return quotedName(index, 1, Infinity, this.#tokens);
    }

    /** Show another batch or head of what is computed. */
    async refreshView(): Promise<void> {
        const work = this.#work;
        this.#markStale(true);
        if (!work) return; // it was stopped, or is to come
        try {
            await this.#refreshGrid(work);
        } catch (error) {
            if (work === this.#work) this.#fail(message(error));
        }
    }

    /** The input or the controls are others now: nothing that is shown is theirs. */
    outdate(): void {
        this.#isStopped = false;
        this.#work = this.#findings = null;
        this.#markStale(true);
        this.#begin("picture");
    }

    /** Compute no further: what is not there by now will not be. */
    stop(): void {
        if (this.#step === null) return;
        this.#isStopped = true;
        this.#work = null;
        if (this.#isStale || !this.#findings) this.#fail(stopped);
        else this.#show({ ...this.#findings, ended: stopped });
        this.#begin(null);
    }

    #begin(step: Step | null): void {
        this.#step = step;
        this.#part = 0;
        this.element.ariaBusy = String(step !== null);
        this.#around.onProgress();
    }

    #markStale(isStale: boolean): void {
        this.#isStale = isStale;
        this.prepare();
        this.point(this.#cell);
    }

    /** Take the difference anew, as the reference may have changed; none while that is not known. */
    prepare(): void {
        const cells = this.grid?.cells ?? null;
        this.#values = this.showsDifference
            ? difference(cells, this.#around.reference()?.cells)
            : cells;
        this.element.classList.toggle("stale", this.#grid !== null && this.#values === null);
    }

    /** Make it large, or as it was. */
    set isEnlarged(isEnlarged: boolean) {
        this.element.classList.toggle("enlarged", isEnlarged);
        const button = this.#find(".enlarge");
        button.ariaPressed = String(isEnlarged);
        button.textContent = isEnlarged ? "Reduce" : "Enlarge";
    }

    paint(max: number, theme: Theme, law: ColourLaw): void {
        if (!this.grid || !this.#values) return;
        const { grid } = this;
        this.#heatmap.show({ grid, values: this.#values, max, law, tokens: this.#tokens }, theme);
        this.point(this.#cell);
    }

    /** Mark a cell and say what is in it. */
    point(cell: Cell | null): void {
        const grid = this.#grid;
        const inside = cell && grid && cell.row < grid.rows && cell.column < grid.columns;
        this.#cell = inside ? cell : null;
        this.#heatmap.point(this.#cell);
        this.#readout.classList.toggle("idle", !this.#cell);
        const largest = this.#cell ? null : largestCell(this.grid, this.#values);
        if (this.#cell) this.#readout.textContent = this.#reading(this.#cell);
        else this.#readout.textContent = largest ? `largest: ${this.#reading(largest)}` : "";
    }

    async #refreshGrid(work: Work): Promise<void> {
        const { batch, head } = this.#around.view();
        const onProgress = (part: number) => {
            if (work !== this.#work || this.#step !== "picture") return;
            this.#part = part;
            this.#around.onProgress();
        };
        const grid = await work.picture(batch, head, onProgress).catch((error: unknown) => {
            if (isAbort(error)) return null; // another view or work has been asked for
            throw error;
        });
        if (grid === null || work !== this.#work) return;
        this.#grid = grid;
        this.#isStale = false;
        this.#tokens = this.#around.tokens();
        this.element.classList.remove("failed");
        this.#around.onPicture();
        void this.refreshRow();
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
        this.#around.onFindings(this, findings);
        showLine(this.#find(".problem"), warnings(findings, this.grid));
        fillList(this.#find(".numbers"), numberLines(findings), this.#label);
        fillList(this.#find(".facts"), factLines(findings.numbers), this.#label);
    }

    /** There is no input: show nothing of the last. */
    clear(): void {
        this.#isStopped = false;
        this.#work = null;
        this.#fail(null);
        this.#begin(null);
    }

    #fail(reason: string | null): void {
        this.#grid = this.#findings = null;
        this.#markStale(false);
        this.element.classList.add("failed");
        showLine(this.#find(".problem"), reason);
        this.#find(".numbers").replaceChildren();
        this.#find(".facts").replaceChildren();
        this.#find(".row").replaceChildren();
        this.#around.onPicture();
    }

    async #copyCommand(): Promise<void> {
        const button = this.#find(".command button");
        try {
            await navigator.clipboard.writeText(this.#find("code").textContent ?? "");
            button.textContent = "Copied";
        } catch {
            getSelection()?.selectAllChildren(this.#find("code"));
            button.textContent = "Selected";
        }
        setTimeout(() => (button.textContent = "Copy"), 1500);
    }

    get #readout(): HTMLElement {
        return this.#find(".readout");
    }

    #find(selector: string): HTMLElement {
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
