// Softmax attention in double precision, with a bound on what float32 may add to it.

const UNIT = 2 ** -24; // half the distance from 1 to the next float

/** Deterministic numbers in [-1, 1): a linear congruential generator (Knuth's MMIX constants). */
export function random(count, seed) {
    let state = BigInt(seed);
    return Array.from({ length: count }, () => {
        state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
        return Math.fround(Number(state >> 40n) / 2 ** 23 - 1);
    });
}

/**
 * out, lse, weights and a tolerance for each element of out, in C order. `limit(i)` is the first key
 * that query i may not see.
 */
export function attention({ B = 1, H = 1, Hkv = H, n, m = n, d, dv = d, scale, limit }, q, k, v) {
    const factor = scale ?? 1 / Math.sqrt(d);
    const result = { out: [], lse: [], weights: [], tolerance: [], logitTolerance: [] };
    for (let b = 0; b < B; b++) {
        for (let h = 0; h < H; h++) {
            const kv = b * Hkv + Math.floor(h / (H / Hkv));
            for (let i = 0; i < n; i++) {
                const end = Math.max(0, Math.min(m, limit ? limit(i) : m));
                row(
                    result,
                    factor,
                    end,
                    q.slice(((b * H + h) * n + i) * d),
                    k.slice(kv * m * d),
                    v.slice(kv * m * dv),
                );
            }
        }
    }
    return result;

    function row(result, factor, end, q, k, v) {
        const logits = new Array(end).fill(0);
        let magnitude = 0; // of the terms of the largest logit
        for (let j = 0; j < end; j++) {
            let terms = 0;
            for (let c = 0; c < d; c++) {
                logits[j] += factor * q[c] * k[j * d + c];
                terms += Math.abs(factor * q[c] * k[j * d + c]);
            }
            magnitude = Math.max(magnitude, terms);
        }
        const maximum = Math.max(...logits);
        const sum = logits.reduce((total, s) => total + Math.exp(s - maximum), 0);
        const weights = logits.map((s) => Math.exp(s - maximum) / sum);
        // A logit is off by (d + 2) units of its terms, a weight by that twice and a few units for exp,
        // a sum of `end` terms by `end` units.
        const logitError = UNIT * (d + 2) * magnitude;
        const relative = 2 * logitError + UNIT * (end + 16);
        for (let c = 0; c < dv; c++) {
            let out = 0;
            let terms = 0;
            for (let j = 0; j < end; j++) {
                out += weights[j] * v[j * dv + c];
                terms += Math.abs(weights[j] * v[j * dv + c]);
            }
            result.out.push(out);
            result.tolerance.push(relative * terms);
        }
        result.lse.push(end ? maximum + Math.log(sum) : -Infinity);
        result.logitTolerance.push(relative + UNIT * (Math.abs(maximum) + Math.log(sum)));
        for (let j = 0; j < m; j++) result.weights.push(j < end ? weights[j] : 0);
    }
}
