// The median, and an interval that holds the true median 95 times of 100: as bench/measure/measure.h.

/** Largest k with P(Binomial(count, 1/2) < k) <= 2.5%, or 0. */
function intervalRank(count) {
    let probability = 2 ** -count;
    let below = 0;
    for (let k = 0; k < count; k++) {
        below += probability;
        if (below > 0.025) return k;
        probability *= (count - k) / (k + 1);
    }
    return 0;
}

/** {median, low, high, samples} of some times; of more than 1000 of every second, third, ... */
export function summarize(times) {
    const step = Math.ceil(times.length / 1000);
    const sorted = times.filter((_, i) => i % step === 0).sort((a, b) => a - b);
    const count = sorted.length;
    const rank = Math.max(1, intervalRank(count));
    return {
        median: (sorted[(count - 1) >> 1] + sorted[count >> 1]) / 2,
        low: sorted[rank - 1],
        high: sorted[count - rank],
        samples: count,
    };
}
