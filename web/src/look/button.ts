/** One head among all: its picture, its numbers, and the button that leads to it. */

import type { Theme } from "../map/colors";
import { element } from "../dom/dom";
import { significant } from "../dom/format";
import type { HeadRows, Look } from "./look";
import type { Tile } from "./sheet";
import { paintSmall, shrink, type Small } from "./thumbnail";
import { words } from "../words/words";

export interface View {
    batch: number;
    head: number;
}

export class HeadButton {
    readonly view: View;
    readonly look: Look;
    /** What its picture shows. */
    readonly small: Small;
    readonly element: HTMLButtonElement;
    #canvas = document.createElement("canvas");
    #name: string;

    constructor(view: View, look: Look, rows: HeadRows, name: string) {
        this.view = view;
        this.look = look;
        this.#name = name;
        this.small = shrink(rows);
        const parts = [this.#canvas, element("b", {}, name), ...numbers(look)];
        this.element = element("button", { type: "button" }, ...parts);
        this.element.dataset.head = `${view.batch}.${view.head}`;
    }

    paint(theme: Theme): void {
        paintSmall(this.#canvas, this.small, theme);
    }

    /** As part of a picture of all. */
    get tile(): Tile {
        const lines = values(this.look).map(({ name, text }) => `${words.heads[name]} ${text}`);
        return { image: this.#canvas, lines: [this.#name, ...lines] };
    }

    /** Is it the one that is shown? */
    mark({ batch, head }: View): void {
        this.element.ariaPressed = String(batch === this.view.batch && head === this.view.head);
    }
}

const told = ["error", "entropy", "distance"] as const;

function values(look: Look) {
    return told.map((name) => {
        const value = look[name];
        return { name, value, text: Number.isNaN(value) ? "–" : significant(value, 3) };
    });
}

function numbers(look: Look): HTMLElement[] {
    return values(look).map(({ name, value, text }) => {
        const data = element("data", { value: String(value) }, text);
        const line = element("span", {}, `${words.heads[name]} `, data);
        line.dataset.name = name;
        return line;
    });
}
