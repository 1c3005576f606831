/** What a run has found so far: figure, progress, table and file. */

import type { LabPanel, LabProgress, LabResult } from "libattn-labs";
import { find, showLine } from "../dom/dom";
import { count, short, significant } from "../dom/format";
import { takeMenu, type Table } from "../take/menu";
import { standaloneSvg } from "../take/standalone";
import { curvesOf, type Curve } from "./curves";
import { drawFigure, outsideOf, undefinedOf, type Row, type Span } from "./figure";
import { savedLegend } from "./legend";
import { recordedRows } from "./recorded";
import { commandLine, type Choice } from "./state";
import { saved, table } from "./table";
import { said } from "./words";

const { ofLabs } = said;

const redrawPause = 150; // milliseconds: a figure that grows is drawn about so often

export class Result {
    #choice: Choice | null = null;
    #curves: Curve[] = [];
    #rows: Row[] = []; // by their points' number: with gaps while points are missing
    #recorded: readonly Row[] = [];
    #outside: Span[] = [];
    #drawn = 0;
    #timer = 0;
    #holder = find(document, "#figure", HTMLElement);
    #details = find(document, "#numbers", HTMLDetailsElement);
    #save = find(document, "#save", HTMLElement);

    constructor() {
        new ResizeObserver(() => this.#draw()).observe(this.#holder);
        this.#details.ontoggle = () => this.#fillTable();
        const svg = () => {
            const drawing = this.#holder.querySelector("svg");
            if (!drawing || !this.panel) return null;
            return standaloneSvg(drawing, savedLegend(this.panel, this.#outside.length > 0));
        };
        const name = () => `${this.#choice?.lab.name}-${this.panel?.id}`;
        this.#save.append(takeMenu(said.figure, { name, svg, table: () => this.#table() }));
    }

    get panel(): LabPanel | null {
        return this.#choice?.panel ?? null;
    }

    /** An empty figure for these settings. */
    begin(choice: Choice): void {
        this.#choice = choice;
        this.#curves = curvesOf(choice.panel);
        this.#rows = [];
        this.#recorded = [];
        void this.#recall(choice);
        this.#outside = undefinedOf(choice.panel);
        this.#progress(0, "");
        this.#note("");
        this.#judge(null);
        this.#root.classList.remove("stale");
        this.#draw();
        this.#fillTable();
    }

    /** The shipped run comes behind what is drawn. */
    async #recall({ lab, panel }: Choice): Promise<void> {
        const rows = await recordedRows(lab.name, panel);
        if (panel !== this.panel || rows.length === 0) return;
        this.#recorded = rows;
        this.#draw();
    }

    add({ index, row, done, total, fraction, secondsLeft }: LabProgress): void {
        this.#rows[index] = row;
        const left = fraction < 1 ? ` · ${said.left(duration(secondsLeft))}` : "";
        const points = said.doneOf(done, count(total, said.points));
        this.#progress(fraction, points + left, "off");
        this.#timer ||= setTimeout(
            () => this.#draw(),
            Math.max(0, this.#drawn + redrawPause - performance.now()),
        );
    }

    /** How long all of it takes, before a point is there that says so. */
    estimate(seconds: number | null): void {
        if (seconds === null || this.#finished.length > 0) return;
        this.#progress(0, said.left(duration(seconds)));
    }

    /** So many trials are begun only when they are asked for again. */
    warn(trials: number, seconds: number | null): void {
        const time = seconds === null ? said.long : said.about(duration(seconds));
        this.#progress(0, said.warning(count(trials, said.trial), time));
    }

    finish(result: LabResult): void {
        const { note, seconds, rows } = result;
        if (this.panel) this.#outside = outsideOf(this.panel, result);
        this.#progress(1, said.finished(count(rows.length, said.point), duration(seconds)));
        this.#note(ofLabs(note));
        this.#judge(result);
        this.#draw();
        this.#fillTable();
    }

    stop(byReader: boolean): void {
        const kept = this.#finished.length;
        this.#progress(0, byReader ? said.stopped(count(kept, said.point)) : "");
        this.#draw();
        this.#fillTable();
    }

    /** What is shown belongs to other settings. */
    outdate(): void {
        this.#draw();
        if (this.#finished.length === 0) return;
        this.#root.classList.add("stale");
        this.#progress(0, said.outdated);
    }

    get #root(): HTMLElement {
        return find(document, ".lab-result", HTMLElement);
    }

    /** In the order of the points. */
    get #finished(): Row[] {
        return this.#rows.filter((row) => row !== undefined);
    }

    #draw(): void {
        clearTimeout(this.#timer);
        this.#timer = 0;
        this.#drawn = performance.now();
        const { panel } = this;
        const width = Math.floor(this.#holder.clientWidth);
        if (!panel || width === 0) return;
        const rows = this.#finished;
        const plot = drawFigure({
            panel,
            curves: this.#curves,
            rows,
            recorded: this.#recorded,
            xs: panel.grid,
            outside: this.#outside,
            width,
        });
        plot.addEventListener("input", () => this.#read(plot.value ?? null));
        this.#holder.replaceChildren(plot);
        find(document, "#recorded", HTMLElement).hidden = this.#recorded.length === 0;
        find(document, "#outside", HTMLElement).hidden = this.#outside.length === 0;
        this.#read(null);
        this.#save.hidden = rows.length === 0;
        this.#root.dataset.points = String(rows.length);
    }

    /** Say what the point has that is pointed at. */
    #read(row: Row | null): void {
        const name = this.panel?.x.label ?? "x";
        const values = this.#curves.map(({ label, y, low, high }) => {
            const value = reading(row?.[y] ?? NaN);
            if (low === null || high === null) return `${label}: ${value}`;
            const [from, to] = [row?.[low] ?? NaN, row?.[high] ?? NaN];
            return `${label}: ${value} (${said.range(reading(from), reading(to))})`;
        });
        find(document, "#readout", HTMLElement).textContent = row
            ? `${name} = ${short(row[0] ?? NaN, 6)}; ${values.join("; ")}`
            : "";
    }

    /** Aloud is only said how a run ended. */
    #progress(fraction: number, text: string, ariaLive = "polite"): void {
        find(document, "#progress", HTMLProgressElement).value = fraction;
        Object.assign(find(document, "#status", HTMLElement), { ariaLive, textContent: text });
    }

    #note(text: string): void {
        showLine(find(document, "#note", HTMLElement), text);
    }

    /** What all points say of the claim; before they are all there, nothing. */
    #judge(result: LabResult | null): void {
        const block = find(document, "#verdict", HTMLElement);
        block.hidden = result === null;
        block.dataset.verdict = result?.verdict ?? "";
        find(block, "dd.verdict", HTMLElement).textContent = ofLabs(result?.verdict ?? "");
        find(block, "dd.sure", HTMLElement).textContent = ofLabs(result?.sure ?? "");
        find(block, "dd.found", HTMLElement).textContent = ofLabs(result?.found ?? "");
    }

    #fillTable(): void {
        const { panel } = this;
        const holder = find(this.#details, ".table", HTMLElement);
        if (!panel || !this.#details.open) return holder.replaceChildren();
        holder.replaceChildren(table(panel, this.#finished));
    }

    #table(): Table | null {
        if (!this.#choice) return null;
        const { lab, panel, params, seed } = this.#choice;
        const about = { lab: lab.name, panel: panel.id, title: panel.title, seed, params };
        const command = commandLine(this.#choice);
        return { ...saved(panel, this.#finished), about: { ...about, commandLine: command } };
    }
}

function reading(value: number): string {
    return Number.isSafeInteger(value) ? short(value) : significant(value, 3);
}

function duration(seconds: number): string {
    if (seconds < 100) return `${seconds < 10 ? significant(seconds, 2) : Math.round(seconds)} s`;
    if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
    return count(Math.round(seconds / 3600), said.hour);
}
