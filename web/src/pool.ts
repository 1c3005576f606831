import { cellLimit, type Grid } from "./types";

/** An empty grid for a matrix of weights, with as few weights in a cell as the limit allows. */
export function emptyGrid(queries: number, keys: number): Grid {
    const rowsPerCell = Math.ceil(queries / cellLimit);
    const columnsPerCell = Math.ceil(keys / cellLimit);
    const rows = Math.ceil(queries / rowsPerCell);
    const columns = Math.ceil(keys / columnsPerCell);
    const cells = new Float32Array(rows * columns);
    return { rows, columns, queries, keys, rowsPerCell, columnsPerCell, cells };
}

/**
 * Fill one row of cells from the weights of its queries. A cell is the mean of its weights: unlike
 * a maximum, the mean of a difference is then the difference of the means.
 */
export function poolRow(grid: Grid, row: number, weights: Float32Array): void {
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
