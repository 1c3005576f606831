/** What a panel has to say in figures. */

import { element } from "./dom";
import { bytes, count, milliseconds, percent, short, significant } from "./format";
import { seed } from "./sample";
import { topKeys } from "./look/measures";
import type { Look } from "./look/look";
import type { Accuracy, Grid, Numbers, Run, Timing } from "./types";

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

export function numberLines({ numbers, accuracy, look, timing, ended }: Findings): Line[] {
    const { flops, kept, workspaceBytes } = numbers;
    const gflops = timing && flops && flops / timing.milliseconds / 1e6;
    const pending = ended === null ? "…" : "not computed";
    const line = lineWith(pending);
    return [
        line("error", errorLabel(accuracy), accuracy?.error ?? null, significant),
        ...intervalLines(accuracy),
        ...lookLines(look),
        line("time", timeLabel(timing), timing?.milliseconds ?? null, milliseconds),
        { name: "spread", label: "Their range", text: timing ? range(timing) : pending },
        line(
            "gflops",
            "GFLOP/s",
            gflops,
            (value) => significant(value, 3),
            flops === null ? "not told" : pending,
        ),
        line("kept", "Pairs kept", kept, percent, "not told"),
        line("workspace", "Workspace", workspaceBytes, bytes),
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
    if (rows === total) return "Error against exact";
    return `Error over ${rows} of ${count(total, "query", "queries")}, seed ${seed}`;
}

/** How sure an error is that was taken over some rows. */
function intervalLines(accuracy: Accuracy | null): Line[] {
    if (!accuracy || accuracy.rows === accuracy.total) return [];
    const { low, high } = accuracy;
    const text = `${significant(low, 3)} to ${significant(high, 3)}`;
    return [{ name: "interval", label: "Of all, with 95 %", text }];
}

/** How near the weights of the head that is shown come to the exact ones. */
function lookLines(look: Look | null): Line[] {
    if (!look) return [];
    const { queries, total, recall, dropped } = look;
    const some = queries.length < total ? `, of ${queries.length} rows` : "";
    const line = lineWith("no row sees more");
    const known = Number.isNaN(recall) ? null : recall;
    return [
        line("recall", `Top-${topKeys} recall${some}`, known, percent),
        line("dropped", `Weight dropped${some}`, dropped, percent),
    ];
}

function timeLabel(timing: Timing | null): string {
    return timing?.timings === 1 ? "Time of one run" : `Time, median of ${timing?.timings ?? "…"}`;
}

function range({ low, high, timings }: Timing): string {
    if (timings === 1) return "too long for more";
    return `${milliseconds(low).replace(/ ms$/, "")} to ${milliseconds(high)}`;
}

export function factLines({ facts, kernel, form }: Numbers): Line[] {
    const told = facts.map(({ name, label, value }) => ({
        name,
        label,
        text: typeof value === "number" ? short(value, 4) : (value ?? "not finite"),
    }));
    if (form) told.push({ name: "form", label: "Cost", text: form });
    return [...told, { name: "kernel", label: "Kernel", text: kernel }];
}

/** What the reader has to know before believing the numbers; null: nothing. */
export function warnings({ run, ended }: Findings, grid: Grid | null): string | null {
    const { degenerateRows = 0, nonfinite = 0 } = run ?? {};
    const weights = grid?.cells.filter((value) => !Number.isFinite(value)).length ?? 0;
    const parts = [
        ended !== null && ended,
        degenerateRows > 0 &&
            `${count(degenerateRows, "row")} with a normaliser of nearly 0, or not finite: not to be trusted`,
        nonfinite > 0 && `${count(nonfinite, "output")} NaN or infinite`,
        weights > 0 && `${count(weights, "cell")} NaN or infinite`,
    ].filter((part) => part !== false);
    return parts.length > 0 ? parts.join("; ") : null;
}

/** Write lines into a <dl>. Only what changed is touched: a screen reader then says only that. */
export function fillList(list: HTMLElement, lines: Line[], label: (line: Line) => Node): void {
    const items = lines.map((line) => {
        const data = element("data", { value: line.value ?? "" }, line.text);
        const item = element("div", {}, element("dt", {}, label(line)), element("dd", {}, data));
        item.dataset.name = line.name;
        return item;
    });
    const old = [...list.children];
    if (old.length !== items.length) return list.replaceChildren(...items);
    items.forEach((item, i) => {
        const parts = [...(old[i]?.children ?? [])];
        [...item.children].forEach((part, j) => {
            if (!part.isEqualNode(parts[j] ?? null)) parts[j]?.replaceWith(part);
        });
        (old[i] as HTMLElement).dataset.name = lines[i]?.name;
    });
}

/** Why a page does not compute what takes so many operations. */
export function tooMuch(what: string, flops: number): string {
    const giga = Math.round(flops / 1e9);
    return `${what} takes ${giga} GFLOP, which is too long for a page: the command line has no limit`;
}
