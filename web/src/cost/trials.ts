/** What has been tried on the present input: each backend's settings, what they cost and how far off they are. */

import type { Findings } from "../compare/lines";
import type { Values } from "../state/types";
import type { Candidate } from "./lengths";
import { words } from "../words/words";

export const costs = ["time", "flops", "bytes"] as const;
export type Cost = (typeof costs)[number];

export interface Trial extends Record<Cost, number | null> {
    backend: string;
    params: Values;
    error: number;
}

/** So many settings of a link have no dot, the last of them for this reason. */
interface Refused {
    count: number;
    reason: string;
}

export class Trials {
    /** The newest last. */
    #trials = new Map<string, Trial>();
    /** Of a link: those that are still to be tried again, and those that have been. */
    #wanted = new Map<string, Candidate>();
    #again = new Map<string, Trial>();
    #isBegun = false;
    #refused: Refused | null = null;

    /** The input or the problem is another one: nothing that was tried is of it. */
    clear(): void {
        this.#trials.clear();
        this.#again.clear();
        this.#refused = null;
        if (this.#isBegun) this.#wanted.clear();
    }

    /** What a link has is of the first input that there is. */
    begin(): void {
        this.#isBegun = true;
    }

    get all(): Trial[] {
        return [...this.#again.values(), ...this.#trials.values()];
    }

    get wanted(): Candidate[] {
        return [...this.#wanted.values()];
    }

    set wanted(wanted: readonly Candidate[]) {
        this.#wanted = new Map(wanted.map((each) => [keyOf(each), each]));
    }

    get refused(): Refused | null {
        return this.#refused;
    }

    /** Settings beside those of now, the newest last. */
    besides(now: readonly Candidate[]): Candidate[] {
        const shown = new Set(now.map(keyOf));
        return [...this.wanted, ...this.all].filter((each) => !shown.has(keyOf(each)));
    }

    note(candidate: Candidate, findings: Findings): void {
        const key = keyOf(candidate);
        const trial = trialOf(candidate, findings);
        if (!trial) return;
        trial.time ??= (this.#trials.get(key) ?? this.#again.get(key))?.time ?? null;
        for (const others of [this.#wanted, this.#again, this.#trials]) others.delete(key);
        this.#trials.set(key, trial);
    }

    /** One of a link has been tried again: what was found, or why nothing was. */
    settle(candidate: Candidate, found: Findings | string): void {
        const key = keyOf(candidate);
        if (!this.#wanted.delete(key)) return; // a panel has it
        if (typeof found === "string")
            this.#refused = { count: (this.#refused?.count ?? 0) + 1, reason: found };
        const trial = typeof found === "string" ? null : trialOf(candidate, found);
        if (trial) this.#again.set(key, trial);
    }
}

/** null: there is nothing that a dot could stand for. */
function trialOf(candidate: Candidate, findings: Findings): Trial | null {
    const { numbers, accuracy, timing, run } = findings;
    const error = accuracy?.error ?? NaN;
    if (!Number.isFinite(error) || run?.degenerateRows) return null;
    const { flops, workspaceBytes: bytes } = numbers;
    return { ...candidate, error, time: timing?.milliseconds ?? null, flops, bytes };
}

function keyOf({ backend, params }: Candidate): string {
    return `${backend} ${JSON.stringify(params)}`;
}

/** A trial whose cost is known. */
export interface Point {
    trial: Trial;
    cost: number;
    /** Is none both cheaper and nearer? */
    isBest: boolean;
}

/** By ascending cost. */
export function pointsOf(trials: readonly Trial[], against: Cost): Point[] {
    const known = trials.flatMap((trial) => {
        const cost = trial[against];
        return cost === null || !(cost > 0) ? [] : [{ trial, cost, isBest: false }];
    });
    known.sort((one, other) => one.cost - other.cost || one.trial.error - other.trial.error);
    let least = Infinity;
    for (const point of known) {
        point.isBest = point.trial.error < least;
        least = Math.min(least, point.trial.error);
    }
    return known;
}

/** The parameters that were changed, in words. */
export function settingOf({ params }: Trial): string {
    const changed = Object.entries(params).map(([name, value]) => `${name} ${value}`);
    return changed.join(", ") || words.costs.usual;
}
