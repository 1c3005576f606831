// Which blocks of keys the rows of blocks of a sparse task see, for contenders that are told so: a file of
// 64-bit numbers, where each row begins among the columns and where the last one ends, and the columns.

import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { readNpy } from "./npy.mjs";
import { attn, dataFile } from "./paths.mjs";
import { settingsOf } from "./task.mjs";

const blockOf = ({ sparse }) => Number(settingsOf(sparse).block);

/** The compressed rows of a matrix of blocks whose rows are `length` long. */
export function compress({ all, length }) {
    const [starts, columns] = [[0], []];
    for (let row = 0; row < all.length; row += length) {
        for (let column = 0; column < length; column++) if (all[row + column]) columns.push(column);
        starts.push(columns.length);
    }
    return [...starts, ...columns];
}

/** Writes the layout of a task, as libattn draws it for all heads; gives the file's name. */
export function writeLayout(task) {
    const file = dataFile("layout");
    const matrix = `${file}.npy`;
    const settings = task.sparse.split(",").flatMap((setting) => ["--set", setting]);
    const sizes = { n: task.queries, m: task.keys, d: 8, cell: blockOf(task), output: matrix };
    const options = Object.entries(sizes).map(([name, value]) => `--${name}=${value}`);
    if (task.causal) options.push("--causal");
    execFileSync(attn, ["layout", "sparse", ...options, ...settings]);
    writeFileSync(file, BigInt64Array.from(compress(readNpy(matrix)), BigInt));
    rmSync(matrix);
    return file;
}

/** {block, starts, columns} of a task's file. */
export function readLayout(task) {
    const block = blockOf(task);
    const rows = Math.ceil(task.queries / block);
    const { buffer } = Uint8Array.from(readFileSync(task.layout));
    const numbers = Array.from(new BigInt64Array(buffer), Number);
    return { block, starts: numbers.slice(0, rows + 1), columns: numbers.slice(rows + 1) };
}
