/** What has been tried on the present input: each backend's settings, what they cost and how far off they are. */

import type { Findings } from "../lines";
import type { Values } from "../types";
import { words } from "../words/words";

export const costs = ["time", "flops", "bytes"] as const;
export type Cost = (typeof costs)[number];

export interface Trial extends Record<Cost, number | null> {
    backend: string;
    params: Values;
    error: number;
}

export class Trials {
    #trials = new Map<string, Trial>();

    /** The input or the problem is another one: nothing that was tried is of it. */
    clear(): void {
        this.#trials.clear();
    }

    get all(): Trial[] {
        return [...this.#trials.values()];
    }

    note(backend: string, params: Values, { numbers, accuracy, timing, run }: Findings): void {
        const error = accuracy?.error ?? NaN;
        if (!Number.isFinite(error) || run?.degenerateRows) return;
        const key = `${backend} ${JSON.stringify(params)}`;
        const time = timing?.milliseconds ?? this.#trials.get(key)?.time ?? null;
        const { flops, workspaceBytes: bytes } = numbers;
        this.#trials.set(key, { backend, params, error, time, flops, bytes });
    }
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
