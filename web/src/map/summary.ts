/** What weights are like, in words, for whoever does not see their picture. */

import { summarize } from "libattn/view/words";
import { keyAxis, quotedName } from "./axes";
import { percent } from "../dom/format";
import type { Grid } from "../state/types";
import { isSame, wholeOf } from "../zoom/region";
import { words } from "../words/words";

const { told } = words;

/** What is shown. */
export interface Shown {
    grid: Grid;
    values: Float32Array;
    tokens: string[] | null;
    isDifference: boolean;
}

/** How much is on the diagonal, and which column has most. */
export function summaryOf(shown: Shown): string {
    const { grid, tokens, isDifference } = shown;
    if (grid.pooling === "largest" && grid.rowsPerCell * grid.columnsPerCell > 1)
        return told.noShares; // of all weight
    const isPart = !isSame(grid, wholeOf(grid.of));
    const square =
        grid.rows === grid.columns && grid.query === grid.key && grid.queries === grid.keys;
    return sharesOf(
        sums(shown),
        grid.columns,
        (column) => quotedName(column, keyAxis(grid), tokens),
        {
            what: told.all(isDifference, isPart),
            diagonal: square && (grid.rowsPerCell === 1 ? told.onDiagonal : told.inDiagonalCells),
            none: isDifference ? told.noDifferences : told.noWeights,
        },
    );
}

interface Said {
    what: string;
    /** Where the diagonal is; false: there is none. */
    diagonal: string | false;
    none: string;
}

const ofSquare: Said = {
    what: told.all(false, false),
    diagonal: told.onDiagonal,
    none: told.noWeights,
};

/** The same of weights by rows of `columns`, which are all there is of as many queries as keys by default. */
export function sharesOf(
    weights: Float32Array,
    columns: number,
    name: (column: number) => string,
    { what, diagonal, none }: Said = ofSquare,
): string {
    const found = summarize(weights, columns);
    if (!found.column) return none;
    const share = `${percent(found.column.part)}${diagonal ? "" : ` ${what}`}`;
    const parts = [
        ...(diagonal ? [`${percent(found.diagonal)} ${what} ${diagonal}`] : []),
        told.strongest(share, name(found.column.key)),
    ];
    return `${parts.join("; ")}.`;
}

/** What cells, whose values are means, have in all; the last of a row or column may be of fewer keys or queries. */
function sums({ grid, values }: Shown): Float32Array {
    const { columns, queries, keys, rowsPerCell, columnsPerCell } = grid;
    const size = (cell: number, perCell: number, count: number) =>
        Math.min(perCell, count - cell * perCell);
    return values.map((mean, i) => {
        const height = size(Math.floor(i / columns), rowsPerCell, queries);
        return mean * height * size(i % columns, columnsPerCell, keys);
    });
}
