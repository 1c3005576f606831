// From times to the numbers of the table: one flat record for each contender in each row.

import { bytesOf, flopsOf } from "./rows.mjs";
import { summarize } from "./statistics.mjs";

const nothing = { median: NaN, low: NaN, high: NaN, samples: 0 };

/** The peak that a contender is held against: its own tier's, and of as many threads as it has. */
function peakOf({ peak, task }, family, peaks) {
    const ofThreads = task.threads === 1 ? family.peak.replace(/2$/, "") : family.peak;
    return peaks[peak ?? ofThreads];
}

function resultOf(entry, libattn, family, row, peaks) {
    const { contender, about, error, failure } = entry;
    const time = failure ? nothing : summarize(entry.times);
    const perSecond = (amount) => (contender.empty ? NaN : (1e-9 * amount) / time.median);
    const speeds = {
        gflops: perSecond(flopsOf(contender.task)),
        gbps: perSecond(bytesOf(contender.task)),
    };
    return {
        family: family.id,
        row: row.id,
        work: row.label,
        contender: contender.name,
        ...contender.task,
        ms: 1e3 * time.median,
        ms_low: 1e3 * time.low,
        ms_high: 1e3 * time.high,
        samples: time.samples,
        ...speeds,
        percent_of_peak: (100 * speeds[family.unit.quantity]) / peakOf(contender, family, peaks),
        times_libattn: time.median / libattn,
        error,
        failure,
        about,
    };
}

/** Records of all contenders of a row; the first is the one the others are compared with. */
export function resultsOf({ family, row, entries }, peaks) {
    const [first] = entries;
    const libattn = first.failure ? NaN : summarize(first.times).median;
    return entries.map((entry) => resultOf(entry, libattn, family, row, peaks));
}
