/** One head among all: its picture, its numbers, and the button that leads to it. */

import type { Theme } from "../colors";
import { element } from "../dom";
import { significant } from "../format";
import type { HeadRows, Look } from "./look";
import { paintSmall, shrink, type Small } from "./thumbnail";
import { words } from "../words/words";

export interface View {
    batch: number;
    head: number;
}

export class HeadButton {
    readonly view: View;
    readonly look: Look;
    readonly element: HTMLButtonElement;
    #canvas = document.createElement("canvas");
    #small: Small;

    constructor(view: View, look: Look, rows: HeadRows, name: string) {
        this.view = view;
        this.look = look;
        this.#small = shrink(rows);
        const parts = [this.#canvas, element("b", {}, name), ...numbers(look)];
        this.element = element("button", { type: "button" }, ...parts);
        this.element.dataset.head = `${view.batch}.${view.head}`;
    }

    paint(theme: Theme): void {
        paintSmall(this.#canvas, this.#small, theme);
    }

    /** Is it the one that is shown? */
    mark({ batch, head }: View): void {
        this.element.ariaPressed = String(batch === this.view.batch && head === this.view.head);
    }
}

function numbers({ error, entropy, distance }: Look): HTMLElement[] {
    const values = { error, entropy, distance };
    return (["error", "entropy", "distance"] as const).map((name) => {
        const value = values[name];
        const text = Number.isNaN(value) ? "–" : significant(value, 3);
        const data = element("data", { value: String(value) }, text);
        const line = element("span", {}, `${words.heads[name]} `, data);
        line.dataset.name = name;
        return line;
    });
}
