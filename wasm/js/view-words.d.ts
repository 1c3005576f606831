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

/** Of weights by rows of `keys`. */
export function summarize(weights: Float32Array, keys: number): Summary;

/** The keys of a row with the largest weights by size: five by default, and none of weight 0. */
export function topKeys(row: Float32Array, most?: number): { key: number; weight: number }[];
