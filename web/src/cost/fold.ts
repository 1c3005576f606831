/** A part of the page that is folded away until it is wanted, and draws its figure only then. */

import { find, message } from "../dom/dom";
import { takeMenu, type Matrix, type Table } from "../take/menu";

/** What can be taken of one, beside its numbers and its <svg>. */
interface Other {
    /** As SVG, where there is no <svg>. */
    picture?: (title: string) => Promise<string | null>;
    matrix?: () => Matrix | null;
}

const widest = 1024; // pixels
const pause = 100; // milliseconds: what grows is drawn about so often

export class Fold {
    #details: HTMLDetailsElement;
    #holder: HTMLElement;
    #make: (width: number) => Promise<Node[]>;
    #timer = 0;
    #asked = 0;

    /** `make`: what stands in it, for a width in pixels; `table`: its numbers, to be saved. */
    constructor(
        id: string,
        onToggle: () => void,
        make: (width: number) => Promise<Node[]>,
        table: () => Table | null,
        { picture, ...other }: Other = {},
    ) {
        this.#details = find(document, `#${id}`, HTMLDetailsElement);
        this.#holder = find(this.#details, ".figure", HTMLElement);
        this.#make = make;
        const name = this.#details.querySelector("summary")?.textContent ?? id;
        const drawn = async () => {
            const { standaloneSvg } = await import("../take/standalone");
            const drawing = this.#holder.querySelector("svg");
            return drawing && standaloneSvg(drawing);
        };
        const svg = () => (picture ? picture(name) : drawn());
        this.#details.append(takeMenu(name, { name: () => id, svg, table, ...other }));
        this.#details.addEventListener("toggle", () => {
            onToggle();
            this.draw();
        });
        new ResizeObserver(() => this.draw()).observe(this.#details);
    }

    get isOpen(): boolean {
        return this.#details.open;
    }

    set isOpen(isOpen: boolean) {
        this.#details.open = isOpen;
    }

    draw(): void {
        if (!this.isOpen || this.#timer !== 0) return;
        this.#timer = setTimeout(() => void this.#draw(), pause);
    }

    /** What stands there already stays: with it what has the focus. */
    #has(nodes: readonly Node[]): boolean {
        const { childNodes } = this.#holder;
        return (
            childNodes.length === nodes.length && nodes.every((node, i) => node === childNodes[i])
        );
    }

    async #draw(): Promise<void> {
        this.#timer = 0;
        const asked = ++this.#asked;
        try {
            const made = await this.#make(Math.min(widest, this.#holder.clientWidth || 600));
            if (asked === this.#asked && !this.#has(made)) this.#holder.replaceChildren(...made);
        } catch (error) {
            this.#holder.replaceChildren(message(error));
        }
    }
}
