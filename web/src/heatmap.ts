/** A matrix of weights on a canvas, with a crosshair that pointer and keyboard move. */

import { colorize, type ColourLaw, type Theme } from "./colors";
import { Drawing, type Cell, type Layout, type Strip } from "./drawing";
import { SvgSurface } from "./take/surface";
import type { Grid } from "./types";

const savedWidth = 560; // pixels of a picture that is saved

export interface Picture {
    grid: Grid;
    /** What is shown: the grid's cells, or their difference from another's. */
    values: Float32Array;
    /** The value with the strongest colour. */
    max: number;
    law: ColourLaw;
    tokens: string[] | null;
    strip?: Strip | null;
}

export class Heatmap {
    #canvas: HTMLCanvasElement;
    #context: CanvasRenderingContext2D;
    #image = document.createElement("canvas");
    #grid: Grid | null = null;
    #saved: ((title: string) => string) | null = null;
    #drawing: Drawing | null = null;
    #layout: Layout | null = null;
    #cell: Cell | null = null;
    #pinned: number | null = null;
    #frame = 0;

    constructor(
        canvas: HTMLCanvasElement,
        onPoint: (cell: Cell | null) => void,
        onPin: (cell: Cell) => void,
    ) {
        const context = canvas.getContext("2d");
        if (!context) throw new Error("this browser has no 2D canvas");
        this.#canvas = canvas;
        this.#context = context;
        new ResizeObserver(() => this.#draw()).observe(canvas);

        const follow = (event: PointerEvent) => onPoint(this.#cellAt(event.offsetX, event.offsetY));
        canvas.addEventListener("pointermove", follow);
        canvas.addEventListener("pointerdown", follow);
        canvas.addEventListener("pointerleave", ({ pointerType }) => {
            if (pointerType === "mouse") onPoint(null); // a finger leaves as soon as it has pointed
        });
        canvas.addEventListener("blur", ({ relatedTarget }) => {
            if (!isHeatmap(relatedTarget)) onPoint(null); // another has been pointed at already
        });
        canvas.addEventListener("click", ({ offsetX, offsetY }) => {
            const cell = this.#cellAt(offsetX, offsetY);
            if (cell) onPin(cell);
        });
        canvas.addEventListener("keydown", (event) => {
            if (event.key === "Enter" && this.#cell) return onPin(this.#cell);
            const cell = this.#moved(event);
            if (cell === undefined) return;
            event.preventDefault();
            onPoint(cell);
        });
    }

    show({ grid, values, max, law, tokens, strip = null }: Picture, theme: Theme): void {
        this.#grid = grid;
        this.#drawing = new Drawing(this.#context, grid, tokens, theme, strip);
        this.#image.width = grid.columns;
        this.#image.height = grid.rows;
        const image = new ImageData(grid.columns, grid.rows);
        colorize(values, max, law, theme.palette, image.data);
        this.#image.getContext("2d")?.putImageData(image, 0, 0);
        this.#draw();
        this.#saved = (title) => {
            const surface = new SvgSurface(this.#context);
            const drawing = new Drawing(surface, grid, tokens, theme, strip);
            const layout = drawing.layout(savedWidth);
            drawing.draw(layout, this.#image, null, this.#pinned);
            return surface.picture(layout.width, layout.height, theme.paper, title);
        };
    }

    /** What is shown, as an SVG picture by itself; null: nothing was shown yet. */
    svg(title: string): string | null {
        return this.#saved && this.#saved(title);
    }

    /** Put the crosshair on a cell, which another heatmap may have chosen. */
    point(cell: Cell | null): void {
        this.#cell = cell;
        cancelAnimationFrame(this.#frame);
        this.#frame = requestAnimationFrame(() => this.#draw());
    }

    /** Mark a row of cells. */
    pin(row: number | null): void {
        this.#pinned = row;
        this.point(this.#cell);
    }

    #draw(): void {
        const canvas = this.#canvas;
        if (!this.#drawing || canvas.clientWidth === 0) return;
        const layout = (this.#layout = this.#drawing.layout(canvas.clientWidth));
        canvas.style.height = `${layout.height}px`;
        canvas.width = Math.round(layout.width * devicePixelRatio);
        canvas.height = Math.round(layout.height * devicePixelRatio);
        this.#context.scale(devicePixelRatio, devicePixelRatio);
        this.#drawing.draw(layout, this.#image, this.#cell, this.#pinned);
    }

    #cellAt(x: number, y: number): Cell | null {
        if (!this.#grid || !this.#layout) return null;
        const { rows, columns } = this.#grid;
        const { left, top, width, height } = this.#layout.box;
        const row = Math.floor(((y - top) / height) * rows);
        const column = Math.floor(((x - left) / width) * columns);
        return row >= 0 && row < rows && column >= 0 && column < columns ? { row, column } : null;
    }

    /** Where a key moves the crosshair; undefined for keys that do not. */
    #moved(event: KeyboardEvent): Cell | null | undefined {
        const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
        if (altKey || ctrlKey || metaKey) return undefined; // the browser's: Alt and an arrow leads back
        if (key === "Escape") return this.#cell ? null : undefined; // else it is for others
        if (!this.#grid) return undefined;
        const { rows, columns } = this.#grid;
        const { row, column } = this.#cell ?? { row: 0, column: 0 };
        const far = shiftKey ? 10 : 1;
        const to = {
            ArrowUp: { row: row - far, column },
            ArrowDown: { row: row + far, column },
            ArrowLeft: { row, column: column - far },
            ArrowRight: { row, column: column + far },
            Home: { row, column: 0 },
            End: { row, column: columns - 1 },
        }[key];
        return to && { row: clamp(to.row, rows), column: clamp(to.column, columns) };
    }
}

export function isHeatmap(target: EventTarget | null): boolean {
    return target instanceof Element && target.matches(".picture canvas");
}

function clamp(index: number, count: number): number {
    return Math.min(count - 1, Math.max(0, index));
}
