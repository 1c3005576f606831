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

/** Key position of query i, and the keys [first, last) that causal, window and lengths leave it. */
function range({ n, m = n, causal, past = 0, window = [-1, -1], lengths }, b, i) {
    const keys = lengths ? lengths[b] : m;
    const position = causal === "bottom-right" ? i + keys - n : past + i;
    const first = window[0] < 0 ? 0 : Math.max(0, position - window[0]);
    let last = window[1] < 0 ? keys : Math.min(keys, position + window[1] + 1);
    if (causal) last = Math.min(last, position + 1);
    return { position, first, last };
}

/**
 * out, lse, weights and scores (by stage, as ONNX Attention's qk_matmul_output_mode numbers them), with
 * tolerances, in C order. Rules, all optional: scale, causal ("top-left" or "bottom-right"), past (m
 * counts it), window [left, right], softcap, mask and bias (functions of b, h, i, j), lengths (by
 * batch), sinks and slopes (by head).
 */
export function attention(problem, q, k, v) {
    const { B = 1, H = 1, Hkv = H, n, m = n, d, dv = d, scale = 1 / Math.sqrt(d) } = problem;
    const { softcap = 0, mask = () => true, bias = () => 0, sinks, slopes } = problem;
    const result = {
        ...{ out: [], tolerance: [], lse: [], logitTolerance: [], weights: [] },
        ...{ scores: [[], [], [], []], scoresTolerance: [[], [], [], []] },
    };
    for (let b = 0; b < B; b++)
        for (let h = 0; h < H; h++) for (let i = 0; i < n; i++) row(b, h, i);
    return result;

    /** Logit (b, h, i, j): [value, bound] of its three stages. */
    function logit(b, h, i, j, { position, first, last }) {
        const [query, key] = [((b * H + h) * n + i) * d, (kvHead(b, h) * m + j) * d];
        let [raw, terms] = [0, 0];
        for (let c = 0; c < d; c++) {
            raw += scale * q[query + c] * k[key + c];
            terms += Math.abs(scale * q[query + c] * k[key + c]);
        }
        // A sum of d terms, each of two roundings; then tanh, whose slope is below 1, to a few units
        // of its range; then two more terms to add.
        const rawBound = UNIT * (d + 2) * terms;
        const capped = softcap ? softcap * Math.tanh(raw / softcap) : raw;
        const cappedBound = rawBound + (softcap ? 8 * UNIT * softcap : 0);
        const more = [bias(b, h, i, j), slopes ? -slopes[h] * Math.abs(position - j) : 0];
        const total = capped + more[0] + more[1];
        const bound = cappedBound + 3 * UNIT * (Math.abs(capped) + Math.abs(more[0]) - more[1]);
        const seen = first <= j && j < last && mask(b, h, i, j) && more[0] !== -Infinity;
        return [[raw, rawBound], [capped, cappedBound], seen ? [total, bound] : [-Infinity, 0]];
    }

    function kvHead(b, h) {
        return b * Hkv + Math.floor(h / (H / Hkv));
    }

    function row(b, h, i) {
        const keys = range(problem, b, i);
        const logits = Array.from({ length: m }, (_, j) => logit(b, h, i, j, keys));
        const masked = logits.map((stages) => stages[2][0]);
        const sink = sinks ? sinks[h] : -Infinity;
        const maximum = Math.max(sink, ...masked);
        const shift = maximum === -Infinity ? 0 : maximum;
        const powers = masked.map((s) => Math.exp(s - shift));
        const sum = powers.reduce((a, x) => a + x, Math.exp(sink - shift));
        const weights = powers.map((x) => (sum ? x / sum : 0));
        // A weight is off by its logit's bound twice and a few units for exp, a sum by its terms.
        const logitBound = Math.max(...logits.map((stages) => stages[2][1]));
        const relative = 2 * logitBound + UNIT * (m + 16);
        for (let c = 0; c < dv; c++) {
            const terms = weights.map((w, j) => (w ? w * v[(kvHead(b, h) * m + j) * dv + c] : 0));
            result.out.push(terms.reduce((a, x) => a + x, 0));
            result.tolerance.push(relative * terms.reduce((a, x) => a + Math.abs(x), 0));
        }
        const rowTolerance = relative + UNIT * (Math.abs(shift) + Math.abs(Math.log(sum || 1)));
        result.lse.push(shift + Math.log(sum));
        result.logitTolerance.push(rowTolerance);
        result.weights.push(...weights);
        for (let j = 0; j < m; j++) {
            logits[j].forEach(([value, bound], stage) => {
                result.scores[stage].push(value);
                result.scoresTolerance[stage].push(
                    value === -Infinity ? 0 : bound + UNIT * Math.abs(value),
                );
            });
            result.scores[3].push(weights[j]);
            result.scoresTolerance[3].push(2 * rowTolerance * weights[j]);
        }
    }
}
