/** The page where models learn: softmax and linear attention beside each other, on the same samples. */

import "../shell/trusted"; // first: workers are started by what follows
import { onTheme, readTheme } from "../map/colors";
import { element, find, message, showLine } from "../dom/dom";
import { Hash } from "../state/hash";
import { Command } from "../panel/command";
import { start } from "../shell/start";
import { takeMenu, type Table } from "../take/menu";
import { standaloneSvg } from "../take/standalone";
import { curves, recordedOf, thinned, type Point } from "./curves";
import { Learner } from "./learner";
import { commandLine, tasks, type Task } from "./tasks";
import { said } from "./words";

const attentions = ["softmax", "linear"];
const redrawPause = 250; // milliseconds: curves are drawn about so often
const largestSeed = 2 ** 32 - 1;

class Page {
    #learners: Learner[] = [];
    #isGoing = false;
    #timer = 0;
    #hash = new Hash();
    #command = new Command(find(document, ".command", HTMLDetailsElement));
    #task = find(document, "#task", HTMLSelectElement);
    #seed = find(document, "#seed", HTMLInputElement);
    #go = find(document, "#go", HTMLButtonElement);

    open(): void {
        start();
        const query = new URLSearchParams(location.hash.slice(1));
        this.#task.append(...tasks.map(({ id, name }) => element("option", { value: id }, name)));
        const asked = tasks.find(({ id }) => id === query.get("task")) ?? tasks[0];
        this.#task.value = asked?.id ?? "";
        this.#seed.value = isSeed(query.get("seed")) ? (query.get("seed") ?? "") : "1";
        find(document, "#settings", HTMLFormElement).onsubmit = (event) => {
            event.preventDefault();
            this.#toggle();
        };
        this.#task.onchange = this.#seed.oninput = () => this.#begin();
        const again = find(document, "#again", HTMLButtonElement);
        again.onclick = () => this.#begin();
        again.disabled = false;
        addEventListener("hashchange", () => location.reload()); // a link pasted over this one
        new ResizeObserver(() => this.#draw()).observe(find(document, "#loss", HTMLElement));
        onTheme(() => {
            for (const learner of this.#learners) learner.theme = readTheme();
        });
        offer("loss", () => this.#table("loss", ({ losses }) => losses.map(numbered)));
        offer("answers", () => this.#table("percent right", ({ answers }) => answers));
        this.#begin();
    }

    get #chosen(): Task {
        const task = tasks.find(({ id }) => id === this.#task.value) ?? tasks[0];
        if (!task) throw new Error("there are no tasks");
        return task;
    }

    /** Models that have learned nothing. */
    #begin(): void {
        for (const learner of this.#learners) learner.end();
        this.#learners = [];
        this.#set(false);
        const seed = this.#seed.value;
        const isGood = isSeed(seed);
        showLine(
            find(document, "#problem", HTMLElement),
            isGood ? null : said.wrongSeed(largestSeed),
        );
        this.#seed.ariaInvalid = isGood ? null : "true";
        this.#go.disabled = !isGood;
        const task = this.#chosen;
        find(document, "#about-task", HTMLElement).textContent = task.about;
        if (isGood) this.#hire(task, Number(seed));
        const elements = this.#learners.map((learner) => learner.element);
        find(document, "#learners", HTMLElement).replaceChildren(...elements);
        this.#draw();
    }

    #hire(task: Task, seed: number): void {
        const theme = readTheme();
        this.#learners = attentions.map((attention) => {
            const options = { ...task.options, attention, seed };
            return new Learner(options, task.question, theme, () => this.#reported());
        });
        const lines = attentions.map((attention) => commandLine(task, attention, seed));
        this.#command.show(lines.join("\n"));
        this.#hash.write(() =>
            new URLSearchParams({ task: task.id, seed: String(seed) }).toString(),
        );
    }

    #toggle(): void {
        this.#set(!this.#isGoing);
        for (const learner of this.#learners) learner.go(this.#isGoing);
    }

    #set(isGoing: boolean): void {
        this.#isGoing = isGoing;
        this.#go.textContent = isGoing ? said.pause : said.train;
        find(document, "main", HTMLElement).dataset.going = String(isGoing);
    }

    #reported(): void {
        if (this.#isGoing && this.#learners.every(({ isDone }) => isDone)) this.#set(false);
        this.#timer ||= setTimeout(() => this.#draw(), redrawPause);
    }

    /** All steps, of which curves are drawn. */
    #table(column: string, values: (learner: Learner) => readonly Value[]): Table | null {
        const rows = this.#learners.flatMap((learner) =>
            values(learner).map(({ step, value }) => [learner.attention, step, value]),
        );
        if (rows.length === 0) return null;
        const { options, id } = this.#chosen;
        const seed = Number(this.#seed.value);
        const commandLines = attentions.map((each) => commandLine(this.#chosen, each, seed));
        const about = { ...options, task: id, seed, commandLines, address: location.href };
        return { columns: ["attention", "step", column], rows, about };
    }

    #draw(): void {
        clearTimeout(this.#timer);
        this.#timer = 0;
        const losses = this.#learners.flatMap((each) => thinned(each.attention, each.losses));
        const answers = this.#learners.flatMap((each) => each.answers);
        const { id } = this.#chosen;
        const [lost, right] = [recordedOf(id, "losses"), recordedOf(id, "answers")];
        draw("#loss", (width) => curves(losses, lost, attentions, said.axes.loss, null, width));
        draw("#answers", (width) =>
            curves(answers, right, attentions, said.axes.answers, 100, width),
        );
    }
}

type Value = Pick<Point, "step" | "value">;

function numbered(value: number, i: number): Value {
    return { step: i + 1, value };
}

/** Buttons that save a figure. */
function offer(id: string, table: () => Table | null): void {
    const holder = find(document, `#${id}`, HTMLElement);
    const svg = () => {
        const drawing = holder.querySelector("svg");
        return drawing && table() && standaloneSvg(drawing);
    };
    const what = find(document, `#${id}-title`, HTMLElement).textContent;
    holder.after(takeMenu(what, { name: () => `training-${id}`, svg, table }));
}

function draw(selector: string, make: (width: number) => Element): void {
    const holder = find(document, selector, HTMLElement);
    const width = Math.floor(holder.clientWidth);
    if (width > 0) holder.replaceChildren(make(width));
}

function isSeed(text: string | null): boolean {
    return text !== null && /^\d{1,10}$/.test(text) && Number(text) <= largestSeed;
}

try {
    new Page().open();
} catch (error) {
    const line = element("p", { className: "problem", role: "alert" }, message(error));
    find(document, "main", HTMLElement).replaceChildren(line);
}
