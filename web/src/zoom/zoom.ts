/** What part of the weights all panels show, and what a cell of several weights has of them. */

import { find, setText } from "../dom/dom";
import { Frame } from "../map/frame";
import { cellLimit, poolings, type Pooling } from "../state/types";
import {
    contains,
    isSame,
    middleOf,
    moved,
    rounded,
    wholeOf,
    zoomed,
    type Extent,
    type Place,
    type Region,
} from "./region";
import { words } from "../words/words";

/** What pictures show. */
export interface Viewport {
    region: Region;
    pooling: Pooling;
}

const pause = 120; // milliseconds that pictures stand still before they are computed
const step = 2; // of a key or a button

interface Events {
    /** Pictures are to show another region, at once. */
    onMove(region: Region): void;
    /** They are to be computed. */
    onRest(): void;
}

export class Zoom {
    #root = find(document, "#zoom", HTMLElement);
    #pooling = find(document, "#pooling-by", HTMLSelectElement);
    #events: Events;
    /** Of the input; null: there is none. */
    #of: Extent | null = null;
    /** As asked for, between queries, too; null: all. */
    #asked: Region | null = null;
    #timer = 0;
    #frame = new Frame(() => {
        if (!this.#of) return;
        this.#events.onMove(this.viewport(this.#of).region);
        this.#tell();
    });

    constructor(events: Events) {
        this.#events = events;
        const on = (id: string, act: () => void) => {
            find(this.#root, `#${id}`, HTMLButtonElement).addEventListener("click", act);
        };
        on("zoom-in", () => this.by(1 / step));
        on("zoom-out", () => this.by(step));
        on("zoom-all", () => this.all());
        this.#pooling.addEventListener("change", () => this.#events.onRest());
    }

    /** As a link says. */
    set({ region, pooling }: { region: Region | null; pooling: Pooling }): void {
        this.#asked = region;
        this.#pooling.value = pooling;
    }

    /** What a link has to say. */
    get settings(): { region: Region | null; pooling: Pooling } {
        return { region: this.#asked && rounded(this.#asked), pooling: this.#by };
    }

    /** null: there is no input. */
    show(of: Extent | null): void {
        this.#of = of;
        this.#tell();
    }

    /** Of an input that has not got what was asked for, all. */
    viewport(of: Extent): Viewport {
        const whole = wholeOf(of);
        const asked = this.#asked && rounded(this.#asked);
        return { region: asked && contains(whole, asked) ? asked : whole, pooling: this.#by };
    }

    /** Show so many times as many queries and keys, around a place. */
    by(factor: number, at: Place | null = null): void {
        this.#go((region, of) => zoomed(region, of, factor, at ?? middleOf(region)));
    }

    /** By so many queries and keys. */
    move(by: Place): void {
        this.#go((region, of) => moved(region, of, by));
    }

    all(): void {
        this.#go((_, of) => wholeOf(of));
    }

    get #by(): Pooling {
        return poolings.find((each) => each === this.#pooling.value) ?? "mean";
    }

    #go(change: (region: Region, of: Extent) => Region): void {
        const of = this.#of;
        if (!of) return;
        const { region } = this.viewport(of);
        const isKnown = this.#asked && isSame(region, rounded(this.#asked));
        const next = change(isKnown && this.#asked ? this.#asked : region, of);
        this.#asked = isSame(rounded(next), wholeOf(of)) ? null : next;
        if (isSame(rounded(next), region)) return; // at an edge, or not yet a query further
        this.#frame.ask();
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#events.onRest(), pause);
    }

    /** Where pictures are, in words, and what there is to choose. */
    #tell(): void {
        const of = this.#of;
        this.#root.hidden = !of;
        if (!of) return;
        const { region } = this.viewport(of);
        const isAll = isSame(region, wholeOf(of));
        find(this.#root, "#zoom-all", HTMLButtonElement).disabled = isAll;
        find(this.#root, "#zoom-out", HTMLButtonElement).disabled = isAll;
        const { query, queries, key, keys } = region;
        const [asked, looked] = [`${query}–${query + queries - 1}`, `${key}–${key + keys - 1}`];
        const seen = words.picture.region(asked, of.queries, looked, of.keys);
        setText(find(this.#root, "output", HTMLOutputElement), isAll ? "" : seen);
        const field = this.#pooling.closest("label");
        if (field) field.hidden = Math.max(of.queries, of.keys) <= cellLimit;
    }
}
