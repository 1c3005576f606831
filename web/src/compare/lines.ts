/** What a panel has to say in figures. */

import { element, find } from "../dom/dom";
import { bytes, count, milliseconds, percent, short, significant } from "../dom/format";
import { seed } from "../engine/sample";
import { topKeys } from "../look/measures";
import type { Look } from "../look/look";
import type { Accuracy, Grid, Numbers, Run, Timing } from "../state/types";
import { words } from "../words/words";

const { nouns, numbers } = words;

export interface Line {
    name: string;
    label: string;
    text: string;
    /** The number unrounded, for whoever reads the page by program. */
    value?: string;
}

/** null: not known yet. */
export interface Findings {
    numbers: Numbers;
    run: Run | null;
    accuracy: Accuracy | null;
    timing: Timing | null;
    /** Of the head that is shown. */
    look: Look | null;
    /** Why what is not known yet never will be; null: it is under way. */
    ended: string | null;
}

export function numberLines({ numbers: told, accuracy, look, timing, ended }: Findings): Line[] {
    const { flops, heads, kept, isMost, computed, workspaceBytes } = told;
    const share = (part: number) => (isMost ? numbers.atMost(percent(part)) : percent(part));
    const gflops = timing && flops && flops / timing.milliseconds / 1e6;
    const pending = ended === null ? "…" : numbers.notComputed;
    const line = lineWith(pending);
    return [
        line(
            "error",
            errorLabel(accuracy) + (heads > 1 ? numbers.ofAllHeads : ""),
            accuracy?.error ?? null,
            significant,
        ),
        ...intervalLines(accuracy),
        ...lookLines(look, heads),
        line("time", timeLabel(timing), timing?.milliseconds ?? null, milliseconds),
        { name: "spread", label: numbers.spread, text: timing ? range(timing) : pending },
        line(
            "gflops",
            "GFLOP/s",
            gflops,
            (value) => significant(value, 3),
            flops === null ? numbers.notTold : pending,
        ),
        line("kept", numbers.kept, kept, share, numbers.notTold),
        ...(computed === null ? [] : [line("computed", numbers.computed, computed, share)]),
        line("workspace", numbers.workspace, workspaceBytes, bytes),
    ];
}

/** A line's number, or `pending`, or what else there is to say. */
function lineWith(pending: string) {
    return (
        name: string,
        label: string,
        value: number | null,
        text: (value: number) => string,
        absent = pending,
    ): Line => {
        if (value === null) return { name, label, text: absent };
        return { name, label, text: text(value), value: String(value) };
    };
}

function errorLabel(accuracy: Accuracy | null): string {
    const { rows, total } = accuracy ?? { rows: 0, total: 0 };
    if (rows === total) return numbers.error;
    return numbers.errorOver(rows, count(total, nouns.query), seed);
}

/** How sure an error is that was taken over some rows. */
function intervalLines(accuracy: Accuracy | null): Line[] {
    if (!accuracy || accuracy.rows === accuracy.total) return [];
    const { low, high } = accuracy;
    const text = numbers.range(significant(low, 3), significant(high, 3));
    return [{ name: "interval", label: numbers.interval, text }];
}

/** How near the weights of the head that is shown come to the exact ones. */
function lookLines(look: Look | null, heads: number): Line[] {
    if (!look) return [];
    const { queries, total, recall, dropped } = look;
    const rows = queries.length < total ? numbers.ofRows(queries.length) : "";
    const some = (heads > 1 ? numbers.ofThisHead : "") + rows;
    const line = lineWith(numbers.noRow);
    const known = Number.isNaN(recall) ? null : recall;
    return [
        line("recall", numbers.recall(topKeys) + some, known, percent),
        line("dropped", numbers.dropped + some, dropped, percent),
    ];
}

function timeLabel(timing: Timing | null): string {
    return timing?.timings === 1 ? numbers.timeOfOne : numbers.time(timing?.timings ?? "…");
}

function range({ low, high, timings }: Timing): string {
    if (timings === 1) return numbers.tooLong;
    return numbers.range(milliseconds(low).replace(/ ms$/, ""), milliseconds(high));
}

export function factLines({ facts, kernel, form }: Numbers): Line[] {
    const told = facts.map(({ name, label, value }) => ({
        name,
        label: words.ofLibrary(label),
        text: typeof value === "number" ? short(value, 4) : textOf(value),
    }));
    if (form) told.push({ name: "form", label: numbers.cost, text: form });
    return [...told, { name: "kernel", label: numbers.kernel, text: kernel }];
}

function textOf(value: string | null): string {
    return value === null ? numbers.notFinite : words.ofLibrary(value);
}

/** What the reader has to know before believing the numbers; null: nothing. */
export function warnings({ run, ended }: Findings, grid: Grid | null): string | null {
    const { degenerateRows = 0, nonfinite = 0 } = run ?? {};
    const weights = grid ? nonfiniteIn(grid.cells) : 0;
    const parts = [
        ended !== null && ended,
        degenerateRows > 0 && numbers.degenerate(count(degenerateRows, nouns.row)),
        nonfinite > 0 && numbers.nonfinite(count(nonfinite, nouns.output)),
        weights > 0 && numbers.nonfinite(count(weights, nouns.cell)),
    ].filter((part) => part !== false);
    return parts.length > 0 ? parts.join("; ") : null;
}

/** By a plain loop: a panel has ten thousands of cells, and few are looked at often enough to be compiled well. */
function nonfiniteIn(cells: Float32Array): number {
    let count = 0;
    for (let i = 0; i < cells.length; i++) if (!Number.isFinite(cells[i])) count++;
    return count;
}

/** What lists have, by their items. */
const written = new WeakMap<Element, Line>();

/** Write lines into a <dl>. Only what changed is touched: a screen reader then says only that. */
export function fillList(list: HTMLElement, lines: Line[], label: (line: Line) => Node): void {
    const old = [...list.children];
    const items = lines.map((line, i) => {
        const item = old[i];
        const last = item && written.get(item);
        if (!item || last?.name !== line.name || last.label !== line.label)
            return itemOf(line, label(line));
        if (last.text !== line.text || last.value !== line.value)
            find(item, "dd", HTMLElement).replaceChildren(dataOf(line));
        written.set(item, line);
        return item;
    });
    if (old.length !== items.length) return list.replaceChildren(...items);
    items.forEach((item, i) => {
        if (item !== old[i]) old[i]?.replaceWith(item);
    });
}

function itemOf(line: Line, label: Node): HTMLElement {
    const item = element("div", {}, element("dt", {}, label), element("dd", {}, dataOf(line)));
    item.dataset.name = line.name;
    written.set(item, line);
    return item;
}

function dataOf({ value = "", text }: Line): HTMLElement {
    return element("data", { value }, text);
}

/** Why a page does not compute what takes so many operations. */
export function tooMuch(what: "run" | "exact", flops: number): string {
    return words.panel.tooMuch(what, Math.round(flops / 1e9));
}
