/** One backend: its weights, its numbers and its controls. */

import type { Backend, Param } from "libattn";
import { isAbort, message } from "../dom/dom";
import type { Cell } from "../map/drawing";
import type { Findings } from "../compare/lines";
import type { Look } from "../look/look";
import type { Grid, Timing, Values } from "../state/types";
import type { Work } from "../engine/work";
import type { Region } from "../zoom/region";
import { Doing, type Step } from "./doing";
import { elementsOf, type Elements } from "./element";
import { makeParts, type Parts } from "./parts";
import type { Picture } from "./picture";
import { stopped } from "./row";
import type { Surroundings } from "./surroundings";

const pairsLookedAt = 2 ** 18; // of a query and a key: all of 512 tokens, 64 rows of 4096
const patience = 250; // milliseconds after which what is known does not wait for the rest

export class Panel {
    readonly id: string;
    /** The file it came from, or null. */
    readonly plugin: string | null;
    readonly name: string;
    readonly elements: Elements;
    #backend: Backend;
    #place: number;
    readonly isReference: boolean;
    #around: Surroundings;
    #parts: Parts;
    #work: Work | null = null;
    #findings: Findings | null = null;
    #isStopped = false;
    #asked = 0; // other pictures of what is computed
    #doing: Doing;

    /** `place`: among all panels. */
    constructor(backend: Backend, place: number, params: Values, around: Surroundings) {
        this.id = backend.id;
        this.#place = place;
        this.plugin = backend.origin === "built-in" ? null : backend.origin;
        this.#around = around;
        this.#backend = backend;
        this.isReference = around.isReference(backend.id);
        this.name = backend.name;
        this.elements = elementsOf(backend);
        this.#doing = new Doing(this.element, () => around.onProgress());
        this.#parts = makeParts(this, backend, params, around, () => this.#findings);
    }

    get element(): HTMLElement {
        return this.elements.panel;
    }

    get declared(): readonly Param[] {
        return this.#backend.params;
    }

    /** All parameters. */
    get params(): Values {
        return this.#parts.controls.values();
    }

    /** Parameters that differ from the backend's defaults. */
    get changedParams(): Values {
        return this.#parts.controls.changed();
    }

    get showsDifference(): boolean {
        return this.#around.showsDifference() && !this.isReference;
    }

    /** The weights; null while there are none of the present input and controls. */
    get grid(): Grid | null {
        return this.#parts.picture.grid;
    }

    /** What the picture shows. */
    get values(): Float32Array | null {
        return this.#parts.picture.values;
    }

    get mostError(): number {
        return this.#parts.picture.mostError;
    }

    get step(): Step | null {
        return this.#doing.step;
    }

    /** Did stop() leave something undone? */
    get isStopped(): boolean {
        return this.#isStopped;
    }

    /** How much is done, from 0 to 1. */
    get progress(): number {
        return this.#doing.progress;
    }

    get isSolving(): boolean {
        return this.#doing.isSolving;
    }

    /** How far the output is from exact; null: not known. */
    get error(): number | null {
        return this.#findings?.accuracy?.error ?? null;
    }

    /** What is wrong, in words; null: nothing. */
    get problem(): string | null {
        return this.#parts.figures.problem;
    }

    /** Set parameters, and those without a value to their defaults. */
    setParams(values: Values): void {
        this.#parts.controls.set(values);
    }

    prepare(): void {
        this.#parts.picture.prepare();
    }

    paint(...scale: Parameters<Picture["paint"]>): void {
        this.#parts.picture.paint(...scale);
    }

    point(cell: Cell | null): void {
        this.#parts.picture.point(cell);
    }

    /** Compute everything again. What an earlier call still computes is never shown. */
    async refresh(): Promise<void> {
        const { engine, problem, commandLine } = this.#around;
        const { params } = this;
        this.outdate();
        this.#parts.command.show(commandLine(this));
        const task = { backend: this.id, place: this.#place, problem: problem(), params };
        const work = (this.#work = engine.begin(task));
        if (!work) return; // until there is an input
        try {
            await this.#solve(work);
        } catch (error) {
            if (work === this.#work) this.#fail(message(error));
        }
        if (work !== this.#work) return;
        this.#doing.begin("time");
        this.#around.onSolved();
    }

    async #solve(work: Work): Promise<void> {
        await this.#refreshGrid(work);
        const numbers = await work.describe();
        if (work !== this.#work) return;

        const none = { run: null, accuracy: null, look: null, timing: null, ended: null };
        const found: Findings = { numbers, ...none };
        this.#findings = found;
        const show = () => {
            if (work !== this.#work) return;
            this.#find({ ...found });
            this.#around.onNumbers();
        };
        const early = setTimeout(show, patience);
        try {
            this.#doing.begin("output");
            found.run = await work.run(numbers.flops);
            if (work === this.#work) this.#doing.begin("error");
            found.accuracy = await work.error();
            const worst = await work.worst();
            if (work === this.#work)
                this.#parts.worst.show(worst, (query) => this.#parts.picture.nameOf(query));
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
        this.#doing.begin(null);
    }

    /** Show the steps of the query that is pinned, if there is one. */
    async refreshRow(): Promise<void> {
        const { pin, view } = this.#around;
        const [pinned, work] = [pin(), this.#work];
        this.#parts.picture.markPin(pinned);
        await this.#parts.row.show(
            pinned && { ...pinned, ...view() },
            work && this.grid && ((place) => work.row(place, this.#backend)),
        );
    }

    /** Show another batch or head of what is computed. */
    refreshView(): Promise<void> {
        this.#parts.picture.outdate();
        return this.#whileNew(async (work) => {
            await this.#refreshGrid(work);
            const look = await this.#look(work);
            if (look && this.#findings) this.#show({ ...this.#findings, look });
        });
    }

    /** Show another region, as far as what is drawn has it. */
    preview(region: Region): void {
        this.#parts.picture.preview(region);
    }

    /** Compute the region that is to be shown. */
    refreshRegion(): Promise<void> {
        return this.#whileNew((work) => this.#refreshGrid(work));
    }

    /** Show more of what is computed; nothing where that was stopped, or is to come. */
    async #whileNew(show: (work: Work) => Promise<void>): Promise<void> {
        const work = this.#work;
        if (!work) return;
        const asked = ++this.#asked;
        this.#doing.look(0);
        try {
            await show(work);
        } catch (error) {
            if (work === this.#work && !isAbort(error)) this.#fail(message(error));
        }
        if (asked === this.#asked) this.#doing.look(null);
    }

    /** Rows of the head that is shown, closely; null: it is not shown any more. */
    async #look(work: Work): Promise<Look | null> {
        if (work.first === null) return null; // there is no output yet
        const { batch, head } = this.#around.view();
        const { look } = await work.look(batch, head, pairsLookedAt);
        const now = this.#around.view();
        if (work !== this.#work || now.batch !== batch || now.head !== head) return null;
        this.#parts.picture.takeLook(look);
        this.#around.onNumbers();
        return look;
    }

    /** The input or the controls are others now: nothing that is shown is theirs. */
    outdate(): void {
        this.#isStopped = false;
        this.#leave();
        this.#findings = null;
        this.#parts.worst.show(null, String);
        this.#parts.picture.outdate();
        this.#parts.figures.outdate();
        this.#parts.row.outdate();
        this.#doing.begin("picture");
    }

    /** Compute no further: what is not there by now will not be. */
    stop(): void {
        if (this.step === null) return;
        this.#isStopped = true;
        this.#work?.end();
        this.#leave();
        if (!this.#findings) this.#fail(stopped);
        else this.#show({ ...this.#findings, ended: stopped });
        this.#doing.begin(null);
    }

    /** There is no input: show nothing of the last. */
    clear(): void {
        this.#isStopped = false;
        this.#leave();
        this.#fail(null);
        this.#doing.begin(null);
    }

    /** What is under way is not shown. */
    #leave(): void {
        this.#work = null;
        this.#asked++;
        this.#doing.look(null);
        this.#parts.row.leave();
    }

    async #refreshGrid(work: Work): Promise<void> {
        const { batch, head } = this.#around.view();
        const viewport = this.#around.viewport();
        if (!viewport) return;
        const onProgress = (part: number) => {
            if (work !== this.#work) return;
            this.#parts.controls.reflect(work.numbers?.facts ?? []);
            this.#doing.advance(part);
        };
        const grid = await work
            .picture(batch, head, viewport, onProgress)
            .catch((error: unknown) => {
                if (isAbort(error)) return null; // another view or work has been asked for
                throw error;
            });
        if (grid === null || work !== this.#work) return;
        this.#parts.picture.take(grid, this.#around.tokens());
        void this.refreshRow();
        await this.#around.onPicture();
    }

    #show(findings: Findings): void {
        this.#find(findings);
        this.drawNumbers();
    }

    #find(findings: Findings): void {
        this.#findings = findings;
        this.#around.onFindings(this, findings);
    }

    /** As far as there are any. */
    drawNumbers(): void {
        if (this.#findings) this.#parts.figures.show(this.#findings, this.grid);
    }

    #fail(reason: string | null): void {
        this.#findings = null;
        this.#parts.picture.clear();
        this.#parts.figures.clear(reason);
        this.#parts.worst.show(null, String);
        this.#parts.row.clear();
        void this.#around.onPicture();
    }
}
