/** One backend: its weights, its numbers and its controls. */

import type { Backend } from "libattn";
import { makeControls, type Controls } from "../controls";
import { find, isAbort, keepPlace, message } from "../dom";
import type { Cell } from "../drawing";
import type { Findings } from "../lines";
import type { Look } from "../look/look";
import type { Grid, Timing, Values } from "../types";
import type { Work } from "../work";
import type { Region } from "../zoom/region";
import { Command } from "./command";
import { panelElement } from "./element";
import { Figures } from "./figures";
import { Picture } from "./picture";
import { Row, stopped } from "./row";
import { addSaving } from "./saving";
import type { Surroundings } from "./surroundings";
import { Worst } from "./worst";

/** What a panel is computing. */
export type Step = "picture" | "output" | "error" | "time";

const steps: readonly Step[] = ["picture", "output", "error", "time"];

const pairsLookedAt = 2 ** 18; // of a query and a key: all of 512 tokens, 64 rows of 4096
const patience = 250; // milliseconds after which what is known does not wait for the rest

export class Panel {
    readonly id: string;
    /** The file it came from, or null. */
    readonly plugin: string | null;
    readonly element: HTMLElement;
    #backend: Backend;
    #place: number;
    #isReference: boolean;
    #around: Surroundings;
    #controls: Controls;
    #picture: Picture;
    #figures: Figures;
    #row: Row;
    #command: Command;
    #worst: Worst;
    #work: Work | null = null;
    #findings: Findings | null = null;
    #isStopped = false;
    /** What is under way, and how much of it is done; null: nothing. */
    #step: Step | null = null;
    #part = 0;

    /** `place`: among all panels. */
    constructor(backend: Backend, place: number, params: Values, around: Surroundings) {
        this.id = backend.id;
        this.#place = place;
        this.plugin = backend.origin === "built-in" ? null : backend.origin;
        this.#around = around;
        this.#backend = backend;
        this.#isReference = around.isReference(backend.id);
        const root = (this.element = panelElement(backend));
        const enlarge = this.#find(".enlarge");
        enlarge.addEventListener("click", () => {
            keepPlace(enlarge, () => around.onEnlarge(this));
        });
        this.#picture = new Picture(root, backend.name, {
            showsDifference: () => this.showsDifference,
            reference: () => around.reference(),
            hasErrors: true,
            zoom: around.zoom,
            onPoint: (cell) => around.onPoint(cell),
            onPin: (pin) => around.onPin(pin),
        });
        this.#figures = new Figures(root, (line) => around.term(line, backend));
        this.#row = new Row(this.#find(".row"), {
            name: (index) => this.#picture.nameOf(index),
            label: (text, term) => around.label(text, term),
        });
        this.#command = new Command(find(this.element, ".command", HTMLDetailsElement));
        this.#worst = new Worst(root, (row) => {
            around.onRow(row, { query: row.query, key: row.key });
        });
        addSaving(this, backend.name, this.#picture, around, () => this.#findings);
        const fields = this.#find(".controls");
        this.#controls = makeControls(fields, backend.id, backend.params, params, () => {
            around.onSettings();
            void this.refresh();
        });
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
        return this.#picture.grid;
    }

    /** What the picture shows. */
    get values(): Float32Array | null {
        return this.#picture.values;
    }

    get mostError(): number {
        return this.#picture.mostError;
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
        return this.#figures.problem;
    }

    /** Make it large, or as it was. */
    set isEnlarged(isEnlarged: boolean) {
        this.element.classList.toggle("enlarged", isEnlarged);
        const button = this.#find(".enlarge");
        button.ariaPressed = String(isEnlarged);
        button.textContent = isEnlarged ? "Reduce" : "Enlarge";
    }

    /** Set parameters, and those without a value to their defaults. */
    setParams(values: Values): void {
        this.#controls.set(values);
    }

    prepare(): void {
        this.#picture.prepare();
    }

    paint(...scale: Parameters<Picture["paint"]>): void {
        this.#picture.paint(...scale);
    }

    point(cell: Cell | null): void {
        this.#picture.point(cell);
    }

    /** Compute everything again. What an earlier call still computes is never shown. */
    async refresh(): Promise<void> {
        const { engine, problem, commandLine } = this.#around;
        const params = this.#controls.values();
        this.outdate();
        this.#command.show(commandLine(this));
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

        const none = { run: null, accuracy: null, look: null, timing: null, ended: null };
        const found: Findings = { numbers, ...none };
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
            const worst = await work.worst();
            if (work === this.#work)
                this.#worst.show(worst, (query) => this.#picture.nameOf(query));
            found.look = await this.#look(work);
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
        const { pin, view } = this.#around;
        const [pinned, work] = [pin(), this.#work];
        this.#picture.markPin(pinned);
        await this.#row.show(
            pinned && { ...pinned, ...view() },
            work && this.grid && ((place) => work.row(place, this.#backend)),
        );
    }

    /** Show another batch or head of what is computed. */
    async refreshView(): Promise<void> {
        const work = this.#work;
        this.#picture.outdate();
        if (!work) return; // it was stopped, or is to come
        try {
            await this.#refreshGrid(work);
            const look = await this.#look(work);
            if (look && this.#findings) this.#show({ ...this.#findings, look });
        } catch (error) {
            if (work === this.#work && !isAbort(error)) this.#fail(message(error));
        }
    }

    /** Show another region, as far as what is drawn has it. */
    preview(region: Region): void {
        this.#picture.preview(region);
    }

    /** Compute the region that is to be shown. */
    async refreshRegion(): Promise<void> {
        const work = this.#work;
        if (!work) return;
        try {
            await this.#refreshGrid(work);
        } catch (error) {
            if (work === this.#work) this.#fail(message(error));
        }
    }

    /** Rows of the head that is shown, closely; null: it is not shown any more. */
    async #look(work: Work): Promise<Look | null> {
        if (work.first === null) return null; // there is no output yet
        const { batch, head } = this.#around.view();
        const { look } = await work.look(batch, head, pairsLookedAt);
        const now = this.#around.view();
        if (work !== this.#work || now.batch !== batch || now.head !== head) return null;
        this.#picture.takeLook(look);
        this.#around.onPicture();
        return look;
    }

    /** The input or the controls are others now: nothing that is shown is theirs. */
    outdate(): void {
        this.#isStopped = false;
        this.#leave();
        this.#findings = null;
        this.#worst.show(null, String);
        this.#picture.outdate();
        this.#begin("picture");
    }

    /** Compute no further: what is not there by now will not be. */
    stop(): void {
        if (this.#step === null) return;
        this.#isStopped = true;
        this.#leave();
        if (!this.grid || !this.#findings) this.#fail(stopped);
        else this.#show({ ...this.#findings, ended: stopped });
        this.#begin(null);
    }

    /** There is no input: show nothing of the last. */
    clear(): void {
        this.#isStopped = false;
        this.#leave();
        this.#fail(null);
        this.#begin(null);
    }

    #begin(step: Step | null): void {
        this.#step = step;
        this.#part = 0;
        this.element.ariaBusy = String(step !== null);
        this.#around.onProgress();
    }

    /** What is under way is not shown. */
    #leave(): void {
        this.#work = null;
        this.#row.leave();
    }

    async #refreshGrid(work: Work): Promise<void> {
        const { batch, head } = this.#around.view();
        const viewport = this.#around.viewport();
        if (!viewport) return;
        const onProgress = (part: number) => {
            if (work !== this.#work || this.#step !== "picture") return;
            this.#part = part;
            this.#around.onProgress();
        };
        const grid = await work
            .picture(batch, head, viewport, onProgress)
            .catch((error: unknown) => {
                if (isAbort(error)) return null; // another view or work has been asked for
                throw error;
            });
        if (grid === null || work !== this.#work) return;
        this.#picture.take(grid, this.#around.tokens());
        this.#around.onPicture();
        void this.refreshRow();
    }

    #show(findings: Findings): void {
        this.#findings = findings;
        this.#around.onFindings(this, findings);
        this.#figures.show(findings, this.grid);
    }

    #fail(reason: string | null): void {
        this.#findings = null;
        this.#picture.clear();
        this.#figures.clear(reason);
        this.#worst.show(null, String);
        this.#row.clear();
        this.#around.onPicture();
    }

    #find(selector: string): HTMLElement {
        return find(this.element, selector, HTMLElement);
    }
}
