/** The colour scales of all heatmaps, and their legends. */

import type { ColourChoice, ColourLaw, Theme } from "./colors";
import { find, showLine } from "../dom/dom";
import { count } from "../dom/format";
import { drawLegend } from "./legend";
import type { Grid } from "../state/types";
import { isSame, wholeOf, type Extent } from "../zoom/region";
import { words } from "../words/words";

const { nouns, picture } = words;

/** What is painted: the pictures of panels. */
interface Painted {
    readonly grid: Grid | null;
    readonly values: Float32Array | null;
    readonly showsDifference: boolean;
    /** Is it the one that others are compared with? */
    readonly isReference: boolean;
    /** The largest error of a row; 0: none is known. */
    readonly mostError: number;
    prepare(): void;
    paint(max: number, theme: Theme, law: ColourLaw, mostError: number): void;
}

interface Range {
    min: number;
    max: number;
}

/** Draws all panels: weights on one scale, which is the reference's, differences on another, or each on its own. */
export class Painter {
    /** Of the whole head that was drawn last: zooming in leaves its colours as they are. */
    #whole: { of: Extent; size: number } | null = null;

    /** There will be other weights. */
    forget(): void {
        this.#whole = null;
    }

    paint(panels: readonly Painted[], theme: Theme, choice: ColourChoice): void {
        for (const panel of panels) panel.prepare();
        const grid = panels.find((panel) => panel.values)?.grid ?? null;
        const law = lawOf(choice, grid);
        const mostError = Math.max(...panels.map((panel) => panel.mostError));
        for (const difference of [false, true]) {
            const shown = panels.filter(
                (panel) => panel.values && panel.showsDifference === difference,
            );
            const range = rangeOf(shown);
            const size = sizeOf(range);
            const max = difference ? strongest(size) : this.#most(shown, size);
            for (const panel of shown) {
                if (law === "own") {
                    const own = sizeOf(rangeOf([panel])) || 1;
                    panel.paint(own, theme, law, panel.mostError);
                } else panel.paint(max, theme, law, mostError);
            }
            const selector = difference ? "#difference-legend" : "#weights-legend";
            const legend = find(document, selector, HTMLElement);
            legend.hidden = shown.length === 0;
            legend.dataset.law = law;
            const scale = {
                max: law === "own" ? size : max,
                law,
                clipped: law !== "own" && size > max,
            };
            drawLegend(legend, { ...scale, signed: difference || range.min < 0 }, theme);
        }
        showLine(find(document, "#pooling", HTMLElement), grid ? poolingNote(grid) : null);
    }

    /** The largest weight of the reference, or, while that has none, of all. */
    #most(shown: readonly Painted[], size: number): number {
        const reference = shown.find(({ isReference }) => isReference);
        const grid = reference?.grid;
        if (!reference || !grid) return strongest(size);
        const own = strongest(sizeOf(rangeOf([reference])));
        if (isSame(grid, wholeOf(grid.of))) this.#whole = { of: grid.of, size: own };
        const isPooled = grid.rowsPerCell * grid.columnsPerCell > 1;
        return isPooled || !this.#whole ? own : Math.max(own, this.#whole.size);
    }
}

/** Means over many keys are small, and differ by powers of ten. */
function lawOf(choice: ColourChoice, grid: Grid | null): ColourLaw {
    if (choice !== "auto") return choice;
    return grid && grid.rowsPerCell * grid.columnsPerCell > 1 ? "log" : "shared";
}

function sizeOf({ min, max }: Range): number {
    return Math.max(max, -min);
}

/** Weights of `lin` can be huge: beyond 1 is not told apart. */
function strongest(size: number): number {
    return Math.min(1, size) || 1;
}

function rangeOf(panels: readonly Painted[]): Range {
    const range = { min: 0, max: 0 };
    for (const { values } of panels) {
        for (const value of values ?? []) {
            if (!Number.isFinite(value)) continue;
            if (value < range.min) range.min = value;
            if (value > range.max) range.max = value;
        }
    }
    return range;
}

function poolingNote(grid: Grid): string | null {
    const { rowsPerCell, columnsPerCell, sampledRows, pooling } = grid;
    if (rowsPerCell * columnsPerCell === 1) return null;
    const all = count(rowsPerCell, nouns.query);
    const queries = sampledRows === rowsPerCell ? all : picture.middle(sampledRows, all);
    return picture.cellIs(pooling, queries, count(columnsPerCell, nouns.key));
}
