// Which peak each contender of a row is held against, and how fast it was in the row's minute.

import { peaks } from "../rows/peaks.mjs";
import { bytesOf } from "../rows/rows.mjs";
import { summarize } from "./statistics.mjs";

const OPERATIONS = 2e9; // of a call that multiplies and adds: some hundredths of a second
const CLOSE = 0.01; // amounts that differ by less are one

/** A peak's name: the contender's own, or the family's, of as many threads as it has. */
function nameOf({ peak, task }, family) {
    return peak ?? (task.threads === 1 ? family.peak.replace(/2$/, "") : family.peak);
}

/**
 * The contender that does nothing but what limits this one: arithmetic, or reading as many bytes as its task has, which
 * may lie in a cache between calls as well as the task's.
 */
export function peakOf(contender, family) {
    const name = nameOf(contender, family);
    const amount = family.unit.quantity === "gflops" ? OPERATIONS : bytesOf(contender.task);
    const peak = peaks[name];
    return { name, empty: true, ...peak, task: { ...peak.task, amount } };
}

const isSame = (one, other) =>
    one.name === other.name && Math.abs(one.task.amount / other.task.amount - 1) < CLOSE;

/** Those of all these contenders, each once. */
export function peaksOf(contenders, family) {
    const all = contenders.map((contender) => peakOf(contender, family));
    return all.filter((one, i) => all.findIndex((other) => isSame(one, other)) === i);
}

const speedOf = ({ contender, failure, times }, timeOf) =>
    failure ? NaN : (1e-9 * contender.task.amount) / timeOf(times);

/**
 * The peak that this contender is held against, of those measured: {peak, peak_of}, 1e9 a second as the median beside the
 * row's contenders, and how that was done; NaN and why where it failed.
 */
export function peakBeside(contender, family, measured) {
    const wanted = peakOf(contender, family);
    const entry = measured.find((one) => isSame(one.contender, wanted));
    return {
        peak: speedOf(entry, (times) => summarize(times).median),
        peak_of: entry.failure || entry.about,
    };
}

/**
 * The most that was measured of each peak in all these rows, {name: 1e9 a second}; of reading where there were the most
 * bytes, as caches hold fewer.
 */
export function mostOf(rows) {
    const entries = rows.flatMap(({ peaks }) => peaks).filter(({ failure }) => !failure);
    const amountsOf = (name) =>
        entries
            .filter((one) => one.contender.name === name)
            .map((one) => one.contender.task.amount);
    const most = {};
    for (const entry of entries) {
        const { name, task } = entry.contender;
        const speed = speedOf(entry, (times) => times.reduce((a, b) => Math.min(a, b)));
        const isLargest = task.amount > (1 - CLOSE) * Math.max(...amountsOf(name));
        if (isLargest && speed > (most[name] ?? 0)) most[name] = speed;
    }
    return most;
}
