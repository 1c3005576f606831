/** All heads of all layers, small: each a picture that grows by a row with each token that is read. */

import type { Theme } from "../colors";
import { element, find } from "../dom";
import type { Grid } from "../types";
import { firstRows, paintWeights } from "./weights";
import { said } from "./words";

export class Heads {
    #root = find(document, "#heads", HTMLElement);
    #grids: readonly (readonly Grid[])[] = [];
    #onChoice: (layer: number, head: number) => void;

    constructor(onChoice: (layer: number, head: number) => void) {
        this.#onChoice = onChoice;
    }

    /** By layer and head. */
    show(grids: readonly (readonly Grid[])[]): void {
        this.#grids = grids;
        this.#root.style.setProperty("--heads", String(grids[0]?.length ?? 1));
        const buttons = grids.flatMap((heads, layer) =>
            heads.map((_, head) => {
                const name = `${layer + 1}.${head + 1}`;
                const canvas = element("canvas", { ariaHidden: "true" });
                const button = element("button", { type: "button" }, canvas, name);
                button.ariaLabel = `${name}: ${said.place(layer + 1, head + 1)}`;
                button.addEventListener("click", () => this.#onChoice(layer, head));
                return button;
            }),
        );
        this.#root.replaceChildren(...buttons);
    }

    choose(layer: number, head: number): void {
        const chosen = layer * (this.#grids[0]?.length ?? 1) + head;
        [...this.#root.children].forEach(
            (button, i) => (button.ariaPressed = String(i === chosen)),
        );
    }

    /** So many tokens have been read. */
    paint(token: number, theme: Theme): void {
        const canvases = this.#root.querySelectorAll("canvas");
        this.#grids.flat().forEach((grid, i) => {
            const canvas = canvases[i];
            if (canvas) paintWeights(canvas, { ...grid, cells: firstRows(grid, token) }, theme);
        });
    }
}
