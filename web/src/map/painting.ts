/** The colour scales of all heatmaps, and their legends. */

import type { ColourLaw, Theme } from "./colors";
import { find, showLine } from "../dom/dom";
import { count } from "../dom/format";
import { drawLegend } from "./legend";
import type { Grid } from "../state/types";
import { words } from "../words/words";

const { nouns, picture } = words;

/** What is painted: the pictures of panels. */
interface Painted {
    readonly grid: Grid | null;
    readonly values: Float32Array | null;
    readonly showsDifference: boolean;
    /** The largest error of a row; 0: none is known. */
    readonly mostError: number;
    prepare(): void;
    paint(max: number, theme: Theme, law: ColourLaw, mostError: number): void;
}

interface Range {
    min: number;
    max: number;
}

/** Draw all panels: weights on one scale, differences on another, or each on its own. */
export function paintPanels(panels: readonly Painted[], theme: Theme, law: ColourLaw): void {
    for (const panel of panels) panel.prepare();
    const mostError = Math.max(...panels.map((panel) => panel.mostError));
    for (const difference of [false, true]) {
        const shown = panels.filter(
            (panel) => panel.values && panel.showsDifference === difference,
        );
        const range = rangeOf(shown);
        const size = sizeOf(range);
        const max = law === "own" ? size : strongest(size);
        for (const panel of shown) {
            const isOwn = law === "own";
            const [size, error] = isOwn
                ? [sizeOf(rangeOf([panel])) || 1, panel.mostError]
                : [max, mostError];
            panel.paint(size, theme, law, error);
        }

        const selector = difference ? "#difference-legend" : "#weights-legend";
        const legend = find(document, selector, HTMLElement);
        legend.hidden = shown.length === 0;
        legend.dataset.law = law;
        drawLegend(
            legend,
            { max, law, signed: difference || range.min < 0, clipped: size > max },
            theme,
        );
    }
    const grid = panels.find((panel) => panel.values)?.grid;
    showLine(find(document, "#pooling", HTMLElement), grid ? poolingNote(grid) : null);
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
