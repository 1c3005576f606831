// From times to the numbers of the table: one flat record for each contender in each row.

import { peakBeside } from "../measure/peaks.mjs";
import { bytesOf, flopsOf } from "../rows/rows.mjs";
import { summarize } from "../measure/statistics.mjs";

const nothing = { median: NaN, low: NaN, high: NaN, samples: 0 };

/** The entry that another's time is a multiple of: the first, or what the commit before is compared with. */
function comparedWith({ contender }, entries) {
    const [first] = entries;
    return contender.before
        ? entries[entries.findIndex((one) => one.contender === contender) - 1]
        : first;
}

/** How many pairs a sparse row keeps, as this library says; NaN where every pair counts. */
const pairsOf = ([{ about }]) => Number(/, (\d+) pairs/.exec(about)?.[1]);

function resultOf(entry, { libattn, pairs }, { family, row, peaks }) {
    const { contender, about, error, failure } = entry;
    const time = failure ? nothing : summarize(entry.times);
    const perSecond = (amount) => (contender.empty ? NaN : (1e-9 * amount) / time.median);
    const speeds = {
        gflops: perSecond(flopsOf(contender.task, pairs)),
        gbps: perSecond(bytesOf(contender.task)),
    };
    const held = peakBeside(contender, family, peaks);
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
        pairs,
        ...speeds,
        ...held,
        percent_of_peak: (100 * speeds[family.unit.quantity]) / held.peak,
        times_libattn: time.median / libattn,
        error,
        failure,
        about,
    };
}

const medianOf = ({ failure, times }) => (failure ? NaN : summarize(times).median);

/** Records of all contenders of a row; `peak`: what limits one, 1e9 a second as the median by turns with it. */
export function resultsOf(measured) {
    const { entries } = measured;
    return entries.map((entry) => {
        const libattn = medianOf(comparedWith(entry, entries));
        return resultOf(entry, { libattn, pairs: pairsOf(entries) }, measured);
    });
}
