/** A view in one file: it computes on arrays that stand in the file, wherever that is opened. */

import { init, type Attn, type Backend } from "libattn/inline";
import { onTheme, readTheme } from "../map/colors";
import { element, find, message } from "../dom/dom";
import { Explainer } from "../dom/explainer";
import { Heads } from "../look/heads";
import { HeadView } from "../look/headview";
import { offered } from "../engine/offering";
import { Painter } from "../map/painting";
import { showEnlarged } from "../panel/element";
import { Pinning } from "../compare/pinning";
import type { Pin } from "../row/place";
import type { Input, Problem } from "../state/types";
import { unfold } from "../compare/unfolded";
import { OnePanel, type Around } from "./panel";
import { unpackArrays, unpackProblem, type SavedView } from "./saved";
import { Solution } from "./solution";
import { words } from "../words/words";

const reference = "softmax";

class View {
    #attn: Attn;
    #saved: SavedView;
    #problem: Problem;
    #input: Input;
    #panels: OnePanel[];
    /** What is shown. */
    #at: { batch: number; head: number };
    #isDone = false;
    #painter = new Painter();
    #explainer = new Explainer();
    #pinning = new Pinning(
        () => this.#input,
        () => this.#setPin(null),
    );
    #strands: HeadView;
    #heads: Heads;

    constructor(attn: Attn, backends: readonly Backend[], saved: SavedView) {
        const { shape, tokens, batch, head } = saved;
        this.#attn = attn;
        this.#saved = saved;
        this.#problem = unpackProblem(saved);
        this.#input = { shape, tokens, nonfinite: 0, ...unpackArrays(saved.arrays) };
        this.#at = { batch, head };
        this.#pinning.asked = saved.pin;
        const around = this.#around;
        this.#panels = saved.backends.flatMap(({ id, params }) => {
            const backend = backends.find((each) => each.id === id);
            return backend ? [new OnePanel(backend, params, around)] : [];
        });
        const ids = () => this.#panels.map(({ id }) => id);
        const panelOf = (id: string) => this.#panels.find((panel) => panel.id === id);
        const onSettings = () => undefined; // nothing keeps them
        this.#strands = new HeadView({
            tokens: () => tokens,
            backends: ids,
            grid: (id) => panelOf(id)?.grid ?? null,
            onPin: (pin) => this.#setPin(pin),
            onSettings,
        });
        this.#heads = new Heads({
            shape: () => (this.#isDone ? shape : null),
            backends: ids,
            work: (id) => panelOf(id)?.solution ?? null,
            view: () => this.#at,
            batchName: () => saved.batchName,
            onView: (view) => void this.#lookAt(view),
            onSettings,
        });
        onTheme(() => {
            this.#paint();
            this.#heads.paint();
        });
    }

    get #around(): Around {
        return {
            solve: (backend, params) =>
                new Solution(this.#attn, this.#input, { backend, params, problem: this.#problem }),
            at: () => this.#at,
            viewport: this.#saved.viewport,
            tokens: this.#input.tokens,
            showsDifference: (id) => this.#saved.difference && id !== reference,
            reference: () => this.#panels.find(({ id }) => id === reference)?.grid ?? null,
            pin: () => this.#pinning.pin,
            onPin: (pin) => this.#setPin(pin),
            onEnlarge: (id) => this.#enlarge(id),
            onPoint: (cell) => {
                for (const panel of this.#panels) panel.point(cell);
            },
            onChange: () => {
                this.#paint();
                this.#strands.refresh();
                this.#heads.clear();
                this.#heads.refresh();
            },
            label: (text, term) => this.#explainer.label(text, term),
        };
    }

    /** One panel after the other, and what is there is shown meanwhile. */
    async show(): Promise<void> {
        const { strands, heads, unfolded } = this.#saved;
        const elements = this.#panels.map(({ element }) => element);
        find(document, "#panels", HTMLElement).prepend(...elements);
        const arithmetic = this.#panels.map(({ arithmetic }) => arithmetic);
        find(document, "#pin .figure", HTMLElement).append(...arithmetic);
        this.#enlarge(reference);
        unfold(unfolded);
        this.#pinning.show();
        this.#strands.set(strands);
        for (const panel of this.#panels) {
            await new Promise((resolve) => setTimeout(resolve)); // the browser draws
            await panel.compute();
            this.#paint();
            this.#strands.refresh();
        }
        this.#isDone = true;
        const ids = this.#panels.map(({ id }) => id);
        this.#heads.set(heads, ids);
        this.#heads.refresh();
    }

    #enlarge(id: string): void {
        for (const panel of this.#panels) showEnlarged(panel.element, panel.id === id);
    }

    /** Another head in all panels. */
    async #lookAt(view: { batch: number; head: number }): Promise<void> {
        this.#at = view;
        this.#heads.mark();
        for (const panel of this.#panels) await panel.refreshView();
        this.#paint();
        this.#strands.refresh();
    }

    #setPin(pin: Pin | null): void {
        this.#pinning.ask(pin);
        this.#pinning.show();
        for (const panel of this.#panels) void panel.refreshRow();
    }

    #paint(): void {
        this.#painter.paint(this.#panels, readTheme(), this.#saved.colours);
    }
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
