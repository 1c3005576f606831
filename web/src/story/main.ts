/** The story: ten steps from one row of softmax to what attention costs, each with something to try. */

import "../shell/trusted"; // first: workers are started by what follows
import type { Backend } from "libattn";
import { readText } from "../state/address";
import { onTheme, readTheme } from "../map/colors";
import { usualCosts } from "../cost/settings";
import { element, find, isAbort, message, showLine } from "../dom/dom";
import { count } from "../dom/format";
import { Hash } from "../state/hash";
import { Description } from "../map/description";
import { Heatmap } from "../map/heatmap";
import type { Held } from "../engine/held";
import { start } from "../shell/start";
import { defaultSettings, readLink, textInLink, writeLink } from "../state/state";
import type { Link, Settings } from "../state/state";
import type { Grid } from "../state/types";
import { presetOf } from "../presets/list";
import { opening } from "../presets/opening";
import { takeMenu, type Matrix, type Table } from "../take/menu";
import { standaloneSvg } from "../take/standalone";
import { tableOfWeights } from "../take/weights";
import { Controls } from "./controls";
import { Library } from "./library";
import { aboutRow, candidateOf, presetSteps, problemOf, textSteps, type Scene } from "./steps";
import { words } from "../words/words";

const { story: said, nouns, progress } = words;
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
    /** Without a text a trained head is shown. */
    #defaults: Settings = {
        ...defaultSettings(""),
        causal: true,
        costs: { ...usualCosts, length: million },
    };
    #settings: Settings = this.#defaults;
    #held: Held | null = null;
    #parts = new Map<string, Part>();
    #hash = new Hash();
    /** The latest text, as links have it. */
    #linked: { of: string; text: Awaited<ReturnType<typeof textInLink>> } | null = null;
    #maps = new Map<string, Heatmap>();
    #descriptions = new Map<string, Description>();
    #step = "scores";
    #controls: Controls | null = null;

    constructor() {
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
            this.#frame(section);
            this.#offer(section.id, part);
        }
    }

    /** All rows at once, where the step shows them. */
    #frame(section: HTMLElement): void {
        const canvas = section.querySelector("canvas");
        if (!canvas) return;
        const map = new Heatmap(
            canvas,
            (cell) => map.point(cell),
            ({ row }) => this.#ask(row),
        );
        this.#maps.set(section.id, map);
        this.#descriptions.set(section.id, new Description(canvas, section.id));
    }

    /** What saves its figure. */
    #offer(id: string, part: Part): void {
        const beside = find(part.section, ".beside", HTMLElement);
        const title = find(part.section, "h2", HTMLElement).textContent;
        const isMap = beside.querySelector(".figure") === null;
        const svg = () => {
            const drawing = beside.querySelector("svg");
            if (isMap) return this.#maps.get(id)?.svg(title) ?? null;
            return drawing && standaloneSvg(drawing);
        };
        const table = () => {
            const { table } = part;
            return table && { ...table, about: { ...table.about, address: location.href } };
        };
        const matrix = isMap && { matrix: () => part.matrix };
        const menu = takeMenu(title, { name: () => `story-${id}`, svg, table, ...matrix });
        const summary = element("summary", {}, said.save);
        beside.append(element("details", { className: "saving" }, summary, menu));
    }

    async open(): Promise<void> {
        start();
        const { version, build, tier, backends } = await this.#library.open();
        this.#backends = backends;
        find(document, "#about", HTMLElement).textContent = progress.about(version, build, tier);
        const hash = new URLSearchParams(location.hash.slice(1));
        hash.set("preset", "none"); // those that steps have are their own
        const link = readLink(hash.toString(), this.#defaults);
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
            const held = await this.#heldOf(text);
            if (text !== controls.text) return this.#library.forget(held);
            const { queries } = held.input.shape;
            if (queries > mostTokens) {
                this.#library.forget(held);
                throw new Error(said.tooLong(count(queries, nouns.token), mostTokens));
            }
            if (this.#held) this.#library.forget(this.#held);
            this.#held = held;
            showLine(problem, null);
            const { dim } = held.input.shape;
            const params = fitting(this.#settings.params, dim);
            controls.showDim(dim, { ...this.#settings, params });
            this.#change({ text, params });
        } catch (error) {
            showLine(problem, message(error));
        }
        controls.isWrong = !problem.hidden;
    }

    #heldOf(text: string): Promise<Held> {
        if (text === "") return this.#library.ofTrained();
        return this.#library.ofText(text, this.#settings.dim);
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
        for (const link of document.querySelectorAll<HTMLElement>("#steps a")) {
            const isRead = link.getAttribute("href") === `#${step}`;
            link.ariaCurrent = isRead ? "step" : null;
            const { parentElement: item } = link;
            if (isRead && item)
                find(document, "#steps", HTMLElement).scrollLeft = item.offsetLeft - 24; // its number, too
        }
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
        const figure = section.querySelector(".figure");
        const [library, backends, settings] = [this.#library, this.#backends, this.#settings];
        const beside = find(section, ".beside", HTMLElement);
        const width = Math.min(900, beside.clientWidth || 600);
        const scene: Scene = { library, backends, settings, held, query, width, signal };
        section.ariaBusy = "true";
        try {
            const step = textSteps[id] ?? presetSteps[id];
            const grid = await this.#drawMap(id, scene);
            const drawn = step ? await step(scene) : allOf(scene, grid);
            signal.throwIfAborted();
            if ("figure" in drawn) figure?.replaceChildren(drawn.figure);
            holder.replaceChildren(...drawn.words);
            part.table = drawn.table;
            part.matrix = "matrix" in drawn ? drawn.matrix : null;
        } catch (error) {
            if (signal.aborted || isAbort(error)) return;
            holder.replaceChildren(element("span", { className: "problem" }, message(error)));
        }
        section.ariaBusy = "false";
    }

    /** All rows at once, as a picture, where the step has one: by its own attention, or else softmax. */
    async #drawMap(id: string, scene: Scene): Promise<Grid | null> {
        const map = this.#maps.get(id);
        if (!map) return null;
        const { library, held, settings, query, signal } = scene;
        const backend = scene.backends.find((each) => each.id === id)?.id ?? "softmax";
        const candidate = candidateOf(settings, backend);
        const grid = await library.grid(held, candidate, problemOf(settings), signal);
        signal.throwIfAborted();
        const { tokens } = held.input;
        const max = grid.cells.reduce((most, weight) => Math.max(most, weight), 0);
        map.show({ grid, values: grid.cells, max, law: "shared", tokens }, readTheme());
        map.pin(query);
        const shown = { grid, values: grid.cells, tokens, isDifference: false };
        this.#descriptions.get(id)?.show(shown);
        return grid;
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
        const own = settings.text === "" ? trainedIn(settings) : settings;
        const play = writeLink({ ...own, streaming: false, text }, defaultSettings(""));
        find(document, "#play", HTMLAnchorElement).hash = play;
    }

    #remember(): void {
        void this.#lead(); // at once: the address follows later
        this.#hash.write(async () => {
            const settings = { ...this.#settings, streaming: false };
            const text = await textInLink(settings.text);
            const isTrained = settings.text === "";
            const own = writeLink({ ...settings, text: isTrained ? null : text }, this.#defaults);
            const query = new URLSearchParams(own);
            query.delete("preset");
            if (this.#step !== "scores") query.set("step", this.#step);
            return query.toString();
        });
    }
}

/** What is said of all rows. */
function allOf(scene: Scene, grid: Grid | null) {
    if (!grid) throw new Error("the step has no picture");
    const { settings, held } = scene;
    const { queries } = grid;
    const pairs = settings.causal ? (queries * (queries + 1)) / 2 : queries * queries;
    const twice = settings.causal ? queries * (2 * queries + 1) : 4 * queries * queries;
    const data = element("data", { value: String(pairs) }, count(pairs, said.shares));
    const longer = said.twice(count(twice, said.shares));
    return {
        words: [`${count(queries, nouns.token)}: `, data, longer],
        table: {
            ...tableOfWeights(grid, held.input.tokens ?? []),
            about: aboutRow(scene, "softmax"),
        },
        matrix: { numbers: grid.cells, shape: [grid.rows, grid.columns] },
    };
}

/** The trained head's settings as the playground has them. */
function trainedIn(settings: Settings): Settings {
    const { id, problem, view } = presetOf(opening.preset) ?? {};
    const scale = settings.scale ?? problem?.scale ?? null;
    return { ...settings, preset: id ?? null, ...view, scale };
}

/** Without a sketch of more features than there are. */
function fitting(params: Settings["params"], dim: number): Settings["params"] {
    const { size, ...others } = params.get("sketch") ?? {};
    if (size === undefined || Number(size) <= dim) return params;
    return new Map([...params, ["sketch", others]]);
}

/** A link's text, "" where it has none; of one that is broken why. */
async function linkedText({ text }: Link): Promise<{ text: string; problem: string | null }> {
    try {
        return { text: text ? await readText(text) : "", problem: null };
    } catch (error) {
        return { text: "", problem: message(error) };
    }
}

new Story().open().catch((error: unknown) => {
    const line = element("p", { className: "problem", role: "alert" }, message(error));
    find(document, "main", HTMLElement).replaceChildren(line);
});
