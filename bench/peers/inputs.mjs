// The arrays that everybody gets: a file each for query, key and value, of which a task reads as
// much as it needs.

import { execFile } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { promisify } from "node:util";
import { dataFile, inRoot, program } from "./paths.mjs";

const execute = promisify(execFile);
const names = ["query", "key", "value"];

function sizesOf({ heads, kv_heads: shared, queries, keys, dim }) {
    const tokens = shared * keys * dim;
    return { query: heads * queries * dim, key: tokens, value: tokens };
}

/** Makes the files long enough for all these tasks; longer ones begin with the same numbers. */
export async function makeInputs(tasks) {
    mkdirSync(inRoot("data"), { recursive: true });
    const make = (name, stream) => {
        const count = Math.max(...tasks.map((task) => sizesOf(task)[name]));
        const size = statSync(dataFile(name), { throwIfNoEntry: false })?.size ?? 0;
        if (size >= 4 * count) return undefined;
        return execute(program("peers_inputs"), [String(stream), String(count), dataFile(name)]);
    };
    await Promise.all(names.map(make));
}

/** A task as a worker's arguments NAME=VALUE. */
export function argumentsOf(task) {
    const files = names.map((name) => [name, dataFile(name)]);
    return [...Object.entries(task), ...files].map(([name, value]) => `${name}=${value}`);
}
