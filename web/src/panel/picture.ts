/** A panel's picture: weights or their difference from another's, and what the cell pointed at has. */

import { keyAxis, nameOf, queryAxis, quotedName } from "../map/axes";
import { shade, type ColourLaw, type Theme } from "../map/colors";
import { find, setText } from "../dom/dom";
import { speakOfKeys } from "../dom/spoken";
import type { Cell } from "../map/drawing";
import { significant } from "../dom/format";
import { Drawn } from "../map/frame";
import { Heatmap, type Zooming } from "../map/heatmap";
import { Late } from "../dom/late";
import type { Look } from "../look/look";
import type { Pin } from "../row/place";
import type { Table } from "../take/menu";
import type { Grid } from "../state/types";
import { isSame, type Region } from "../zoom/region";
import { Told } from "./told";
import { words } from "../words/words";

const { picture: told } = words;
const patience = 100; // milliseconds: what is there by then takes the place of a picture that is not dimmed before

/** What a picture needs from around it. */
export interface Frame {
    showsDifference(): boolean;
    /** The weights that a difference is taken from, where they are known. */
    reference(): Grid | null;
    /** Are errors of rows looked for? */
    hasErrors: boolean;
    /** What gestures do; null: nothing. */
    zoom: Zooming | null;
    onPoint(cell: Cell | null): void;
    /** A query is to be shown step by step; null: it cannot be here. */
    onPin: ((pin: Pin) => void) | null;
    /** The picture is clicked: true where that is all that the click is for. */
    onPress?: () => boolean;
}

export class Picture {
    #root: HTMLElement;
    #readout: HTMLElement;
    #heatmap: Heatmap;
    #told: Told;
    #frame: Frame;
    #grid: Grid | null = null;
    /** The grid belongs to another input, problem or view than the present. */
    #isStale = false;
    #tokens: string[] | null = null;
    #values: Float32Array | null = null;
    #look: Look | null = null;
    #ofRow: HTMLElement;
    #cell: Cell | null = null;
    #isDifference = false;
    /** What is drawn is of another region than the grid. */
    #isMoving = false;
    #painted = new Drawn();
    #late: Late;

    /** `root`: the panel, which is marked as what its picture is. */
    constructor(root: HTMLElement, name: string, frame: Frame) {
        this.#root = root;
        this.#late = new Late(root, "late", patience);
        this.#frame = frame;
        this.#readout = find(root, ".readout", HTMLElement);
        this.#ofRow = find(root, ".of-row", HTMLElement);
        const canvas = find(root, "canvas", HTMLCanvasElement);
        canvas.setAttribute("aria-label", told.label(name, frame.onPin !== null));
        const id = `told-${root.dataset.backend}`;
        this.#told = new Told(root, id);
        canvas.setAttribute("aria-describedby", id);
        speakOfKeys(this.#readout, canvas);
        this.#heatmap = new Heatmap(
            canvas,
            frame.onPoint,
            (cell) => this.#pinCell(cell),
            frame.zoom,
            frame.onPress,
        );
    }

    /** The weights; null while there are none of the present input, controls and region. */
    get grid(): Grid | null {
        return this.#isStale || this.#isMoving ? null : this.#grid;
    }

    /** What is shown: the weights, or their difference from the reference's. */
    get values(): Float32Array | null {
        return this.#values;
    }

    /** Take these weights, which are drawn by paint(). */
    take(grid: Grid, tokens: string[] | null): void {
        this.#grid = grid;
        this.#values = null; // those of before are no reading of it
        this.#isStale = this.#isMoving = false;
        this.#tokens = tokens;
        this.#root.classList.remove("failed");
    }

    /** Errors of rows of the same weights. */
    takeLook(look: Look | null): void {
        this.#look = look;
    }

    get mostError(): number {
        const errors = this.#look?.errors.filter((error) => error !== null) ?? [];
        return Math.max(0, ...errors.filter(Number.isFinite));
    }

    /** Draw what there is of another region, marked as no more than that, until that is taken. */
    preview(region: Region): void {
        if (!this.#grid || this.#isStale) return;
        this.#isMoving = true;
        this.#painted.forget();
        this.#heatmap.preview(region);
        this.#refresh();
    }

    /** What is shown is from before a change. */
    outdate(): void {
        this.#isStale = true;
        this.#isMoving = false;
        this.#look = null;
        this.#painted.forget();
        this.#heatmap.forget();
        this.#refresh();
    }

    /** There is nothing to show. */
    clear(): void {
        this.#grid = null;
        this.#look = null;
        this.#isStale = this.#isMoving = false;
        this.#painted.forget();
        this.#heatmap.forget();
        this.#refresh();
        this.#root.classList.add("failed");
    }

    /** Take the difference anew, as the reference may have changed; none while that is not known. */
    prepare(): void {
        const cells = this.grid?.cells ?? null;
        const isDifference = this.#frame.showsDifference();
        if (isDifference !== this.#isDifference) this.#heatmap.forget();
        this.#isDifference = isDifference;
        this.#values = isDifference ? difference(this.grid, this.#frame.reference()) : cells;
        const isStale = this.#grid !== null && this.#values === null;
        this.#root.classList.toggle("stale", isStale);
        this.#late.set(isStale);
        this.#root.classList.toggle("moving", this.#isMoving);
        const [grid, values, tokens] = [this.grid, this.#values, this.#tokens];
        this.#told.show(grid && values ? { grid, values, tokens, isDifference } : null);
    }

    paint(max: number, theme: Theme, law: ColourLaw, mostError: number): void {
        if (!this.grid || !this.#values) return;
        const { grid } = this;
        const parts = [grid, this.#values, this.#tokens, this.#look];
        if (!this.#painted.changes(...parts, max, theme, law, mostError)) return;
        const bars = this.#rowErrors().map((error) => {
            if (error === null) return null;
            return Number.isFinite(error)
                ? shade(error, mostError, law === "kept" ? "shared" : law)
                : 1;
        });
        const strip = this.#frame.hasErrors ? { parts: bars } : null;
        const shown = { grid, values: this.#values, max, law, tokens: this.#tokens, strip };
        this.#heatmap.show(shown, theme);
        this.point(this.#cell);
    }

    /** Mark a cell and say what is in it. */
    point(cell: Cell | null): void {
        const grid = this.#grid;
        const inside = cell && grid && cell.row < grid.rows && cell.column < grid.columns;
        this.#cell = inside ? cell : null;
        this.#heatmap.point(this.#cell);
        this.#readout.classList.toggle("idle", !this.#cell);
        if (!this.#isMoving) setText(this.#ofRow, this.#errorReading()); // else it is soon there again
        setText(this.#readout, this.#cell ? this.#reading(this.#cell) : this.#largest());
    }

    /** As an SVG picture; null: there is none of the present input and controls. */
    async svg(title: string): Promise<string | null> {
        return this.#values && this.#heatmap.svg(title);
    }

    /** What is shown, a row for each cell; of one with several weights the first query and key, and how many. */
    table(): Omit<Table, "about"> | null {
        const [grid, values, tokens] = [this.grid, this.#values, this.#tokens];
        if (!grid || !values) return null;
        const { columns, rowsPerCell, columnsPerCell, queries, keys, pooling } = grid;
        const isPooled = rowsPerCell * columnsPerCell > 1;
        const value = this.#frame.showsDifference() ? "difference" : "weight";
        const names = tokens ? ["query token", "key token"] : [];
        const sizes = isPooled ? ["queries", "keys"] : [];
        const rows = Array.from(values, (number, i) => {
            const [down, right] = [
                Math.floor(i / columns) * rowsPerCell,
                (i % columns) * columnsPerCell,
            ];
            const [query, key] = [grid.query + down, grid.key + right];
            const words = tokens ? [tokens[query] ?? "", tokens[key] ?? ""] : [];
            const cell = [
                Math.min(rowsPerCell, queries - down),
                Math.min(columnsPerCell, keys - right),
            ];
            return [query, key, ...words, ...(isPooled ? cell : []), number];
        });
        const pooled = isPooled ? `${pooling === "mean" ? "mean" : "largest"} ${value}` : value;
        return { columns: ["query", "key", ...names, ...sizes, pooled], rows };
    }

    markPin(pin: Pin | null): void {
        const row = pin && this.#grid && rowOf(this.#grid, pin.query);
        this.#heatmap.pin(row);
    }

    /** How a query or key is called. */
    nameOf(index: number): string {
        return nameOf(index, this.#tokens);
    }

    /** Of each row of cells the largest that is known. */
    #rowErrors(): (number | null)[] {
        const { grid } = this;
        const all = Array<number | null>(grid?.rows ?? 0).fill(null);
        this.#look?.queries.forEach((query, i) => {
            const row = grid && rowOf(grid, query);
            const error = this.#look?.errors[i] ?? null;
            if (row === null) return;
            if (error !== null && !(error < (all[row] ?? -1))) all[row] = error;
        });
        return all;
    }

    /** The error of the row that is pointed at, or of all. */
    #errorReading(): string {
        const errors = this.#rowErrors();
        if (this.#cell) {
            const error = errors[this.#cell.row] ?? null;
            return error === null ? "" : told.errorOfRow(significant(error, 3));
        }
        const known = errors.filter((error) => error !== null).sort((one, other) => one - other);
        const [middle, most] = [known[known.length >> 1], known.at(-1)];
        if (middle === undefined || most === undefined) return "";
        const { queries, total } = this.#look ?? { queries: [], total: 0 };
        const some = queries.length < total ? words.numbers.ofRows(queries.length) : "";
        return told.rowErrors(significant(middle, 3), significant(most, 3)) + some;
    }

    #refresh(): void {
        this.prepare();
        this.point(this.#cell);
    }

    #pinCell({ row, column }: Cell): void {
        if (!this.grid) return;
        const { rowsPerCell, columnsPerCell, queries, keys } = this.grid;
        this.#frame.onPin?.({
            query: this.grid.query + Math.min(queries - 1, row * rowsPerCell),
            key: this.grid.key + Math.min(keys - 1, column * columnsPerCell),
        });
    }

    /** The largest weight that is seen, or the cell with the largest difference. */
    #largest(): string {
        const { grid } = this;
        if (!grid || !this.#values) return "";
        if (this.#isDifference || !grid.largest) {
            const cell = largestCell(grid, this.#values);
            return cell ? told.largest(this.#reading(cell)) : "";
        }
        const { query, key, weight } = grid.largest;
        const { largest, largestLookedAt } = told;
        const tell = grid.sampledRows < grid.rowsPerCell ? largestLookedAt : largest;
        return tell(`${this.nameOf(query)} → ${this.nameOf(key)}  ${significant(weight, 3)}`);
    }

    #reading({ row, column }: Cell): string {
        const { grid } = this;
        if (!grid || !this.#values) return "";
        const tokens = this.#tokens;
        const query = quotedName(row, queryAxis(grid), tokens);
        const key = quotedName(column, keyAxis(grid), tokens);
        const value = this.#values[row * grid.columns + column] ?? NaN;
        const sign = this.#frame.showsDifference() && value > 0 ? "+" : "";
        return `${query} → ${key}  ${sign}${significant(value, 3)}`;
    }
}

/** null: not known, as the two are not of the same queries and keys. */
function difference(grid: Grid | null, base: Grid | null): Float32Array | null {
    if (!grid || !base || !isSame(grid, base) || grid.pooling !== base.pooling) return null;
    return grid.cells.map((weight, i) => weight - (base.cells[i] ?? NaN));
}

/** The row of cells that has a query; null: none has. */
function rowOf({ query: first, queries, rowsPerCell }: Grid, query: number): number | null {
    const isInside = query >= first && query < first + queries;
    return isInside ? Math.floor((query - first) / rowsPerCell) : null;
}

/**
 * The cell with the largest value, by size. A row with a single one, such as a causal first one, has had no
 * choice: it counts only where all are like that.
 */
function largestCell(grid: Grid | null, values: Float32Array | null): Cell | null {
    if (!grid || !values) return null;
    const { rows, columns } = grid;
    const row = (i: number) => values.subarray(i * columns, (i + 1) * columns);
    const all = Array.from({ length: rows }, (_, i) => i);
    const free = all.filter((i) => row(i).reduce((n, value) => n + Number(value !== 0), 0) > 1);
    let largest: Cell & { size: number } = { row: 0, column: 0, size: -1 };
    for (const i of free.length > 0 ? free : all) {
        row(i).forEach((value, column) => {
            const size = Math.abs(value);
            if (size > largest.size) largest = { row: i, column, size };
        });
    }
    return largest;
}
