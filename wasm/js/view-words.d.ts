/** What there is to say of weights: what `libattn/view` says of them, without its element. */

/** What there is to say of weights: see {@link summarize}. */
export interface Summary {
    /** The part of all weights, by size, that is on the diagonal. */
    diagonal: number;
    /** The key with the largest part of all, and that part; null: all weights are 0. */
    column: { key: number; part: number } | null;
    largest: WeightAt | null;
    /** How many are NaN or infinite: they count for nothing. */
    nonfinite: number;
}

export interface WeightAt {
    query: number;
    key: number;
    weight: number;
}

/** What an `<attn-view>` says, and when; numbers and shares come to it as text. */
export interface ViewWords {
    /** The name of a query or a key that is a token. */
    token(token: string): string;
    /** What is seen. */
    weights(backend: string, causal: boolean, queries: number, keys: number): string;
    /** The share of all weight that is on the diagonal. */
    diagonal(share: string): string;
    /** The key with the largest share of all weight. */
    column(key: string, share: string): string;
    /** The largest weight. */
    largest(query: string, key: string, weight: string): string;
    /** How many weights are NaN or infinite. */
    nonfinite(count: number): string;
    /** How far the output is from exact softmax. */
    error(error: string): string;
    /** How keys of the keyboard move. */
    keys: string;
    /** The keys of a row that have most, each with its weight. */
    top(keys: string): string;
    /** What is wrong; the library says it in English. */
    problem(problem: string): string;
}

/** Of weights by rows of `keys`. */
export function summarize(weights: Float32Array, keys: number): Summary;

/** The keys of a row with the largest weights by size: five by default, and none of weight 0. */
export function topKeys(row: Float32Array, most?: number): { key: number; weight: number }[];
