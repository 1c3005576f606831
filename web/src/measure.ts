/** How long a run takes. */

const budget = 40; // milliseconds for all timings of one plan
const shortest = 1; // milliseconds a timing should last, well above the clock's resolution
const most = 9;

export interface Timing {
    milliseconds: number;
    timings: number;
}

/**
 * The median of up to nine timings. Runs too short for the clock are timed several at once. Call
 * `run` once before: the engine compiles a kernel better after its first calls.
 */
export function measure(run: () => void): Timing {
    const estimate = time(run, 1);
    const repeats = Math.max(1, Math.ceil(shortest / Math.max(estimate, 1e-3)));
    const spent = Math.max(estimate * repeats, shortest);
    const timings = Math.max(1, Math.min(most, Math.floor(budget / spent)));
    const samples = Array.from({ length: timings }, () => time(run, repeats));
    samples.sort((a, b) => a - b);
    return { milliseconds: samples[timings >> 1] ?? estimate, timings };
}

function time(run: () => void, repeats: number): number {
    const start = performance.now();
    for (let i = 0; i < repeats; i++) run();
    return (performance.now() - start) / repeats;
}
