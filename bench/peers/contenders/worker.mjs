// A contender in JavaScript as a process of its own: the other side of worker.h's protocol.

import { execFile } from "node:child_process";
import { closeSync, openSync, readSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { inRoot } from "../measure/paths.mjs";
import { sizesOf, valueDimOf } from "../measure/task.mjs";
import { timeCalls } from "./timing.mjs";

/** Loads a package from the folder where run.sh has installed the peers. */
export function peer(name) {
    return createRequire(inRoot("package.json"))(name);
}

const sizes = [
    "heads",
    "kv_heads",
    "queries",
    "keys",
    "dim",
    "causal",
    "threads",
    "stream",
    "amount",
];

/** The first so many floats of a file. */
function readFloats(path, count) {
    const floats = new Float32Array(count);
    const file = openSync(path);
    const bytes = readSync(file, floats);
    closeSync(file);
    if (bytes !== floats.byteLength)
        throw new Error(`${path}: ${bytes} bytes of ${4 * count} read`);
    return floats;
}

/** NAME=VALUE arguments as a task, with its value_dim; the arrays are in the order (head, row, column). */
function readTask(args) {
    const task = Object.fromEntries(args.map((text) => text.split(/=(.*)/s, 2)));
    for (const name of sizes) task[name] = Number(task[name]);
    task.value_dim = Number(valueDimOf(task));
    for (const [name, size] of Object.entries(sizesOf(task)))
        task[name] = readFloats(task[name], size);
    return task;
}

function say(text) {
    process.stdout.write(`${text.replaceAll(/\s+/g, " ").trim()}\n`);
}

/**
 * Seconds from before a contender loads what it runs to the end of its first call, each in a process of its own, for
 * about so many seconds. Node itself is up by then, and the arrays are read.
 */
async function timeFirstCalls(seconds) {
    const args = process.argv.slice(1).filter((text) => !text.startsWith("out="));
    const end = performance.now() + 1000 * seconds;
    const times = [];
    do {
        const { stdout } = await promisify(execFile)(process.execPath, [...args, "alone=1"]);
        times.push(Number(/^first (\S+)$/m.exec(stdout)[1]));
    } while (performance.now() < end);
    return times;
}

/**
 * Serves one task. `open(task, ready)` loads and prepares, and gives {about, run, output}: what runs, the call to be
 * timed, and what it has computed, in the order (head, row, column); perhaps `time(seconds)` too,
 * where calls are timed elsewhere. `prepare(task)` gives `ready`: what a program has lying there before it begins. Of a
 * task that is `first` the first call is timed, with all that leads to it.
 */
export async function serve(open, prepare = () => undefined) {
    try {
        const task = readTask(process.argv.slice(2));
        const ready = prepare(task);
        const begin = performance.now();
        const { about, run, output, time = (s) => timeCalls(run, s) } = await open(task, ready);
        await run();
        if (task.alone) {
            say(`first ${(performance.now() - begin) / 1000}`);
            process.exit(0);
        }
        if (task.out) writeFileSync(task.out, new Uint8Array(output().slice().buffer));
        say(`ready ${about}`);
        const measure = task.first ? timeFirstCalls : time;
        for await (const line of createInterface({ input: process.stdin })) {
            const seconds = /^time (\S+)$/.exec(line)?.[1];
            if (seconds) say(`times ${(await measure(Number(seconds))).join(" ")}`);
        }
        process.exit(0);
    } catch (error) {
        say(`fail ${error?.message ?? error}`);
        process.exit(1);
    }
}

/** The array (a, b, c) as (b, a, c). */
export function swapAxes(array, a, b, c) {
    const swapped = new Float32Array(array.length);
    for (let i = 0; i < a; i++) {
        for (let j = 0; j < b; j++) {
            const row = array.subarray((i * b + j) * c, (i * b + j + 1) * c);
            swapped.set(row, (j * a + i) * c);
        }
    }
    return swapped;
}
