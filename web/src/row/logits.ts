/** A backend's own logits, by the weights of a row and its log-sum-exp. */

import { dotProducts, type HeadArrays } from "./place";

const eps = 2 ** -23;
const leastFloat = 2 ** -149; // which a weight may be off by, where it is below 2^-126

/**
 * -Infinity where the weight is 0. Weights and lse are rounded: a logit that rounding alone may tell from
 * the exact one, `scale` times the product, is that one.
 */
export function logitsOf(
    weights: Float32Array,
    lse: number,
    arrays: HeadArrays,
    scale: number,
): Float64Array {
    const dots = dotProducts(arrays);
    const rounding = eps * (arrays.dim + 8) * (1 + Math.abs(lse) + Math.abs(scale) * terms(arrays));
    return Float64Array.from(weights.subarray(0, arrays.seen), (weight, key) => {
        if (weight === 0) return -Infinity;
        const logit = Math.log(weight) + lse;
        const exact = scale * (dots[key] ?? NaN);
        return Math.abs(logit - exact) <= rounding + leastFloat / weight ? exact : logit;
    });
}

/** The largest sum of the absolute terms of a product: what it rounds by is a part of that. */
function terms(arrays: HeadArrays): number {
    const [query, key] = [arrays.query.map(Math.abs), arrays.key.map(Math.abs)];
    const sums = dotProducts({ ...arrays, query, key }).subarray(0, arrays.seen);
    return sums.reduce((most, sum) => Math.max(most, sum), 0);
}
