import { cellLimit, type Grid, type Pooling, type Weight } from "../state/types";
import type { Extent, Region } from "../zoom/region";

const mostWeights = 1 << 24; // of a picture: its computing takes about a second
const leastSampled = 8; // queries of a cell, where not all are looked at: each cell is a call
const leastRows = 64;

/**
 * An empty grid for a region of a matrix of weights, with as few weights in a cell as the limit allows. Of a
 * large matrix, whose rows are computed whole, some of a cell's queries are looked at, in its middle.
 */
export function emptyGrid(region: Region, of: Extent, pooling: Pooling = "mean"): Grid {
    const { queries, keys } = region;
    const affordableRows = Math.floor(mostWeights / (leastSampled * of.keys));
    const rowLimit = Math.min(cellLimit, Math.max(leastRows, affordableRows));
    const fitting = queries <= cellLimit && queries * of.keys <= mostWeights; // all of them
    const rowsPerCell = fitting ? 1 : Math.ceil(queries / rowLimit);
    const columnsPerCell = Math.ceil(keys / cellLimit);
    const rows = Math.ceil(queries / rowsPerCell);
    const columns = Math.ceil(keys / columnsPerCell);
    const affordable = Math.max(1, Math.floor(mostWeights / (rows * of.keys)));
    const sampledRows = Math.min(rowsPerCell, affordable);
    const cells = new Float32Array(rows * columns);
    const sizes = { rows, columns, rowsPerCell, columnsPerCell, sampledRows };
    return { ...region, ...sizes, of, pooling, largest: null, cells };
}

/**
 * Fill one row of cells from the weights of its queries, of all keys. Unlike a maximum, the mean of a difference
 * is the difference of the means.
 */
function poolRow(grid: Grid, row: number, weights: Float32Array): void {
    const { columns, key, keys, columnsPerCell, cells, of, pooling } = grid;
    const pool = pooling === "mean" ? meanOf : largestOf;
    for (let column = 0; column < columns; column++) {
        const first = key + column * columnsPerCell;
        const last = Math.min(first + columnsPerCell, key + keys);
        cells[row * columns + column] = pool(weights, of.keys, first, last);
    }
}

/** Of the weights of keys from `first` to before `last`, in rows of `width`. */
function meanOf(weights: Float32Array, width: number, first: number, last: number): number {
    let sum = 0;
    for (let start = 0; start < weights.length; start += width) {
        for (let key = first; key < last; key++) sum += weights[start + key] ?? 0;
    }
    return sum / ((weights.length / width) * (last - first));
}

/** The same by size; NaN is larger than all. */
function largestOf(weights: Float32Array, width: number, first: number, last: number): number {
    let largest = 0;
    for (let start = 0; start < weights.length; start += width) {
        for (let key = first; key < last; key++) {
            const weight = weights[start + key] ?? 0;
            if (!(Math.abs(weight) <= Math.abs(largest))) largest = weight;
        }
    }
    return largest;
}

/** The queries whose weights fill so many rows of the grid: one, where not all of its queries are looked at. */
export function queriesOf(grid: Grid, row: number, rows = 1): { first: number; count: number } {
    const { query, queries, rowsPerCell, sampledRows } = grid;
    const middle = row * rowsPerCell + ((rowsPerCell - sampledRows) >> 1);
    const first = Math.min(middle, queries - 1); // the last cell may have fewer
    return { first: query + first, count: Math.min(rows * sampledRows, queries - first) };
}

/** Rows of the grid from `row` on, from the weights of their queries. */
export function fillRows(grid: Grid, row: number, weights: Float32Array): void {
    const { first } = queriesOf(grid, row);
    const { keys } = grid.of;
    for (let i = 0; i * keys < weights.length; i++)
        takeLargest(grid, first + i, weights.subarray(i * keys, (i + 1) * keys));
    const perRow = grid.sampledRows * keys;
    for (let start = 0; start < weights.length; start += perRow, row++) {
        poolRow(grid, row, weights.subarray(start, start + perRow));
    }
}

/** A row with a single weight, such as a causal first one, has had no choice: it counts where all are so. */
function takeLargest(grid: Grid, query: number, weights: Float32Array): void {
    let [key, most, count] = [grid.key, -1, 0];
    for (let i = grid.key; i < grid.key + grid.keys; i++) {
        const size = Math.abs(weights[i] ?? 0);
        if (size !== 0) count++;
        if (size > most) [key, most] = [i, size];
    }
    const found = { query, key, weight: weights[key] ?? NaN, hasChoice: count > 1 };
    if (isMore(found, grid.largest)) grid.largest = found;
}

function isMore(one: Weight, other: Weight | null): boolean {
    if (!other) return true;
    if (one.hasChoice !== other.hasChoice) return one.hasChoice;
    return Math.abs(one.weight) > Math.abs(other.weight);
}
