/** How long a run takes, told before its first point is there: by runs of a few trials. */

import { lab, type LabProgress } from "libattn-labs";
import type { Choice } from "./state";

const enough = 0.7; // seconds of trials tell
const growth = 4;

/** Of the choice; null: the panel has none. */
export function trialsOf({ lab, panel, params }: Choice): number | null {
    const declared = lab.params.find(({ name }) => name === "trials");
    if (!declared || panel.idle.includes("trials")) return null;
    return Number(params.trials ?? panel.fixed.trials ?? declared.default);
}

/** Seconds that all trials take so many workers, about; null: nobody can tell. */
export async function estimate(
    choice: Choice,
    workers: number,
    signal: AbortSignal,
): Promise<number | null> {
    const all = trialsOf(choice);
    if (all === null) return null;
    let trials = 1;
    let seconds = await secondsOf(choice, trials, signal);
    while (seconds < enough && growth * trials < all) {
        seconds = await secondsOf(choice, (trials *= growth), signal);
    }
    return (all * seconds) / trials / workers;
}

/** Of so many trials by one worker, of which no more are run than tell. */
async function secondsOf(choice: Choice, trials: number, signal: AbortSignal): Promise<number> {
    const told = new AbortController();
    let total = 0;
    const onProgress = ({ seconds, fraction }: LabProgress) => {
        total = seconds / fraction;
        if (seconds >= enough) told.abort();
    };
    const options = { panel: choice.panel.id, signal: AbortSignal.any([signal, told.signal]) };
    try {
        await lab(choice.lab.name, { ...choice.params, trials }, { ...options, onProgress });
    } catch (error) {
        if (!told.signal.aborted) throw error;
    }
    return total;
}
