// Contenders that compute by turns, and rows of them, of which some may fail: what else there is is measured all the same.

import { summarize } from "./statistics.mjs";

const CALLS = 4; // in a turn, of a contender like most
const SHARE = 1 / 8; // of the longest turn: the shortest

/** The shortest turn, in seconds, where each contender has `seconds` in so many rounds at least. */
export function shortestTurn(seconds, rounds) {
    return (SHARE * seconds) / rounds;
}

/**
 * How long a turn is, in seconds, and how many rounds of them each contender has `seconds` in: what else the machine does
 * changes within seconds, so where calls are short (`times`: of one call of each contender) there are more, shorter turns.
 */
export function turnsFor(times, seconds, rounds) {
    const wanted = Math.max(CALLS * summarize(times).median, shortestTurn(seconds, rounds));
    const all = Math.min(Math.max(Math.round(seconds / wanted), rounds), rounds / SHARE);
    return { turn: seconds / all, rounds: all };
}

/**
 * Medians over so many rounds of what each contender takes by turns, {name: () => [milliseconds]}; NaN of one that fails,
 * which `failed(name, error)` is told and which has no more turns.
 */
export async function byTurns(contenders, rounds, failed) {
    const times = Object.fromEntries(Object.keys(contenders).map((name) => [name, []]));
    const left = { ...contenders };
    for (let round = 0; round < rounds; round++)
        for (const [name, time] of Object.entries(left)) {
            try {
                times[name].push(...(await time()));
            } catch (error) {
                failed(name, error);
                delete left[name];
            }
        }
    return Object.fromEntries(
        Object.entries(times).map(([name, all]) => [
            name,
            name in left ? summarize(all).median : NaN,
        ]),
    );
}

/** What `measure` makes of each of the rows, {name: row}, one after the other; without those that `failed(name, error)` is told. */
export async function eachRow(rows, measure, failed) {
    const done = [];
    for (const [name, row] of Object.entries(rows)) {
        try {
            done.push(await measure(name, row));
        } catch (error) {
            failed(name, error);
        }
    }
    return done;
}
