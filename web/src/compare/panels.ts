/** A panel for each backend, and what is done with all of them. */

import type { Backend } from "libattn";
import type { ColourChoice, Theme } from "../map/colors";
import type { Candidate } from "../cost/lengths";
import { changedOf } from "../cost/tried";
import { Looks } from "./looks";
import { Strip } from "./strip";
import { find } from "../dom/dom";
import type { Cell } from "../map/drawing";
import { isHeatmap } from "../map/heatmap";
import { Painter } from "../map/painting";
import { showEnlarged } from "../panel/element";
import { Panel } from "../panel/panel";
import type { Surroundings } from "../panel/surroundings";
import { presetOf } from "../presets/list";
import type { Link } from "../state/state";
import type { Grid, Timing, Values } from "../state/types";
import type { Region } from "../zoom/region";

export class Panels {
    #holder = find(document, "#panels", HTMLElement);
    #all: Panel[] = [];
    #tabs = find(document, "#methods", HTMLElement);
    #controls = find(document, "#parameters", HTMLElement);
    #arithmetic = find(document, "#pin .figure", HTMLElement);
    #painter = new Painter();
    #strip: Strip;
    #looks = new Looks();
    #around: Surroundings;
    #enlarged: string;
    #usual: string;

    /** `usual`: the backend that is large where none is asked for, and whose cost others are shares of. */
    constructor(around: Surroundings, usual: string) {
        this.#around = around;
        this.#enlarged = this.#usual = usual;
        this.#strip = new Strip(usual);
        addEventListener("pointerdown", ({ target }) => {
            if (!isHeatmap(target)) this.point(null); // a finger's pointing ends with its next
        });
    }

    get all(): readonly Panel[] {
        return this.#all;
    }

    /** The one that is shown large. */
    get enlarged(): string {
        return this.#enlarged;
    }

    /** Panels for the backends, with these parameters by backend, beside those that there are. */
    show(backends: Backend[], params: ReadonlyMap<string, Values>): Panel[] {
        const panels = backends.map((backend, i) => {
            const place = this.#all.length + i;
            return new Panel(backend, place, params.get(backend.id) ?? {}, this.#around);
        });
        this.#holder.querySelector(".loading")?.remove();
        this.#all.push(...panels);
        const all = panels.map(({ elements }) => elements);
        find(this.#holder, "#looks", HTMLElement).before(...all.map(({ panel }) => panel));
        this.#tabs.append(...all.map(({ tab }) => tab));
        this.#controls.append(...all.map(({ controls }) => controls));
        this.#arithmetic.append(...all.map(({ arithmetic }) => arithmetic));
        for (const { id, name } of panels) this.#strip.add(id, name);
        this.enlarge(this.#enlarged);
        return panels;
    }

    gridOf(backend: string): Grid | null {
        return this.#all.find(({ id }) => id === backend)?.grid ?? null;
    }

    get isSolving(): boolean {
        return this.#all.some((panel) => panel.isSolving);
    }

    /** Is a picture on its way? */
    get isPicturing(): boolean {
        return this.#all.some(({ grid, step }) => grid === null && step === "picture");
    }

    /** Each backend with its parameters of now. */
    get candidates(): Candidate[] {
        return this.#all.map(({ id, params }) => ({ backend: id, params }));
    }

    /** The same with what differs from its defaults. */
    get changed(): Candidate[] {
        return this.#all.map(({ id, changedParams }) => ({ backend: id, params: changedParams }));
    }

    /** Of settings in a link those that there are, as `changed` has them. */
    known(told: readonly Candidate[]): Candidate[] {
        return told.flatMap(({ backend, params }) => {
            const panel = this.#all.find(({ id }) => id === backend);
            const changed = panel && changedOf(panel.declared, params);
            return changed ? [{ backend, params: changed }] : [];
        });
    }

    /** As a link has them. */
    settings(preset: string | null): Pick<Link, "params" | "enlarged"> {
        const enlarged = this.#enlarged === this.#usual ? null : this.#enlarged;
        return { params: this.#paramsInLink(preset), enlarged };
    }

    /** By backend: those that are not its defaults, and those that the preset sets, as they are now. */
    #paramsInLink(preset: string | null): Map<string, Values> {
        const params = presetOf(preset)?.params ?? {};
        return new Map(
            this.#all.map((panel) => {
                const ofPreset = Object.keys(params[panel.id] ?? {});
                const told = ofPreset.map((name) => [name, panel.params[name]] as const);
                const own = Object.fromEntries(told) as Values;
                return [panel.id, { ...own, ...panel.changedParams }];
            }),
        );
    }

    /** Those that are not named get their defaults. */
    setParams(params: Readonly<Record<string, Values>>): void {
        for (const panel of this.#all) panel.setParams(params[panel.id] ?? {});
    }

    refresh(): void {
        this.#painter.forget();
        for (const panel of this.#all) void panel.refresh();
    }

    refreshView(): void {
        this.#painter.forget();
        for (const panel of this.#all) void panel.refreshView();
    }

    preview(region: Region): void {
        for (const panel of this.#all) panel.preview(region);
    }

    refreshRegion(): void {
        for (const panel of this.#all) void panel.refreshRegion();
    }

    refreshRows(): void {
        for (const panel of this.#all) void panel.refreshRow();
    }

    drawNumbers(): void {
        for (const panel of this.#all) panel.drawNumbers();
    }

    /** There will be another input. */
    outdate(): void {
        for (const panel of this.#all) panel.outdate();
    }

    clear(): void {
        for (const panel of this.#all) panel.clear();
    }

    stop(): void {
        for (const panel of this.#all) panel.stop();
    }

    goOn(): void {
        for (const panel of this.#all) if (panel.isStopped) void panel.refresh();
    }

    showTimings(timings: ReadonlyMap<string, Timing>): void {
        for (const panel of this.#all) panel.showTiming(timings.get(panel.id) ?? null);
    }

    /** Of those that there are not, and of null, it is the usual one. */
    enlarge(id: string | null): void {
        this.#enlarged = this.#all.find((panel) => panel.id === id)?.id ?? this.#usual;
        for (const { id, elements } of this.#all) {
            showEnlarged(elements.panel, id === this.#enlarged);
            elements.tab.ariaPressed = String(id === this.#enlarged);
        }
    }

    /** The query that is shown step by step, by its name; null: none is. */
    tellPinned(name: string | null): void {
        this.#looks.tellPinned(name);
    }

    /** What a backend needs of operations. */
    note(id: string, flops: number | null): void {
        this.#strip.note(id, flops);
    }

    paint(theme: Theme, choice: ColourChoice): void {
        this.#painter.paint(this.#all, theme, choice);
    }

    point(cell: Cell | null): void {
        for (const panel of this.#all) panel.point(cell);
        const large = this.#all.find(({ id }) => id === this.#enlarged) ?? null;
        const others = this.#all.filter((panel) => panel !== large);
        this.#looks.show(cell, large, others, this.#around.tokens());
    }
}
