/** The story: ten steps from one row of softmax to what attention costs, each with something to try. */

import "../shell/trusted"; // first: workers are started by what follows
import type { Backend } from "libattn";
import { readText } from "../state/address";
import { onTheme, readTheme } from "../map/colors";
import { usualCosts } from "../cost/costs";
import { element, find, isAbort, message, showLine } from "../dom/dom";
import { count } from "../dom/format";
import { Hash } from "../state/hash";
import { Heatmap } from "../map/heatmap";
import type { Held } from "../engine/held";
import { start } from "../shell/start";
import { defaultSettings, readLink, textInLink, writeLink } from "../state/state";
import type { Link, Settings } from "../state/state";
import { takeMenu, type Matrix, type Table } from "../take/menu";
import { standaloneSvg } from "../take/standalone";
import { tableOfWeights } from "../take/weights";
import { Controls } from "./controls";
import { Library } from "./library";
import { aboutRow, candidateOf, presetSteps, problemOf, textSteps, type Scene } from "./steps";
import { words } from "../words/words";

const { story: said, nouns, progress } = words;
const { firstText } = said;
const mostTokens = 128;
const million = 2 ** 20;

interface Part {
    section: HTMLElement;
    isSeen: boolean;
    isStale: boolean;
    /** Does it depend on the text, and what is asked of it? */
    isOfText: boolean;
    asked: AbortController;
    /** What its figure shows; null: there is none. */
    table: Table | null;
    matrix: Matrix | null;
}

class Story {
    #library = new Library();
    #backends: Backend[] = [];
    #defaults: Settings = {
        ...defaultSettings(firstText),
        causal: true,
        costs: { ...usualCosts, length: million },
    };
    #settings: Settings = this.#defaults;
    #held: Held | null = null;
    #parts = new Map<string, Part>();
    #hash = new Hash();
    /** The latest text, as links have it. */
    #linked: { of: string; text: Awaited<ReturnType<typeof textInLink>> } | null = null;
    #map: Heatmap;
    #step = "scores";
    #controls: Controls | null = null;

    constructor() {
        const canvas = find(document, "#all canvas", HTMLCanvasElement);
        this.#map = new Heatmap(
            canvas,
            (cell) => this.#map.point(cell),
            ({ row }) => this.#ask(row),
        );
        for (const section of document.querySelectorAll<HTMLElement>("main > section")) {
            const isOfText = !(section.id in presetSteps);
            const asked = new AbortController();
            const nothing = { table: null, matrix: null };
            const part: Part = {
                section,
                isSeen: false,
                isStale: true,
                isOfText,
                asked,
                ...nothing,
            };
            this.#parts.set(section.id, part);
            this.#offer(section.id, part);
        }
    }

    /** Buttons that save its figure. */
    #offer(id: string, part: Part): void {
        const figure = find(part.section, ".figure", HTMLElement);
        const title = find(part.section, "h2", HTMLElement).textContent;
        const isMap = figure.querySelector("canvas") !== null;
        const svg = () => {
            const drawing = figure.querySelector("svg");
            return isMap ? this.#map.svg(title) : drawing && standaloneSvg(drawing);
        };
        const table = () => {
            const { table } = part;
            return table && { ...table, about: { ...table.about, address: location.href } };
        };
        const matrix = isMap && { matrix: () => part.matrix };
        figure.after(takeMenu(title, { name: () => `story-${id}`, svg, table, ...matrix }));
    }

    async open(): Promise<void> {
        start();
        const { version, build, tier, backends } = await this.#library.open();
        this.#backends = backends;
        find(document, "#about", HTMLElement).textContent = progress.about(version, build, tier);
        const link = readLink(location.hash, this.#defaults);
        const { text, problem } = await linkedText(link);
        this.#settings = { ...link, text };
        this.#controls = new Controls(this.#settings, backends);
        this.#listen();
        await this.#read();
        if (problem) showLine(find(document, "#problem", HTMLElement), problem);
        this.#go(new URLSearchParams(location.hash.slice(1)).get("step") ?? "");
    }

    #listen(): void {
        this.#controls?.listen(() => this.#settings, {
            onText: () => void this.#read(),
            onRow: (query) => this.#ask(query),
            onChange: (changed, steps) => this.#change(changed, steps),
        });
        addEventListener("hashchange", () => location.reload()); // a link pasted over this one
        onTheme(() => this.#redraw());
        let width = NaN;
        new ResizeObserver(([main]) => {
            const before = width;
            width = main?.contentRect.width ?? NaN;
            if (width !== before) this.#redraw(); // steps that are drawn change the height
        }).observe(find(document, "main", HTMLElement));
        for (const link of document.querySelectorAll<HTMLAnchorElement>("#steps a")) {
            link.onclick = (event) => {
                event.preventDefault(); // the address holds what the reader chose
                this.#go(link.hash.slice(1));
            };
        }
        const seen = new IntersectionObserver((entries) => this.#see(entries));
        const middle = new IntersectionObserver((entries) => this.#follow(entries), {
            rootMargin: "-50% 0px", // a line: of steps that are close, whichever is on it
        });
        for (const { section } of this.#parts.values()) {
            seen.observe(section);
            middle.observe(section);
        }
    }

    #go(step: string): void {
        const { section } = this.#parts.get(step) ?? {};
        section?.scrollIntoView();
        section?.focus({ preventScroll: true });
    }

    /** The token that asks is another one. */
    #ask(query: number): void {
        this.#change({ pin: { query, key: query } });
    }

    /** `steps`: those that depend on it; all of the text's where none are named. */
    #change(changed: Partial<Settings>, steps: readonly string[] | null = null): void {
        this.#settings = { ...this.#settings, ...changed };
        this.#controls?.showValues(this.#settings);
        this.#redraw(
            steps ?? [...this.#parts.keys()].filter((id) => this.#parts.get(id)?.isOfText),
        );
        this.#remember();
    }

    /** The text that is typed. */
    async #read(): Promise<void> {
        const controls = this.#controls;
        if (!controls) return;
        const { text } = controls;
        const problem = find(document, "#problem", HTMLElement);
        try {
            const held = await this.#library.ofText(text, this.#settings.dim);
            if (text !== controls.text) return this.#library.forget(held);
            const { queries } = held.input.shape;
            if (queries > mostTokens) {
                this.#library.forget(held);
                throw new Error(said.tooLong(count(queries, nouns.token), mostTokens));
            }
            if (this.#held) this.#library.forget(this.#held);
            this.#held = held;
            showLine(problem, null);
            this.#change({ text });
        } catch (error) {
            showLine(problem, message(error));
        }
        controls.isWrong = !problem.hidden;
    }

    #see(entries: readonly IntersectionObserverEntry[]): void {
        for (const { target, isIntersecting } of entries) {
            const part = this.#parts.get(target.id);
            if (part) part.isSeen = isIntersecting;
        }
        this.#draw();
    }

    /** A step is read that is in the middle of what is seen; between two it is still the last one. */
    #follow(entries: readonly IntersectionObserverEntry[]): void {
        const step = entries.findLast(({ isIntersecting }) => isIntersecting)?.target.id;
        if (!step) return;
        for (const link of document.querySelectorAll("#steps a"))
            link.ariaCurrent = link.getAttribute("href") === `#${step}` ? "step" : null;
        if (step === this.#step) return;
        this.#step = step;
        this.#remember();
    }

    #redraw(steps: Iterable<string> = this.#parts.keys()): void {
        for (const id of steps) {
            const part = this.#parts.get(id);
            if (part) part.isStale = true;
        }
        this.#draw();
    }

    /** What is seen and no longer holds. */
    #draw(): void {
        const held = this.#held;
        if (!held) return;
        const { queries } = held.input.shape;
        const query = Math.min(this.#settings.pin?.query ?? queries - 1, queries - 1);
        this.#controls?.showRow(query, queries, held.input.tokens?.[query] ?? "");
        for (const [id, part] of this.#parts) {
            if (!part.isSeen || !part.isStale) continue;
            part.isStale = false;
            void this.#drawPart(id, part, held, query);
        }
    }

    async #drawPart(id: string, part: Part, held: Held, query: number): Promise<void> {
        part.asked.abort();
        const { signal } = (part.asked = new AbortController());
        const { section } = part;
        const holder = find(section, ".words", HTMLElement);
        const figure = find(section, ".figure", HTMLElement);
        const [library, backends, settings] = [this.#library, this.#backends, this.#settings];
        const width = Math.min(900, figure.clientWidth || 600);
        const scene: Scene = { library, backends, settings, held, query, width, signal };
        section.ariaBusy = "true";
        try {
            const step = textSteps[id] ?? presetSteps[id];
            const drawn = step ? await step(scene) : await this.#drawAll(scene);
            signal.throwIfAborted();
            if ("figure" in drawn) figure.replaceChildren(drawn.figure);
            holder.replaceChildren(...drawn.words);
            part.table = drawn.table;
            part.matrix = "matrix" in drawn ? drawn.matrix : null;
        } catch (error) {
            if (signal.aborted || isAbort(error)) return;
            holder.replaceChildren(element("span", { className: "problem" }, message(error)));
        }
        section.ariaBusy = "false";
    }

    /** All rows at once, as a picture. */
    async #drawAll(scene: Scene) {
        const { library, held, settings, query, signal } = scene;
        const candidate = candidateOf(settings, "softmax");
        const grid = await library.grid(held, candidate, problemOf(settings), signal);
        signal.throwIfAborted();
        const { tokens } = held.input;
        const max = grid.cells.reduce((most, weight) => Math.max(most, weight), 0);
        const picture = { grid, values: grid.cells, max, law: "shared" as const, tokens };
        this.#map.show(picture, readTheme());
        this.#map.pin(query);
        const { queries } = grid;
        const pairs = settings.causal ? (queries * (queries + 1)) / 2 : queries * queries;
        const twice = settings.causal ? queries * (2 * queries + 1) : 4 * queries * queries;
        const data = element("data", { value: String(pairs) }, count(pairs, said.shares));
        const longer = said.twice(count(twice, said.shares));
        const about = aboutRow(scene, "softmax");
        return {
            words: [`${count(queries, nouns.token)}: `, data, longer],
            table: { ...tableOfWeights(grid, tokens ?? []), about },
            matrix: { numbers: grid.cells, shape: [grid.rows, grid.columns] },
        };
    }

    /** The playground goes on with what is shown now: at once, but for a text that is still to be packed. */
    async #lead(): Promise<void> {
        const settings = this.#settings;
        if (this.#linked?.of !== settings.text) {
            const text = await textInLink(settings.text);
            if (settings !== this.#settings) return;
            this.#linked = { of: settings.text, text };
        }
        const { text } = this.#linked;
        const play = writeLink({ ...settings, streaming: false, text }, defaultSettings(""));
        find(document, "#play", HTMLAnchorElement).hash = play;
    }

    #remember(): void {
        void this.#lead(); // at once: the address follows later
        this.#hash.write(async () => {
            const settings = { ...this.#settings, streaming: false };
            const text = await textInLink(settings.text);
            const isFirst = settings.text === firstText;
            const own = writeLink({ ...settings, text: isFirst ? null : text }, this.#defaults);
            const query = new URLSearchParams(own);
            if (this.#step !== "scores") query.set("step", this.#step);
            return query.toString();
        });
    }
}

/** A link's text; of one that is broken another, and why. */
async function linkedText({ text }: Link): Promise<{ text: string; problem: string | null }> {
    try {
        return { text: text ? await readText(text) : firstText, problem: null };
    } catch (error) {
        return { text: firstText, problem: message(error) };
    }
}

new Story().open().catch((error: unknown) => {
    const line = element("p", { className: "problem", role: "alert" }, message(error));
    find(document, "main", HTMLElement).replaceChildren(line);
});
