// One row: all contenders are processes that live at once and compute by turns, some time each, in
// several rounds. What else the machine does meanwhile hits all of them alike.

import { execFile } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { argumentsOf } from "./inputs.mjs";
import { writeLayout } from "./layouts.mjs";
import { dataFile, inRoot, program } from "./paths.mjs";
import { peaksOf } from "./peaks.mjs";
import { Contender } from "./process.mjs";
import { contenderOf, participants } from "../rows/rows.mjs";
import { summarize } from "./statistics.mjs";
import { shortestTurn, turnsFor } from "./turns.mjs";

const execute = promisify(execFile);

const here = (...names) => join(import.meta.dirname, "..", ...names);

/** A contender's module among the sources of the commit before, which may have its folders otherwise. */
function moduleBefore(module) {
    const peers = inRoot("before", "source", "bench", "peers");
    return join(
        peers,
        readdirSync(peers, { recursive: true }).find((file) => basename(file) === module),
    );
}

/** A program of newest/build.sh, or python3 with a module of that folder. */
function newestOf(name, ...modules) {
    const command = name === "python3" ? [name, here("newest", ...modules)] : [inRoot("c", name)];
    return [here("newest", "enter.sh"), inRoot("sid"), ...command];
}

/** A program of CMakeLists.txt, or node with a module of contenders/: of this commit, or of the one before. */
export function commandOf({ command: [name, module, ...args], before }) {
    if (name === "newest") return newestOf(module, ...args);
    if (name !== "node") return [before ? inRoot("before", "c", name) : program(name)];
    const script = before ? moduleBefore(module) : here("contenders", module);
    return [process.execPath, script, ...args];
}

/** The relative error against exact attention; throws when it is more than rounding explains. */
async function check(args) {
    const { stdout } = await execute(program("peers_check"), args);
    const [, error, worst] = /^error (\S+) worst (\S+)$/m.exec(stdout);
    if (Number(worst) <= 1) return Number(error);
    throw new Error(`wrong: relative error ${Number(error).toPrecision(2)}`);
}

/** Starts a contender and lets it compute once; `failure` tells why it is not to be timed. */
async function start(contender, log) {
    const out = dataFile("out");
    const args = argumentsOf(contender.task);
    if (contender.layout) args.push(`layout=${writeLayout(contender.task)}`);
    rmSync(out, { force: true });
    const command = [...commandOf(contender), ...args, `out=${out}`];
    const entry = { contender, about: "", error: NaN, failure: "", times: [] };
    entry.process = new Contender(command, contender.env, log);
    try {
        entry.about = await entry.process.ready();
        if (!contender.empty) entry.error = await check([...args, `result=${out}`]);
    } catch (error) {
        entry.failure = error.message;
    }
    return entry;
}

/** One after the other, for so many seconds each; the one that goes first changes. */
async function measureRound(entries, round, turn) {
    for (let i = 0; i < entries.length; i++) {
        const entry = entries[(i + round) % entries.length];
        if (entry.failure) continue;
        try {
            entry.times.push(...(await entry.process.time(turn)));
        } catch (error) {
            entry.failure = error.message;
        }
    }
}

async function startAll(contenders, log) {
    const entries = [];
    for (const contender of contenders) entries.push(await start(contender, log));
    return entries;
}

/**
 * Measures the contenders of a row and the peaks that they are held against: {entries, peaks}, each
 * [{contender, about, error, failure, times}]. `log`: a file descriptor for what they say on stderr.
 */
export async function measureRow(family, row, { rounds, seconds, ...chosen }, log) {
    const contenders = participants(row, chosen).map((name) => contenderOf(name, row));
    const entries = await startAll(contenders, log);
    const peaks = await startAll(peaksOf(contenders, family), log);
    const all = [...entries, ...peaks];
    await measureRound(all, 0, shortestTurn(seconds, rounds));
    const timed = entries.filter(({ failure }) => !failure);
    const medians = timed.map(({ times }) => summarize(times).median);
    const { turn, rounds: most } = turnsFor(medians, seconds, rounds);
    for (let round = 1; round < most; round++) await measureRound(all, round, turn);
    await Promise.all(all.map((entry) => entry.process.end()));
    rmSync(dataFile("out"), { force: true });
    return { entries, peaks };
}
