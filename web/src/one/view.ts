/** A view in one file: it computes on arrays that stand in the file, wherever that is opened. */

import { init, type Attn, type Backend, type Plan } from "libattn/inline";
import { readTheme } from "../colors";
import { makeControls, type Controls } from "../controls";
import { element, find, message } from "../dom";
import type { Cell } from "../drawing";
import { tooMuch, type Findings } from "../lines";
import { offered } from "../offering";
import { paintPanels } from "../painting";
import { panelElement } from "../panel/element";
import { Figures } from "../panel/figures";
import { Picture } from "../panel/picture";
import { emptyGrid, fillRows, queriesOf } from "../pool";
import { posed } from "../rules/posed";
import { numbersOf } from "../told";
import type { Grid, Role, Values } from "../types";
import { unpackArrays, unpackProblem, type SavedView } from "./saved";
import { words } from "../words/words";

const turns = 5; // of which the middle one's time counts
const shortest = 8; // milliseconds a turn lasts at least: clocks of pages tick by tenths and whole ones
const mostFlops = 2 ** 30; // 2048 tokens of 64 numbers: longer work stops a tab for seconds
const reference = "softmax";

class View {
    #attn: Attn;
    #saved: SavedView;
    #arrays: Record<Role, Float32Array>;
    #panels: OnePanel[];

    constructor(attn: Attn, backends: readonly Backend[], saved: SavedView) {
        this.#attn = attn;
        this.#saved = { ...saved, problem: unpackProblem(saved) };
        this.#arrays = unpackArrays(saved.arrays);
        this.#panels = saved.backends.flatMap(({ id, params }) => {
            const backend = backends.find((each) => each.id === id);
            return backend ? [new OnePanel(this, backend, params)] : [];
        });
    }

    /** One panel after the other, and what is there is shown meanwhile. */
    async show(): Promise<void> {
        const elements = this.#panels.map(({ element }) => element);
        find(document, "#panels", HTMLElement).prepend(...elements);
        for (const panel of this.#panels) {
            await new Promise((resolve) => setTimeout(resolve)); // the browser draws
            panel.compute();
            this.paint();
        }
    }

    paint(): void {
        paintPanels(this.#panels, readTheme(), this.#saved.colours);
    }

    point(cell: Cell | null): void {
        for (const panel of this.#panels) panel.point(cell);
    }

    get tokens(): string[] | null {
        return this.#saved.tokens;
    }

    showsDifference(backend: string): boolean {
        return this.#saved.difference && backend !== reference;
    }

    get reference(): Grid | null {
        return this.#panels.find(({ id }) => id === reference)?.grid ?? null;
    }

    compute(backend: string, params: Values): { grid: Grid; findings: Findings } {
        const { shape, problem, batch, head } = this.#saved;
        const { options, arrays, hidesPairs } = posed(problem, shape);
        const plan = this.#attn.plan({ backend, ...shape, params, ...options });
        try {
            const { query, key } = this.#arrays;
            const { region, pooling } = this.#saved.viewport;
            const grid = emptyGrid(region, shape, pooling);
            for (let row = 0; row < grid.rows; row++) {
                const part = { batch, head, ...queriesOf(grid, row) };
                fillRows(grid, row, plan.weights({ ...arrays, query, key, ...part }));
            }
            const numbers = numbersOf(plan, shape, hidesPairs);
            const works = [
                ["run", numbers.flops ?? 0],
                ["exact", this.#exactFlops],
            ] as const;
            const long = works.find(([, flops]) => flops > mostFlops);
            const ran = long ? { ended: tooMuch(long[0], long[1]) } : this.#run(plan);
            const none = { run: null, accuracy: null, look: null, timing: null, ended: null };
            return { grid, findings: { numbers, ...none, ...ran } };
        } finally {
            plan.dispose();
        }
    }

    /** Of what errors are taken against. */
    get #exactFlops(): number {
        const { batch, heads, queries, keys, dim, valueDim } = this.#saved.shape;
        return 2 * batch * heads * queries * keys * (dim + valueDim);
    }

    #run(plan: Plan): Pick<Findings, "run" | "accuracy" | "timing"> {
        const { shape, problem } = this.#saved;
        const rows = shape.batch * shape.heads * shape.queries;
        const arrays = { ...posed(problem, shape).arrays, ...this.#arrays };
        const { out, degenerateRows } = plan.run(arrays);
        const times = timesOf(() => plan.run(arrays));
        const error = plan.error({ ...arrays, out });
        const milliseconds = times[turns >> 1] ?? NaN;
        const [low = NaN, high = NaN] = [times[0], times.at(-1)];
        const nonfinite = out.filter((value) => !Number.isFinite(value)).length;
        return {
            run: { degenerateRows, nonfinite, milliseconds },
            accuracy: { error, rows, total: rows, low: error, high: error },
            timing: { milliseconds, timings: turns, low, high },
        };
    }
}

/** A backend's panel, without what a page around it has. */
class OnePanel {
    readonly id: string;
    readonly element: HTMLElement;
    #view: View;
    #picture: Picture;
    #figures: Figures;
    #controls: Controls;

    constructor(view: View, backend: Backend, params: Values) {
        this.id = backend.id;
        this.#view = view;
        this.element = panelElement(backend);
        for (const part of this.element.querySelectorAll(".enlarge, .command, .worst"))
            part.remove();
        this.#picture = new Picture(this.element, backend.name, {
            showsDifference: () => this.showsDifference,
            reference: () => view.reference,
            hasErrors: false,
            zoom: null,
            onPoint: (cell) => view.point(cell),
            onPin: null,
        });
        this.#figures = new Figures(this.element, ({ label }) => document.createTextNode(label));
        const fields = find(this.element, ".controls", HTMLElement);
        this.#controls = makeControls(fields, backend.id, backend.params, params, () => {
            this.compute();
            view.paint();
        });
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

    get showsDifference(): boolean {
        return this.#view.showsDifference(this.id);
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

    compute(): void {
        try {
            const { grid, findings } = this.#view.compute(this.id, this.#controls.values());
            this.#controls.reflect(findings.numbers.facts);
            this.#picture.take(grid, this.#view.tokens);
            this.#figures.show(findings, grid);
        } catch (error) {
            this.#picture.clear();
            this.#figures.clear(message(error));
        }
    }
}

/** Milliseconds of a run in each turn, by size. */
function timesOf(run: () => unknown): number[] {
    const turn = (repeats: number) => {
        const start = performance.now();
        for (let i = 0; i < repeats; i++) run();
        return performance.now() - start;
    };
    let repeats = 1;
    while (turn(repeats) < shortest) repeats *= 2; // they warm up, too
    const times = Array.from({ length: turns }, () => turn(repeats) / repeats);
    return times.sort((one, other) => one - other);
}

async function open(): Promise<void> {
    const text = find(document, "#view", HTMLScriptElement).textContent;
    const waiting = element("p", { className: "loading", role: "status" }, words.share.computing);
    find(document, "#panels", HTMLElement).replaceChildren(waiting);
    const attn = await init();
    const backends = await Promise.all(attn.backends().map((each) => offered(attn, each)));
    await new View(attn, backends, JSON.parse(text) as SavedView).show();
    waiting.remove();
}

open().catch((error: unknown) => {
    find(document, "#panels", HTMLElement).textContent = message(error);
});
