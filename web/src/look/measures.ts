/** Numbers of a row of weights: how spread it is, how far it looks, and how near it comes to the exact one. */

type Row = Float32Array;

export const topKeys = 8;

/** In bits: 0 where all is on one key, log2 n where it is even over n; NaN where weights are no shares. */
export function entropy(weights: Row): number {
    const total = sumOf(weights);
    let sum = 0;
    for (const weight of weights) {
        if (weight < 0) return NaN;
        if (weight > 0) sum -= (weight / total) * Math.log2(weight / total);
    }
    return total > 0 ? sum : NaN;
}

/** How many tokens the keys are away from the query, on average; NaN as above. */
export function meanDistance(weights: Row, query: number): number {
    let sum = 0;
    for (let key = 0; key < weights.length; key++) {
        const weight = weights[key] ?? NaN;
        if (weight < 0) return NaN;
        sum += weight * Math.abs(query - key);
    }
    return sum / sumOf(weights);
}

/**
 * Of the keys with the largest exact weights, the share that has one of as many largest weights here, and not 0.
 * NaN for a row that sees no more than so many.
 */
export function topRecall(weights: Row, exact: Row): number {
    const wanted = largest(exact);
    if (wanted.length < topKeys || exact.every((weight, key) => !weight || wanted.includes(key)))
        return NaN;
    const least = weights[largest(weights).at(-1) ?? -1] ?? NaN;
    const found = wanted.filter((key) => {
        const weight = weights[key] ?? NaN;
        return weight > 0 && weight >= least;
    });
    return found.length / topKeys;
}

/** Of the exact weights what is on keys that have none here. */
export function droppedWeight(weights: Row, exact: Row): number {
    let sum = 0;
    for (let key = 0; key < exact.length; key++) if (weights[key] === 0) sum += exact[key] ?? NaN;
    return sum;
}

/** The places of the largest positive weights, from the largest on. */
function largest(weights: Row): number[] {
    const places: number[] = [];
    let least = 0;
    for (let key = 0; key < weights.length; key++) {
        const weight = weights[key] ?? NaN;
        if (!(weight > least)) continue;
        const before = places.findIndex((place) => (weights[place] ?? NaN) < weight);
        places.splice(before < 0 ? places.length : before, 0, key);
        if (places.length <= topKeys) continue;
        places.pop();
        least = weights[places.at(-1) ?? -1] ?? NaN;
    }
    return places;
}

function sumOf(weights: Row): number {
    return weights.reduce((sum, weight) => sum + weight, 0);
}

/** Of the numbers that are some; NaN of none. */
export function mean(numbers: readonly number[]): number {
    const known = numbers.filter((number) => !Number.isNaN(number));
    return known.reduce((sum, number) => sum + number, 0) / known.length;
}
