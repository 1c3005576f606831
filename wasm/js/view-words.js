/* What weights say in words and numbers: of <attn-view>, and of whoever shows weights. */

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

export function nameOf(names, index) {
    return names ? `“${names[index]}”` : String(index);
}

/** What is seen, in words. */
export function summaryOf({
    weights,
    keys,
    queries,
    backend,
    causal,
    error,
    queryNames,
    keyNames,
}) {
    const { diagonal, column, largest, nonfinite } = summarize(weights, keys);
    const parts = [
        `${backend}${causal ? ", causal" : ""}: ${queries} × ${keys} weights`,
        queries === keys && `${percent(diagonal)} on the diagonal`,
        column && `most looked at ${nameOf(keyNames, column.key)}, ${percent(column.part)}`,
        largest &&
            `largest ${nameOf(queryNames, largest.query)} → ${nameOf(keyNames, largest.key)}, ${number(largest.weight)}`,
        nonfinite > 0 && `${nonfinite} NaN or infinite`,
        error !== null && `error against exact ${number(error)}`,
    ];
    return `${parts.filter(Boolean).join("; ")}.`;
}
