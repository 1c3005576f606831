/** How long runs take, measured by turns: what disturbs one then disturbs the others too. */

import type { Timing } from "../state/types";

/** Milliseconds for all turns, half of them to warm up; less where tests of other things say so. */
const budget = () => (globalThis as { timingBudget?: number }).timingBudget ?? 600;
const shortest = 2; // milliseconds a turn should last, well above the clock's resolution
const leastRounds = 6; // where they take no more than
const longest = 2400; // milliseconds for all turns, and then for those that have not had their share
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
    /** Milliseconds of all its turns. */
    spent: number;
}

/**
 * A timing of each run: the median and the range of the later half of its turns. The earlier half
 * warms up: engines compile code anew, and faster, while it runs. `share`: of the time for all turns.
 */
export async function timeByTurns(candidates: readonly Candidate[], share = 1): Promise<Timing[]> {
    const runners = candidates.map(({ run, first }): Runner => {
        return { run, repeats: 1, samples: first < lengthy ? [] : [first], spent: 0 };
    });
    const repeated = runners.filter(({ samples }) => samples.length === 0);
    for (let round = 1, next = repeated; next.length > 0; round++) {
        for (const runner of next) await takeTurn(runner);
        next = needed(round + 1, repeated, share * budget());
    }
    return runners.map(({ samples }) => summary(samples));
}

/** Those that take a turn in this round: all, or, once that has taken long, those that are soon done. */
function needed(round: number, runners: Runner[], milliseconds: number): Runner[] {
    const spent = runners.reduce((sum, runner) => sum + runner.spent, 0);
    if (round <= 2 || spent < milliseconds) return runners; // one to warm up, one that counts
    if (round > leastRounds) return [];
    return spent < longest
        ? runners
        : runners.filter((each) => each.spent < longest / runners.length);
}

async function takeTurn(runner: Runner): Promise<void> {
    const { repeats } = runner;
    const sample = await runner.run(repeats);
    runner.samples.push(sample);
    runner.repeats = Math.max(1, Math.ceil(shortest / Math.max(sample, 1e-3)));
    runner.spent += repeats * sample;
}

function summary(samples: readonly number[]): Timing {
    const counted = samples.slice(Math.max(samples.length >> 1, samples.length - most));
    counted.sort((a, b) => a - b);
    const at = (place: number) => counted[Math.round(place * (counted.length - 1))] ?? NaN;
    return { milliseconds: at(0.5), low: at(0), high: at(1), timings: counted.length };
}
