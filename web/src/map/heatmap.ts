/** A matrix of weights on a canvas, with a crosshair that pointer and keyboard move. */

import { colorize, type ColourLaw, type Theme } from "./colors";
import { resize } from "../dom/dom";
import { Drawing, type Box, type Cell, type Layout, type Strip } from "./drawing";
import { Drawn, Frame } from "./frame";
import type { Surface, SvgSurface } from "../take/surface";
import type { Grid } from "../state/types";
import { listen } from "../zoom/gestures";
import { Layers } from "../zoom/layers";
import type { Place, Region } from "../zoom/region";

/** What stands around a picture that is saved. */
type Around = typeof import("./export");

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

/** What keys and gestures do with what is seen. */
export interface Zooming {
    by(factor: number, at?: Place): void;
    move(by: Place): void;
    all(): void;
}

const step = 2; // of a key that zooms
const far = 0.25; // of what is seen, by which a key moves it

export class Heatmap {
    #canvas: HTMLCanvasElement;
    #context: CanvasRenderingContext2D;
    #layers = new Layers();
    /** What the cells' colours come from: errors of rows, which come later, leave them as they are. */
    #coloured = new Drawn();
    /** What is drawn: a grid, or a region that is to come. */
    #region: Region | null = null;
    #isMoving = false;
    #zoom: Zooming | null;
    #grid: Grid | null = null;
    #make: ((region: Region) => Drawing) | null = null;
    #saved: ((surface: SvgSurface, title: string, around: Around) => string) | null = null;
    #drawing: Drawing | null = null;
    #layout: Layout | null = null;
    #cell: Cell | null = null;
    #pinned: number | null = null;
    /** Of the canvas, in CSS pixels; null: not known yet. The page would be laid out at once for whoever asks it. */
    #width: number | null = null;
    #frame = new Frame(() => this.#draw());

    constructor(
        canvas: HTMLCanvasElement,
        onPoint: (cell: Cell | null) => void,
        onPin: (cell: Cell) => void,
        zoom: Zooming | null = null,
        onPress: () => boolean = () => false,
    ) {
        const context = canvas.getContext("2d");
        if (!context) throw new Error("this browser has no 2D canvas");
        this.#canvas = canvas;
        this.#context = context;
        this.#zoom = zoom;
        if (zoom) {
            const placeAt = (x: number, y: number) => this.#placeAt(x, y);
            const by = (factor: number, at: Place) => zoom.by(factor, at);
            listen(canvas, { placeAt, zoom: by, move: (place) => zoom.move(place) });
        }
        new ResizeObserver(() => {
            this.#width = canvas.clientWidth;
            if (this.#width !== this.#layout?.width) this.#draw(); // its height is drawing's own
        }).observe(canvas);

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
            if (!onPress() && cell) onPin(cell);
        });
        canvas.addEventListener("keydown", (event) => {
            if (event.key === "Enter" && this.#grid)
                return this.#cell ? onPin(this.#cell) : onPoint({ row: 0, column: 0 });
            if (event.key === "Escape") return this.#cell ? onPoint(null) : undefined; // it is for others, too
            if (this.#zooms(event)) return event.preventDefault();
            const cell = this.#moved(event);
            if (cell === undefined) return;
            event.preventDefault();
            onPoint(cell);
        });
    }

    show({ grid, values, max, law, tokens, strip = null }: Picture, theme: Theme): void {
        this.#grid = this.#region = grid;
        this.#isMoving = false;
        this.#drawing = new Drawing(this.#context, grid, tokens, theme, strip);
        if (this.#coloured.changes(grid, values, max, law, theme.palette)) {
            const image = new ImageData(grid.columns, grid.rows);
            colorize(values, max, law, theme.palette, image.data);
            this.#layers.take(grid, image);
        }
        this.#frame.ask();
        this.#make = (region) => {
            const meanwhile = { ...grid, ...region };
            return new Drawing(this.#context, meanwhile, tokens, theme, strip && { parts: [] });
        };
        this.#saved = (surface, title, { titleAbove, barBelow }) => {
            const drawing = new Drawing(surface, grid, tokens, theme, strip);
            const layout = drawing.layout(savedWidth);
            const place = titleAbove(surface, title, theme);
            surface.save();
            surface.translate(0, place);
            drawing.draw(layout, (box) => this.#drawImage(surface, box), null, this.#pinned);
            surface.restore();
            const signed = values.some((value) => value < 0);
            const scale = { top: place + layout.height, left: layout.box.left, max, law, signed };
            const height = barBelow(surface, scale, theme);
            return surface.picture(layout.width, scale.top + height, theme.paper, title);
        };
    }

    /** Another region, as well as what has been drawn tells, until its weights are there. */
    preview(region: Region): void {
        if (!this.#make) return;
        this.#drawing = this.#make(region);
        this.#region = region;
        this.#isMoving = true;
        this.#frame.ask();
    }

    /** What has been drawn is of other weights than what will be. */
    forget(): void {
        this.#coloured.forget();
        this.#layers.forget();
    }

    /** What is shown, as an SVG picture by itself; null: nothing was shown yet. */
    async svg(title: string): Promise<string | null> {
        const [{ SvgSurface }, around] = await Promise.all([
            import("../take/surface"),
            import("./export"),
        ]);
        return this.#saved && this.#saved(new SvgSurface(this.#context), title, around);
    }

    /** Put the crosshair on a cell, which another heatmap may have chosen. */
    point(cell: Cell | null): void {
        if (cell?.row === this.#cell?.row && cell?.column === this.#cell?.column) return;
        this.#cell = cell;
        this.#frame.ask();
    }

    /** Mark a row of cells. */
    pin(row: number | null): void {
        if (row === this.#pinned) return;
        this.#pinned = row;
        this.#frame.ask();
    }

    #draw(): void {
        const canvas = this.#canvas;
        if (!this.#drawing) return;
        const before = this.#isMoving ? this.#layout : null;
        this.#layout = null;
        const width = (this.#width ??= canvas.clientWidth);
        if (width === 0) return; // hidden
        const layout = (this.#layout = this.#drawing.layout(width, before));
        canvas.style.height = `${layout.height}px`;
        const context = this.#context;
        const pixels = (size: number) => Math.round(size * devicePixelRatio);
        if (!resize(canvas, pixels(layout.width), pixels(layout.height))) context.reset();
        context.scale(devicePixelRatio, devicePixelRatio);
        const region = this.#isMoving ? this.#region : null;
        const meanwhile = region && ((box: Box) => this.#layers.draw(context, region, box));
        const cells = meanwhile ?? ((box: Box) => this.#drawImage(context, box));
        const [cell, pinned] = region ? [null, null] : [this.#cell, this.#pinned];
        this.#drawing.draw(layout, cells, cell, pinned);
    }

    #drawImage(surface: Surface, { left, top, width, height }: Box): void {
        const { image } = this.#layers;
        if (image) surface.drawImage(image, left, top, width, height);
    }

    /** What is drawn at a point of the canvas. */
    #placeAt(x: number, y: number): Place | null {
        if (!this.#region || !this.#layout) return null;
        const { left, top, width, height } = this.#layout.box;
        const { query, queries, key, keys } = this.#region;
        return {
            query: query + ((y - top) / height) * queries,
            key: key + ((x - left) / width) * keys,
        };
    }

    /** Does a key zoom or move what is seen? Then it has. */
    #zooms({ key, ctrlKey, altKey, metaKey }: KeyboardEvent): boolean {
        const [zoom, region] = [this.#zoom, this.#region];
        if (!zoom || !region || altKey || metaKey) return false;
        const [query, keys] = [far * region.queries, far * region.keys];
        const moves: Record<string, Place> = {
            ArrowUp: { query: -query, key: 0 },
            ArrowDown: { query, key: 0 },
            ArrowLeft: { query: 0, key: -keys },
            ArrowRight: { query: 0, key: keys },
        };
        const by = moves[key];
        if (ctrlKey && by) zoom.move(by);
        else if (ctrlKey)
            return false; // the browser's own zoom
        else if (key === "+" || key === "=") zoom.by(1 / step, this.#middleOfCell());
        else if (key === "-") zoom.by(step, this.#middleOfCell());
        else if (key === "0") zoom.all();
        else return false;
        return true;
    }

    /** Of the cell with the crosshair; undefined: there is none. */
    #middleOfCell(): Place | undefined {
        if (!this.#grid || !this.#cell) return undefined;
        const { query, key, rowsPerCell, columnsPerCell } = this.#grid;
        return {
            query: query + (this.#cell.row + 0.5) * rowsPerCell,
            key: key + (this.#cell.column + 0.5) * columnsPerCell,
        };
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
    #moved(event: KeyboardEvent): Cell | undefined {
        const { key, shiftKey, altKey, ctrlKey, metaKey } = event;
        if (altKey || ctrlKey || metaKey) return undefined; // the browser's: Alt and an arrow leads back
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
