import { cellLimit, type Grid } from "./types";

const mostWeights = 1 << 24; // of a picture: its computing takes about a second
const leastSampled = 8; // queries of a cell, where not all are looked at: each cell is a call
const leastRows = 64;

/**
 * An empty grid for a matrix of weights, with as few weights in a cell as the limit allows. Of a large
 * matrix some of a cell's queries are looked at, in its middle.
 */
export function emptyGrid(queries: number, keys: number): Grid {
    const affordableRows = Math.floor(mostWeights / (leastSampled * keys));
    const rowLimit = Math.min(cellLimit, Math.max(leastRows, affordableRows));
    const rowsPerCell = Math.ceil(queries / rowLimit);
    const columnsPerCell = Math.ceil(keys / cellLimit);
    const rows = Math.ceil(queries / rowsPerCell);
    const columns = Math.ceil(keys / columnsPerCell);
    const affordable = Math.max(1, Math.floor(mostWeights / (rows * keys)));
    const sampledRows = Math.min(rowsPerCell, affordable);
    const cells = new Float32Array(rows * columns);
    return { rows, columns, queries, keys, rowsPerCell, columnsPerCell, sampledRows, cells };
}

/**
 * Fill one row of cells from the weights of its queries. A cell is the mean of its weights: unlike
 * a maximum, the mean of a difference is then the difference of the means.
 */
function poolRow(grid: Grid, row: number, weights: Float32Array): void {
    const { columns, keys, columnsPerCell, cells } = grid;
    const queries = weights.length / keys;
    for (let column = 0; column < columns; column++) {
        const first = column * columnsPerCell;
        const last = Math.min(first + columnsPerCell, keys);
        let sum = 0;
        for (let query = 0; query < queries; query++) {
            for (let key = first; key < last; key++) sum += weights[query * keys + key] ?? 0;
        }
        cells[row * columns + column] = sum / (queries * (last - first));
    }
}

/** The queries whose weights fill so many rows of the grid: one, where not all of its queries are looked at. */
export function queriesOf(grid: Grid, row: number, rows = 1): { first: number; count: number } {
    const { queries, rowsPerCell, sampledRows } = grid;
    const middle = row * rowsPerCell + ((rowsPerCell - sampledRows) >> 1);
    const first = Math.min(middle, queries - 1); // the last cell may have fewer
    return { first, count: Math.min(rows * sampledRows, queries - first) };
}

/** Rows of the grid from `row` on, from the weights of their queries. */
export function fillRows(grid: Grid, row: number, weights: Float32Array): void {
    const perRow = grid.sampledRows * grid.keys;
    for (let start = 0; start < weights.length; start += perRow, row++) {
        poolRow(grid, row, weights.subarray(start, start + perRow));
    }
}
