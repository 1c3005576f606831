/** One model that learns: its worker, what it told, and where that is shown. */

import type { StudyOptions } from "libattn-labs/training";
import type { Theme } from "../map/colors";
import { element, find, showLine } from "../dom/dom";
import { count, percent, significant } from "../dom/format";
import { nameOf } from "../map/axes";
import { sharesOf } from "../map/summary";
import { fillList } from "../compare/lines";
import { takeMenu, type Matrix, type Table } from "../take/menu";
import { paintWeights, tableOfHeads } from "../thinking/weights";
import type { Point } from "./curves";
import { said } from "./words";
import type { Answer, Order, Report, Thought } from "./worker";

const enough = 0.95; // of the answers

export class Learner {
    readonly attention: string;
    readonly element: HTMLElement;
    /** Of each step. */
    readonly losses: number[] = [];
    /** Of the looks. */
    readonly answers: Point[] = [];
    #options: StudyOptions;
    #question: string;
    #worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    #latest: Report | null = null;
    #thought: Thought | null = null;
    /** Steps and milliseconds when answers first were right enough. */
    #reached: { step: number; spent: number } | null = null;
    #hasFailed = false;
    #orders = 0;
    #theme: Theme;
    #onReport: () => void;

    constructor(options: StudyOptions, question: string, theme: Theme, onReport: () => void) {
        const template = find(document, "#learner", HTMLTemplateElement);
        const copy = template.content.cloneNode(true) as DocumentFragment;
        this.attention = options.attention ?? "softmax";
        this.#options = options;
        this.#question = question;
        this.element = find(copy, "section", HTMLElement);
        this.element.dataset.attention = this.attention;
        this.element.ariaLabel = this.attention;
        find(this.element, "h2", HTMLElement).textContent = this.attention;
        this.#theme = theme;
        this.#onReport = onReport;
        const menu = takeMenu(said.theWeights(this.attention), {
            name: () => `training-${this.attention}`,
            svg: () => this.#sheet(),
            table: () => this.#table(),
            matrix: () => this.#matrix(),
        });
        this.element.append(menu);
        this.#worker.onmessage = ({ data }: MessageEvent<Answer>) => {
            if (data.kind === "report") this.#take(data.report);
            else if (data.kind === "problem") this.#fail(data.problem);
            else this.#count(-1);
        };
        this.#worker.onerror = (event) => {
            this.#fail(event.message || said.notStarted);
            this.#count(-this.#orders);
        };
        this.#order({ kind: "begin", options, question });
    }

    /** Is there nothing more to learn? */
    get isDone(): boolean {
        return this.#hasFailed || (this.#latest?.isDone ?? false);
    }

    go(isGoing: boolean): void {
        this.#order({ kind: isGoing ? "go" : "pause" });
    }

    end(): void {
        this.#worker.terminate();
    }

    set theme(theme: Theme) {
        this.#theme = theme;
        this.#paint();
    }

    #order(order: Order): void {
        this.#count(1);
        this.#worker.postMessage(order);
    }

    /** Orders that are not carried out yet become more or fewer. */
    #count(more: number): void {
        this.#orders += more;
        this.element.ariaBusy = String(this.#orders > 0);
    }

    #take(report: Report): void {
        const { losses, look, spent } = report;
        this.#latest = report;
        for (const loss of losses) this.losses.push(loss);
        if (look) {
            const step = this.losses.length;
            this.answers.push({ attention: this.attention, step, value: 100 * look.answers });
            if (look.answers >= enough) this.#reached ??= { step, spent };
            this.#thought = look.thought;
            this.#say(look.thought);
            this.#paint();
        }
        this.#tell(report);
        this.#onReport();
    }

    #tell({ spent, steps, size }: Report): void {
        const last = this.losses.at(-1);
        const answers = this.answers.at(-1)?.value;
        const reached = this.#reached;
        const line = (name: string, label: string, text: string, value?: number) => ({
            ...{ name, label, text },
            ...(value !== undefined && { value: String(value) }),
        });
        const step = this.losses.length;
        const list = find(this.element, ".numbers", HTMLElement);
        const lines = [
            line("weights", said.weights, String(size), size),
            line("step", said.steps, said.stepOf(step, steps), step),
            line("loss", said.loss, last === undefined ? "…" : significant(last), last),
            line("answers", said.answers, percent((answers ?? 0) / 100), answers),
            line("time", said.time, `${significant(spent / 1000, 3)} s`, spent),
            line(
                "reached",
                said.reached(`${Math.round(100 * enough)} %`),
                reached
                    ? `${count(reached.step, said.step)}, ${significant(reached.spent / 1000, 3)} s`
                    : "…",
                reached?.spent,
            ),
        ];
        fillList(list, lines, ({ label }) => document.createTextNode(label));
    }

    #say({ tokens, right, question }: Thought): void {
        const answer = element("b", {}, tokens.slice(question).join(" "));
        find(this.element, ".said", HTMLElement).replaceChildren(
            `${tokens.slice(0, question).join(" ")} `,
            answer,
            said.verdict(right),
        );
    }

    #paint(): void {
        if (!this.#thought) return;
        const { layers, heads, tokens, weights } = this.#thought;
        const rows = tokens.length - 1;
        const root = find(this.element, ".heads", HTMLElement);
        root.style.setProperty("--heads", String(heads));
        if (root.children.length === 0) root.append(...figures(layers, heads));
        root.querySelectorAll("canvas").forEach((canvas, i) => {
            const cells = weights.subarray(i * rows * rows, (i + 1) * rows * rows);
            paintWeights(canvas, { rows, columns: rows, cells }, this.#theme);
            const place = said.place(Math.floor(i / heads) + 1, (i % heads) + 1);
            const shares = sharesOf(cells, rows, (key) => nameOf(key, tokens));
            canvas.ariaLabel = `${said.weightsOf(place)}: ${shares}`;
        });
    }

    async #sheet(): Promise<string | null> {
        const { sheet } = await import("../look/sheet");
        if (!this.#thought) return null;
        const tiles = [...this.element.querySelectorAll("figure")].map((figure) => ({
            image: find(figure, "canvas", HTMLCanvasElement),
            lines: [figure.textContent],
        }));
        return sheet(tiles, this.#thought.heads, this.#theme, said.weightsOf(this.attention));
    }

    #matrix(): Matrix | null {
        if (!this.#thought) return null;
        const { layers, heads, tokens, weights } = this.#thought;
        const rows = tokens.length - 1;
        return { numbers: weights, shape: [layers, heads, rows, rows] };
    }

    #table(): Table | null {
        const matrix = this.#matrix();
        if (!matrix || !this.#thought) return null;
        const step = this.answers.at(-1)?.step;
        const about = { ...this.#options, question: this.#question, step, address: location.href };
        return { ...tableOfHeads(matrix, this.#thought.tokens), about };
    }

    #fail(problem: string): void {
        this.#hasFailed = true;
        showLine(find(this.element, ".problem", HTMLElement), problem);
        this.#onReport();
    }
}

function figures(layers: number, heads: number): HTMLElement[] {
    return Array.from({ length: layers * heads }, (_, i) => {
        const name = said.place(Math.floor(i / heads) + 1, (i % heads) + 1);
        const canvas = element("canvas", { role: "img" });
        return element("figure", {}, canvas, element("figcaption", {}, name));
    });
}
