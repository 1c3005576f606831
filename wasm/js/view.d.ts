/**
 * The element `<attn-view>`: a picture of what one backend makes of queries and keys, of a text or of arrays, with
 * what is seen in words. It computes in a worker, one for all views of a page, by `libattn/worker`.
 *
 * ```html
 * <attn-view text="the cat sat on the mat" backend="sparse" params='{ "block": 2 }' causal></attn-view>
 * ```
 *
 * ```js
 * import { defineView } from "libattn/view";
 * defineView();
 * ```
 */
import type { Params } from "./index.js";
import type { ViewWords } from "./view-words.js";

export { AttnError } from "./index.js";
export { summarize, topKeys } from "./view-words.js";
export type { Summary, ViewWords, WeightAt } from "./view-words.js";

/** An array that says its shape: (rows, columns), with heads and batch before them where there are several. */
export interface ViewArray {
    data: Float32Array;
    shape: number[];
}

/** What is shown instead of a text. */
export interface ViewArrays {
    query: ViewArray;
    key: ViewArray;
    /** With it the output's error against exact softmax is told. */
    value?: ViewArray | null | undefined;
    /** Names of the queries, and of the keys where there are as many. */
    tokens?: readonly string[] | null | undefined;
    /** Names of the keys. */
    keyTokens?: readonly string[] | null | undefined;
}

/**
 * The element. Each property but `arrays` and `words` is an attribute, too; what changes together is computed once.
 * Arrows move from cell to cell, and what a cell and its row have stands under the picture. What is wrong is said in
 * its place.
 *
 * Its colours are those of the page that libattn has: `RAMPS` of `libattn/view/words`, light or dark as `color-scheme` is.
 * Style sheets can set `--attn-paper` (of 0), `--attn-above` and `--attn-below` (of the largest weights and of those that
 * are most below 0), `--attn-broken` (of NaN) and `--attn-ink`.
 */
export class AttnView extends HTMLElement {
    /** Every token of it is a query, a key and a value, of the same untrained vector. */
    text: string;
    /** Of a text's vectors; 64 by default. */
    dim: number | null;
    /** "softmax" by default. */
    backend: string;
    /** Parameters of the backend; as an attribute, JSON. */
    params: Params | null;
    causal: boolean;
    scale: number | null;
    /** Which batch and query head is shown; 0 by default. */
    batch: number | null;
    head: number | null;
    /** Instead of the text. */
    arrays: ViewArrays | null;
    /** In another language than English, or otherwise: what is left out is English. It is said at once. */
    words: Partial<ViewWords> | null;
    /** What is shown, by rows of keys; null: nothing. */
    readonly weights: Float32Array | null;
    /** What is wrong, as the library says it, or null. */
    readonly problem: string | null;
    /** Called when something else is shown, or nothing any more: the event "update". */
    addEventListener(
        type: "update",
        listener: (this: AttnView, event: Event) => unknown,
        options?: boolean | AddEventListenerOptions,
    ): void;
    addEventListener(
        type: string,
        listener: EventListenerOrEventListenerObject,
        options?: boolean | AddEventListenerOptions,
    ): void;
}

/** Makes the element known to the page, by another name if you like, or several. A second call does nothing, nor one in Node. */
export function defineView(name?: string): void;

declare global {
    interface HTMLElementTagNameMap {
        "attn-view": AttnView;
    }
}
