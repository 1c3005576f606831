/** Draws a heatmap with its axes and crosshair. */

import { bareName, hasNames, keyAxis, queryAxis, ticks, type Tick } from "./axes";
import type { Theme } from "./colors";
import type { Surface } from "../take/surface";
import type { Grid } from "../state/types";
import { words } from "../words/words";

export interface Cell {
    row: number;
    column: number;
}

export interface Box {
    left: number;
    top: number;
    width: number;
    height: number;
}

interface Point {
    x: number;
    y: number;
}

/** Errors of rows of cells beside a picture: by its row the part of the scale, 0 to 1; null: not known. */
export interface Strip {
    parts: readonly (number | null)[];
}

/** Where things are, in CSS pixels, and what the axes say. */
export interface Layout {
    box: Box;
    width: number;
    height: number;
    rows: Tick[];
    columns: Tick[];
    /** Where errors of rows stand; null: nowhere. */
    strip: Box | null;
    /** Keys are named by tokens, which stand upright. */
    upright: boolean;
    rooms: Rooms;
    /** Words stand along its sides. */
    isLabelled: boolean;
}

/** Pixels for labels: on the left of the picture, and below it. */
interface Rooms {
    left: number;
    below: number;
}

const { picture } = words;
const fontFamily = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif';
const fontSize = 13;
const longest = 84; // pixels for a token's text on either axis
const roomStep = 12; // of their room: it is another canvas, and another page, only after some letters
const mostLetters = 40; // that `longest` has room for, however narrow: words may have thousands
const titleRoom = 18;
const labelRoom = 14; // between the middles of two labels
const indexRoom = 48; // the same for indices side by side
const stripWidth = 24; // of the errors of rows
const gap = 5; // between a label and the picture
const squarest = 1.2; // height of the picture by its width, at most
const flattest = 0.25;
const narrow = 290; // pixels of a picture that has no room for words: one beside it has them

const fonts = {
    usual: `${fontSize}px ${fontFamily}`,
    bold: `bold ${fontSize}px ${fontFamily}`,
};

/** By font and text: pictures side by side have the same labels, and with each letter typed most of them again. */
const fitted = { usual: new Map<string, Fitted>(), bold: new Map<string, Fitted>() };
const mostFitted = 4096;

/** A label cut to `longest`, and the width that it has uncut. */
interface Fitted {
    text: string;
    width: number;
}

export class Drawing {
    #context: Surface;
    #grid: Grid;
    #tokens: string[] | null;
    #theme: Theme;
    #strip: Strip | null;
    #font: keyof typeof fonts = "usual";

    /** `strip`: null: none is wanted. */
    constructor(
        context: Surface,
        grid: Grid,
        tokens: string[] | null,
        theme: Theme,
        strip: Strip | null = null,
    ) {
        this.#strip = strip;
        this.#context = context;
        this.#grid = grid;
        this.#tokens = tokens;
        this.#theme = theme;
    }

    /**
     * A layout as wide as asked and as high as it then needs. `before`: of a picture that moves, whose cells keep their
     * height and whose labels give no room back: else the page would be laid out anew in each frame.
     */
    layout(width: number, before: Layout | null = null): Layout {
        if (width < narrow) return this.#bare(width, before);
        const [queries, keys] = [queryAxis(this.#grid), keyAxis(this.#grid)];
        const tokens = this.#tokens;
        this.#font = "usual";
        // Beside words there may be too little room for words: then there are none.
        const named = this.#box(width, ticks(queries, width, tokens), before);
        const names = hasNames(queries, named.height, tokens) ? tokens : null;
        const box = names ? named : this.#box(width, ticks(queries, width, null), before);
        const columns = ticks(keys, box.width, tokens);
        const upright = hasNames(keys, box.width, tokens);
        const needed = upright ? this.#room(columns) : fontSize + gap;
        const below = Math.max(needed, before?.rooms.below ?? 0);
        const height = box.top + box.height + below + 2;
        const strip = this.#stripBeside(box);
        const rows = ticks(queries, box.height, names);
        const rooms = { left: box.left - titleRoom, below };
        return { box, width, height, rows, columns, strip, upright, rooms, isLabelled: true };
    }

    /** Cells, and errors of rows. */
    #bare(width: number, before: Layout | null): Layout {
        const box = this.#boxFrom(1, width, before);
        const rooms = before?.rooms ?? { left: 0, below: 0 };
        const [height, strip] = [box.top + box.height + 1, this.#stripBeside(box)];
        const none = { rows: [], columns: [], upright: false, isLabelled: false };
        return { box, width, height, strip, rooms, ...none };
    }

    #stripBeside({ left, top, width, height }: Box): Box | null {
        return this.#strip && { left: left + width + fontSize + 2, top, width: stripWidth, height };
    }

    /** Where the cells are, beside such names of rows. */
    #box(width: number, rows: Tick[], before: Layout | null): Box {
        const left = titleRoom + Math.max(this.#room(rows), before?.rooms.left ?? 0);
        return this.#boxFrom(left, width, before);
    }

    #boxFrom(left: number, width: number, before: Layout | null): Box {
        const { queries, keys } = this.#grid;
        const shape = Math.min(squarest, Math.max(flattest, queries / keys));
        const plot = width - left - fontSize - (this.#strip ? stripWidth + 2 : 0);
        const height = before?.box.height ?? Math.round(plot * shape);
        return { left, top: 6, width: plot, height };
    }

    /** `cells`: draws these into a box. */
    draw(
        layout: Layout,
        cells: (box: Box) => void,
        cell: Cell | null,
        pinned: number | null,
    ): void {
        this.#context.imageSmoothingEnabled = false;
        cells(layout.box);
        if (layout.isLabelled) this.#drawTitles(layout);
        if (layout.strip) this.#drawStrip(layout);
        this.#drawLabels(layout, cell && this.#center(layout, cell));
        if (pinned !== null) this.#drawPin(layout, pinned);
        if (cell) this.#drawCrosshair(layout, cell);
    }

    /** A bar for each row of cells whose error is known, as long as its part of the scale. */
    #drawStrip({ strip, isLabelled }: Layout): void {
        if (!strip) return;
        const { left, top, width, height } = strip;
        const context = this.#context;
        const { rows } = this.#grid;
        context.lineWidth = 0.5;
        context.strokeStyle = context.fillStyle = this.#theme.muted;
        context.strokeRect(left, top, 0, height);
        context.textAlign = "right";
        if (isLabelled) context.fillText(picture.error, left + width, top + height + fontSize + 2);
        context.fillStyle = this.#theme.accent;
        context.beginPath();
        const each = height / rows;
        const thickness = Math.max(1, 0.8 * each);
        this.#strip?.parts.forEach((part, row) => {
            if (part === null) return;
            const [right, y] = [left + part * width, top + row * each];
            context.moveTo(left, y);
            context.lineTo(right, y);
            context.lineTo(right, y + thickness);
            context.lineTo(left, y + thickness);
        });
        context.fill();
        context.fillStyle = this.#theme.muted; // as labels have it
    }

    /** Lines above and below a row, and a mark on the right of it. */
    #drawPin({ box }: Layout, row: number): void {
        const context = this.#context;
        const { left, top, width, height } = box;
        const cellHeight = height / this.#grid.rows;
        const y = top + row * cellHeight;
        const right = left + width;
        context.lineWidth = 1;
        context.strokeStyle = this.#theme.ink;
        context.strokeRect(left - 1, y - 0.5, width + 2, cellHeight + 1);
        context.fillStyle = this.#theme.ink;
        context.beginPath();
        context.moveTo(right + 2, y + cellHeight / 2);
        context.lineTo(right + fontSize - 1, y + cellHeight / 2 - fontSize / 2);
        context.lineTo(right + fontSize - 1, y + cellHeight / 2 + fontSize / 2);
        context.fill();
    }

    /** The middle of a cell. */
    #center({ box }: Layout, { row, column }: Cell): Point {
        const { rows, columns } = this.#grid;
        return {
            x: box.left + (box.width * (column + 0.5)) / columns,
            y: box.top + (box.height * (row + 0.5)) / rows,
        };
    }

    #room(labels: Tick[]): number {
        const widths = labels.map(({ text }) => this.#fitting(text).width);
        const widest = Math.ceil(Math.max(...widths) / roomStep) * roomStep;
        return Math.min(longest, widest) + gap + 1;
    }

    #drawTitles({ box, height }: Layout): void {
        const context = this.#context;
        this.#write("usual");
        context.fillStyle = this.#theme.muted;
        context.textBaseline = "alphabetic";
        context.textAlign = "right";
        context.fillText(picture.keys, box.left - gap, height - 4); // in the corner below names of rows
        context.textAlign = "center";
        context.save();
        context.translate(fontSize - 2, box.top + box.height / 2);
        context.rotate(-Math.PI / 2);
        context.fillText(picture.queries, 0, 0);
        context.restore();
    }

    /** Labels that would touch those of the cell marked make room for them. */
    #drawLabels(layout: Layout, marked: Point | null): void {
        const { box } = layout;
        const wide = layout.upright ? labelRoom : indexRoom;
        for (const { at, text } of layout.rows) {
            const y = box.top + (box.height * at) / this.#grid.queries;
            if (!marked || Math.abs(y - marked.y) >= labelRoom) this.#rowLabel(layout, text, y);
        }
        const end = this.#columnsEnd(layout);
        for (const { at, text } of layout.columns) {
            const x = box.left + (box.width * at) / this.#grid.keys;
            const half = layout.upright ? fontSize / 2 : this.#fitting(text).width / 2;
            const isFree = !marked || Math.abs(x - marked.x) >= wide;
            if (isFree && x + half <= end) this.#columnLabel(layout, text, x);
        }
    }

    /** Where what is written below the errors of rows begins. */
    #columnsEnd({ strip, isLabelled }: Layout): number {
        if (!strip || !isLabelled) return Infinity;
        return strip.left + strip.width - this.#fitting(picture.error).width - 1;
    }

    #drawCrosshair(layout: Layout, cell: Cell): void {
        const context = this.#context;
        const grid = this.#grid;
        const { ink, accent } = this.#theme;
        const { left, top, width, height } = layout.box;
        const { x, y } = this.#center(layout, cell);
        const cellWidth = width / grid.columns;
        const cellHeight = height / grid.rows;

        context.lineWidth = 1;
        context.strokeStyle = accent;
        context.strokeRect(left, y - cellHeight / 2, width, cellHeight);
        context.globalAlpha = 0.6;
        context.strokeRect(x - cellWidth / 2, top, cellWidth, height);
        context.globalAlpha = 1;
        context.lineWidth = 2;
        context.strokeStyle = ink;
        context.strokeRect(x - cellWidth / 2, y - cellHeight / 2, cellWidth, cellHeight);

        if (!layout.isLabelled) return;
        context.fillStyle = ink;
        this.#write("bold");
        const { row, column } = cell;
        this.#rowLabel(layout, bareName(row, queryAxis(grid), this.#tokens), y);
        this.#columnLabel(layout, bareName(column, keyAxis(grid), this.#tokens), x);
    }

    #rowLabel({ box }: Layout, text: string, y: number): void {
        const context = this.#context;
        context.textAlign = "right";
        context.textBaseline = "middle";
        context.fillText(this.#fitting(text).text, box.left - gap, y);
    }

    #columnLabel({ box, upright }: Layout, text: string, x: number): void {
        const context = this.#context;
        context.save();
        context.translate(x, box.top + box.height + gap);
        if (upright) context.rotate(-Math.PI / 2);
        context.textAlign = upright ? "right" : "center";
        context.textBaseline = upright ? "middle" : "top";
        context.fillText(this.#fitting(text).text, 0, 0);
        context.restore();
    }

    /** From now on, in this font. */
    #write(font: keyof typeof fonts): void {
        this.#font = font;
        this.#context.font = fonts[font];
    }

    #fitting(text: string): Fitted {
        const all = fitted[this.#font];
        const known = all.get(text);
        if (known) return known;
        if (all.size >= mostFitted) all.clear();
        const made = this.#fit(text);
        all.set(text, made);
        return made;
    }

    #fit(whole: string): Fitted {
        this.#context.font = fonts[this.#font];
        const widthOf = (text: string) => this.#context.measureText(text).width;
        let text = whole.length > mostLetters ? `${whole.slice(0, mostLetters)}…` : whole;
        while (text.length > 1 && widthOf(text) > longest) text = `${text.slice(0, -2)}…`;
        return { text, width: widthOf(whole.slice(0, mostLetters)) };
    }
}
