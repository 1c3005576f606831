/** What there is to say of weights, and their colours: what `libattn/view` says and shows of them, without its element. */

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

/** Which rows {@link statistics} is to study. */
export interface StatisticsOptions {
    /** How many keys a row has in `topKeys`; 8 by default, and no more than there are keys. */
    top?: number;
    /** The key beside which query 0 stands, from which distances count: 0 by default, `past` of a plan that has one. */
    position?: number;
    /** First query; 0 by default. */
    first?: number;
    /** How many queries; all from `first` on by default. */
    count?: number;
}

/**
 * What rows of weights are like. Shares are weights divided by their row's sum. A row has none where no key is
 * visible, or a weight is below 0 (linear attention with some feature maps) or not finite.
 */
export interface Statistics {
    /** Of each row, in bits: 0 where one key has all, log2 k where k keys have the same; NaN without shares. */
    entropy: Float32Array<ArrayBuffer>;
    /** Of each row: how many tokens the keys are away from the query, on average by shares; NaN without. */
    distance: Float32Array<ArrayBuffer>;
    /** Of each key: the sum of the weights that all these rows give to it. */
    columnMass: Float64Array<ArrayBuffer>;
    /**
     * Of each row the keys of its largest weights, largest first: number k of row r is at r * top + k. -1 where no
     * more are above 0.
     */
    topKeys: Int32Array<ArrayBuffer>;
    /** Their weights; 0 where there are no more. */
    topWeights: Float32Array<ArrayBuffer>;
}

/** A plan of `libattn`, `libattn/native` or `libattn/worker`, and what its `weights()` takes. */
interface Weighing<Options> {
    readonly sizes: { readonly queries: number; readonly keys: number };
    weights(options: Options): Float32Array | Promise<Float32Array>;
}

/**
 * What rows of a plan's weights are like, without a matrix of queries by keys: for every backend, and for as many
 * tokens as you like. The other options are those of `plan.weights()`. Costs as much time as the weights of the rows.
 *
 * ```ts
 * const { entropy, topKeys } = await statistics(plan, { query, key, head: 3 });
 * ```
 */
export function statistics<Options extends object>(
    plan: Weighing<Options>,
    options: StatisticsOptions & Options,
): Promise<Statistics>;

/** The keys of a row with the largest weights by size: five by default, and none of weight 0. */
export function topKeys(row: Float32Array, most?: number): { key: number; weight: number }[];

/** Colours #rrggbb from that of 0 on: of what is above, and of what is below. */
export interface Ramp {
    above: readonly string[];
    below: readonly string[];
}

/** The colours of `<attn-view>`, on light and on dark pages. */
export const RAMPS: Readonly<Record<"light" | "dark", Ramp>>;

/** 511 colours as RGBA bytes, from -1 to 1: between those of a ramp in even steps (Oklab). */
export function paletteOf(ramp: Ramp): Uint8ClampedArray;

/** Where `<attn-view>` has a weight between -1 and 1: the root of its part of `max`, by its sign. */
export function rootPlace(weight: number, max: number): number;

/**
 * Writes the colours of weights as RGBA pixels, as an `ImageData` has them. `place` says where a weight stands between
 * -1 and 1; `broken` is the colour, three bytes, of NaN and what is infinite.
 *
 * ```ts
 * const palette = paletteOf(RAMPS.light);
 * colorize(weights, (weight) => rootPlace(weight, 1), palette, new ImageData(keys, queries).data);
 * ```
 */
export function colorize(
    weights: Float32Array,
    place: (weight: number) => number,
    palette: Uint8ClampedArray,
    pixels: Uint8ClampedArray,
    broken?: readonly [red: number, green: number, blue: number],
): void;
