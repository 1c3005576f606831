// The arrays that everybody gets: a file each for query, key, value and gates, of which a task reads as
// much as it needs.

import { execFile } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { promisify } from "node:util";
import { dataFile, inRoot, program } from "./paths.mjs";
import { sizesOf } from "./task.mjs";

const execute = promisify(execFile);

/** Makes the files long enough for all these tasks; longer ones begin with the same numbers. */
export async function makeInputs(tasks) {
    const counts = {};
    for (const sizes of tasks.map(sizesOf))
        for (const [name, size] of Object.entries(sizes))
            counts[name] = Math.max(size, counts[name] ?? 0);
    mkdirSync(inRoot("data"), { recursive: true });
    const make = ([name, count]) => {
        const size = statSync(dataFile(name), { throwIfNoEntry: false })?.size ?? 0;
        if (size >= 4 * count) return undefined;
        return execute(program("peers_inputs"), [name, String(count), dataFile(name)]);
    };
    await Promise.all(Object.entries(counts).map(make));
}

/** A task as a worker's arguments NAME=VALUE. */
export function argumentsOf(task) {
    const files = Object.keys(sizesOf(task)).map((name) => [name, dataFile(name)]);
    return [...Object.entries(task), ...files].map(([name, value]) => `${name}=${value}`);
}
