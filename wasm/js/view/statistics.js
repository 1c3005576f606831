/*
 * What rows of weights are like (attn/statistics.h), of any plan that tells its weights. It is no method of plans, as every
 * page that computes would load it.
 */
import { checkInteger, checkWithin } from "../problem/check.js";

const ROWS = 128; // of weights at a time

export async function statistics(plan, options) {
    const { queries, keys } = plan.sizes;
    const { top = Math.min(8, keys), position = 0, first = 0, ...which } = options;
    const { count = queries - checkWithin(first, "first", 0, queries - 1) } = which;
    checkWithin(count, "count", 1, queries - first);
    checkWithin(top, "top", 0, keys);
    checkInteger(position, "position");
    const found = {
        entropy: new Float32Array(count),
        distance: new Float32Array(count),
        columnMass: new Float64Array(keys),
        topKeys: new Int32Array(count * top).fill(-1),
        topWeights: new Float32Array(count * top),
    };
    for (let done = 0; done < count; done += ROWS) {
        const some = Math.min(ROWS, count - done);
        const rows = await plan.weights({ ...which, first: first + done, count: some });
        for (let r = 0; r < some; r++) {
            const row = rows.subarray(r * keys, (r + 1) * keys);
            study(row, position + first + done + r, found, done + r, top);
        }
    }
    return found;
}

/** Writes what there is to say of a row at its place, number `at`. */
function study(row, position, found, at, top) {
    const best = [found.topKeys, found.topWeights].map((all) =>
        all.subarray(at * top, (at + 1) * top),
    );
    [found.entropy[at], found.distance[at]] = spreadOf(row, position);
    row.forEach((weight, key) => {
        found.columnMass[key] += weight;
        rank(weight, key, ...best);
    });
}

/* With W the row's sum: -sum w/W log2(w/W) = log2 W - (sum w log2 w) / W. */
function spreadOf(row, position) {
    let [total, logs, far] = [0, 0, 0];
    row.forEach((weight, key) => {
        if (weight === 0) return;
        total += weight > 0 ? weight : NaN;
        logs += weight * Math.log2(weight);
        far += weight * Math.abs(position - key);
    });
    if (!(total > 0)) return [NaN, NaN];
    return [Math.max(Math.log2(total) - logs / total, 0), far / total];
}

/* Among the largest, which begin as no key of weight 0; a later key of the same weight stands behind. */
function rank(weight, key, keys, weights) {
    let place = weights.length;
    while (place > 0 && weight > weights[place - 1]) place--;
    if (place === weights.length) return;
    for (const all of [keys, weights]) all.copyWithin(place + 1, place);
    keys[place] = key;
    weights[place] = weight;
}
