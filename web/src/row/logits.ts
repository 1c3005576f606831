/** A backend's own logits, by the weights of a row and its log-sum-exp. */

import { dotProducts, type HeadArrays } from "./place";

const eps = 2 ** -23;
const leastFloat = 2 ** -149; // which a weight may be off by, where it is below 2^-126

/**
 * Of all keys; -Infinity where the weight is 0. Weights and lse are rounded: a logit that rounding alone may tell
 * from the exact one is that one.
 */
export function logitsOf(
    weights: Float32Array,
    lse: number,
    arrays: HeadArrays,
    exact: Float64Array,
): Float64Array {
    const most = largestLogit(arrays);
    const rounding = eps * (arrays.dim + 8) * (1 + Math.abs(lse) + most);
    return Float64Array.from(weights, (weight, key) => {
        if (weight === 0) return -Infinity;
        const logit = Math.log(weight) + lse;
        const truth = exact[key] ?? NaN;
        return Math.abs(logit - truth) <= rounding + leastFloat / weight ? truth : logit;
    });
}

/** Is a logit of this size the exact one, but for what the sum of its terms rounds? */
export function isExact(logit: number, exact: number): boolean {
    return Math.abs(logit - exact) <= 1e-3 * Math.max(1, Math.abs(exact));
}

/** The largest sum of the absolute terms of a logit: what it rounds by is a part of that. */
function largestLogit(arrays: HeadArrays): number {
    const { ruling, at, keys } = arrays;
    const [query, key] = [arrays.query.map(Math.abs), arrays.key.map(Math.abs)];
    const sums = dotProducts({ ...arrays, query, key });
    const seen = sums.filter((_, key) => ruling.sees(at, key));
    const far = ruling.slope * Math.max(at, keys - 1 - at);
    return Math.abs(ruling.scale) * seen.reduce((most, sum) => Math.max(most, sum), 0) + far;
}
