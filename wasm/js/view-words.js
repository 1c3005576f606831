/* What weights say in words, numbers and colours: of <attn-view>, and of whoever shows weights. */
export { colorize, paletteOf, RAMPS, rootPlace } from "./view/ramp.js";
export { statistics } from "./view/statistics.js";

/**
 * Of weights by rows of `keys`: the part of all of it, by size, that is on the diagonal, the column with most of
 * it, and the largest weight. Rows that have none at all, or what is no number, count for nothing.
 */
export function summarize(weights, keys) {
    const columns = new Float64Array(keys);
    let [all, diagonal, nonfinite] = [0, 0, 0];
    let largest = null;
    weights.forEach((weight, i) => {
        if (!Number.isFinite(weight)) return void nonfinite++;
        const [query, key] = [Math.floor(i / keys), i % keys];
        const size = Math.abs(weight);
        all += size;
        columns[key] += size;
        if (query === key) diagonal += size;
        if (!largest || size > Math.abs(largest.weight)) largest = { query, key, weight };
    });
    const strongest = columns.reduce((best, size, key) => (size > columns[best] ? key : best), 0);
    const part = (size) => (all > 0 ? size / all : 0);
    return {
        ...{ diagonal: part(diagonal), largest, nonfinite },
        column: all > 0 ? { key: strongest, part: part(columns[strongest]) } : null,
    };
}

/** The keys of a row with the largest weights, by size, `most` at most and none of weight 0. */
export function topKeys(row, most = 5) {
    return Array.from(row, (weight, key) => ({ key, weight }))
        .filter(({ weight }) => weight !== 0 && Number.isFinite(weight))
        .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight) || a.key - b.key)
        .slice(0, most);
}

export const number = (value) => {
    const text = Number(value).toPrecision(3);
    return text.includes("e") ? text : String(Number(text));
};
const percent = (part) => `${Math.round(100 * part)} %`;

/** What an element says where it is not told otherwise: ViewWords of view-words.d.ts. */
export const ENGLISH = {
    token: (token) => `“${token}”`,
    weights: (backend, causal, queries, keys) =>
        `${backend}${causal ? ", causal" : ""}: ${queries} × ${keys} weights`,
    diagonal: (share) => `${share} on the diagonal`,
    column: (key, share) => `most looked at ${key}, ${share}`,
    largest: (query, key, weight) => `largest ${query} → ${key}, ${weight}`,
    nonfinite: (count) => `${count} NaN or infinite`,
    error: (error) => `error against exact ${error}`,
    keys: "Arrows move from cell to cell.",
    top: (keys) => `most: ${keys}`,
    problem: (problem) => problem,
};

export function nameOf(names, index, words) {
    return names ? words.token(names[index]) : String(index);
}

/** What is seen, in words. */
export function summaryOf(shown, words) {
    const { weights, keys, queries, backend, causal, error, queryNames, keyNames } = shown;
    const { diagonal, column, largest, nonfinite } = summarize(weights, keys);
    const nameQuery = (query) => nameOf(queryNames, query, words);
    const nameKey = (key) => nameOf(keyNames, key, words);
    const parts = [
        words.weights(backend, causal, queries, keys),
        queries === keys && words.diagonal(percent(diagonal)),
        column && words.column(nameKey(column.key), percent(column.part)),
        largest &&
            words.largest(nameQuery(largest.query), nameKey(largest.key), number(largest.weight)),
        nonfinite > 0 && words.nonfinite(nonfinite),
        error !== null && words.error(number(error)),
    ];
    return `${parts.filter(Boolean).join("; ")}.`;
}
