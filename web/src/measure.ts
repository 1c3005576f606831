/** How long runs take, measured by turns: what disturbs one then disturbs the others too. */

import type { Timing } from "./types";

/** Milliseconds for all turns, half of them to warm up; less where tests of other things say so. */
const budget = () => (globalThis as { timingBudget?: number }).timingBudget ?? 600;
const shortest = 2; // milliseconds a turn should last, well above the clock's resolution
const leastRounds = 6; // where they take no more than
const longest = 2400; // milliseconds for all turns
const most = 15; // turns that count
const lengthy = 1000; // milliseconds of a run that is not repeated: it was warm for most of them

/** Runs something so often, and says how many milliseconds one run took. */
export type Run = (repeats: number) => Promise<number>;

export interface Candidate {
    run: Run;
    /** Milliseconds of a run that has been. */
    first: number;
}

interface Runner {
    run: Run;
    /** Runs in a turn. */
    repeats: number;
    /** Milliseconds of a run, turn by turn. */
    samples: number[];
}

/**
 * A timing of each run: the median and the range of the later half of its turns. The earlier half
 * warms up: engines compile code anew, and faster, while it runs.
 */
export async function timeByTurns(candidates: readonly Candidate[]): Promise<Timing[]> {
    const runners = candidates.map(({ run, first }): Runner => {
        return { run, repeats: 1, samples: first < lengthy ? [] : [first] };
    });
    const repeated = runners.filter(({ samples }) => samples.length === 0);
    let spent = 0;
    for (let round = 1; repeated.length > 0 && isNeeded(round, spent); round++) {
        for (const runner of repeated) spent += await takeTurn(runner);
    }
    return runners.map(({ samples }) => summary(samples));
}

function isNeeded(round: number, spent: number): boolean {
    if (round <= 2) return true; // one to warm up, one that counts
    return spent < budget() || (round <= leastRounds && spent < longest);
}

/** Returns how long it took. */
async function takeTurn(runner: Runner): Promise<number> {
    const { repeats } = runner;
    const sample = await runner.run(repeats);
    runner.samples.push(sample);
    runner.repeats = Math.max(1, Math.ceil(shortest / Math.max(sample, 1e-3)));
    return repeats * sample;
}

function summary(samples: readonly number[]): Timing {
    const counted = samples.slice(Math.max(samples.length >> 1, samples.length - most));
    counted.sort((a, b) => a - b);
    const at = (place: number) => counted[Math.round(place * (counted.length - 1))] ?? NaN;
    return { milliseconds: at(0.5), low: at(0), high: at(1), timings: counted.length };
}
