/** A panel for each backend, and what is done with all of them. */

import type { Backend } from "libattn";
import type { ColourLaw, Theme } from "../map/colors";
import type { Candidate } from "../cost/lengths";
import { changedOf } from "../cost/tried";
import { find } from "../dom/dom";
import type { Cell } from "../map/drawing";
import { isHeatmap } from "../map/heatmap";
import { paintPanels } from "../map/painting";
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
    #around: Surroundings;
    #enlarged: string | null = null;

    constructor(around: Surroundings) {
        this.#around = around;
        addEventListener("pointerdown", ({ target }) => {
            if (!isHeatmap(target)) this.point(null); // a finger's pointing ends with its next
        });
    }

    get all(): readonly Panel[] {
        return this.#all;
    }

    /** The one that is shown large. */
    get enlarged(): string | null {
        return this.#enlarged;
    }

    /** Panels for the backends, with these parameters by backend, beside those that there are. */
    show(backends: Backend[], params: ReadonlyMap<string, Values>): Panel[] {
        const panels = backends.map((backend, i) => {
            const place = this.#all.length + i;
            return new Panel(backend, place, params.get(backend.id) ?? {}, this.#around);
        });
        if (this.#all.length === 0) this.#holder.replaceChildren();
        this.#all.push(...panels);
        this.#holder.append(...panels.map((panel) => panel.element));
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
        return { params: this.#paramsInLink(preset), enlarged: this.#enlarged };
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
        for (const panel of this.#all) void panel.refresh();
    }

    refreshView(): void {
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

    /** null: all are of one size. */
    enlarge(id: string | null): void {
        this.#enlarged = this.#all.some((panel) => panel.id === id) ? id : null;
        for (const panel of this.#all) showEnlarged(panel.element, panel.id === this.#enlarged);
    }

    paint(theme: Theme, law: ColourLaw): void {
        paintPanels(this.#all, theme, law);
    }

    point(cell: Cell | null): void {
        for (const panel of this.#all) panel.point(cell);
    }
}
