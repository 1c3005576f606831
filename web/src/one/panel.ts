/** A backend's panel in a file: without what only the page has around it. */

import type { Backend } from "libattn";
import { makeControls, type Controls } from "../dom/controls";
import { element, find, message } from "../dom/dom";
import type { Cell } from "../map/drawing";
import type { Findings } from "../compare/lines";
import { arithmeticOf, panelElement } from "../panel/element";
import { Figures } from "../panel/figures";
import { Picture } from "../panel/picture";
import { Row } from "../panel/row";
import type { Pin } from "../row/place";
import { termOf, type Label } from "../dom/terms";
import type { Grid, Values } from "../state/types";
import type { Viewport } from "../zoom/zoom";
import type { Solution } from "./solution";

const reference = "softmax"; // as in the page
const pairsLookedAt = 2 ** 18; // of a query and a key, as in the page

/** What a panel needs from the file around it. */
export interface Around {
    solve(backend: Backend, params: Values): Solution;
    at(): { batch: number; head: number };
    viewport: Viewport;
    tokens: string[] | null;
    showsDifference(backend: string): boolean;
    reference(): Grid | null;
    pin(): Pin | null;
    onPin(pin: Pin): void;
    /** The panel takes the large place. */
    onEnlarge(id: string): void;
    onPoint(cell: Cell | null): void;
    /** A parameter is another now. */
    onChange(): void;
    label: Label;
}

export class OnePanel {
    readonly id: string;
    readonly element: HTMLElement;
    readonly arithmetic: HTMLElement;
    #around: Around;
    #backend: Backend;
    #picture: Picture;
    #figures: Figures;
    #row: Row;
    #controls: Controls;
    /** Of the parameters of now; null: there is none. */
    #solution: Solution | null = null;
    #findings: Findings | null = null;

    constructor(backend: Backend, params: Values, around: Around) {
        this.id = backend.id;
        this.#backend = backend;
        this.#around = around;
        this.element = panelElement(backend);
        this.arithmetic = arithmeticOf(backend);
        for (const part of this.element.querySelectorAll(".command, .worst")) part.remove();
        const controls = element("fieldset", { className: "controls" });
        find(this.element, ".details", HTMLElement).append(controls);
        const enlarge = find(this.element, ".enlarge", HTMLElement);
        enlarge.addEventListener("click", () => around.onEnlarge(this.id));
        const part = (selector: string) => find(this.element, selector, HTMLElement);
        const picture = new Picture(this.element, backend.name, {
            showsDifference: () => this.showsDifference,
            reference: () => around.reference(),
            hasErrors: true,
            zoom: null,
            onPoint: (cell) => around.onPoint(cell),
            onPin: (pin) => around.onPin(pin),
            onPress: () => {
                if (this.element.matches(".enlarged")) return false;
                around.onEnlarge(this.id);
                return true;
            },
        });
        this.#picture = picture;
        this.#figures = new Figures(this.element, ({ name, label }) =>
            around.label(label, termOf(name, label, backend)),
        );
        this.#row = new Row(
            find(this.arithmetic, ".row", HTMLElement),
            part(".stale-note").cloneNode(true),
            {
                name: (index) => picture.nameOf(index),
                label: (text, term) => around.label(text, term),
            },
        );
        this.#controls = makeControls(
            controls,
            backend.id,
            backend.params,
            params,
            () => void this.compute().then(() => around.onChange()),
        );
    }

    get grid(): Grid | null {
        return this.#picture.grid;
    }

    get values(): Float32Array | null {
        return this.#picture.values;
    }

    get mostError(): number {
        return this.#picture.mostError;
    }

    get isReference(): boolean {
        return this.id === reference;
    }

    get showsDifference(): boolean {
        return this.#around.showsDifference(this.id);
    }

    /** What heads are looked at by; null: there was no run. */
    get solution(): Solution | null {
        return this.#solution?.hasRun ? this.#solution : null;
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

    /** All anew. */
    async compute(): Promise<void> {
        this.#solution?.dispose();
        this.#solution = this.#findings = null;
        let solution: Solution | null = null;
        try {
            solution = this.#solution = this.#around.solve(this.#backend, this.#controls.values());
            const { numbers } = solution;
            this.#controls.reflect(numbers.facts);
            this.#draw(solution);
            this.#findings = { numbers, ...solution.run(), look: null };
            await this.#look(solution);
        } catch (error) {
            if (solution === this.#solution) this.#fail(message(error)); // else there is another by now
        }
    }

    /** Another head of what is computed. */
    async refreshView(): Promise<void> {
        const solution = this.#solution;
        if (!solution) return;
        try {
            this.#picture.outdate();
            this.#draw(solution);
            await this.#look(solution);
        } catch (error) {
            if (solution === this.#solution) this.#fail(message(error));
        }
    }

    /** The steps of the query that is pinned, if there is one. */
    async refreshRow(): Promise<void> {
        const solution = this.#solution;
        const pin = this.#around.pin();
        this.#picture.markPin(pin);
        await this.#row.show(
            pin && { ...pin, ...this.#around.at() },
            solution && ((place) => solution.row(place)),
        );
    }

    #draw(solution: Solution): void {
        const { at, viewport, tokens } = this.#around;
        const { batch, head } = at();
        this.#picture.take(solution.picture(batch, head, viewport), tokens);
        void this.refreshRow();
    }

    /** Rows of the head that is shown, closely, where there are some. */
    async #look(solution: Solution): Promise<void> {
        const { batch, head } = this.#around.at();
        const found = solution.hasRun ? await solution.look(batch, head, pairsLookedAt) : null;
        if (solution !== this.#solution || !this.#findings) return; // there is another by now
        const look = found && found.look;
        this.#picture.takeLook(look);
        this.#findings = { ...this.#findings, look };
        this.#figures.show(this.#findings, this.grid);
    }

    #fail(reason: string): void {
        this.#solution = this.#findings = null;
        this.#picture.clear();
        this.#figures.clear(reason);
        this.#row.clear();
    }
}
