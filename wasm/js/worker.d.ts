/**
 * libattn/worker: the library in a web worker or a worker thread, for calls that take long: they can
 * be waited for, watched and stopped, and nothing else stands still meanwhile.
 *
 * ```js
 * import { init } from "libattn/worker";
 * const attn = await init();
 * const stop = new AbortController();
 * const out = await attn.attention(q, k, v, {
 *     ...{ heads: 8, dim: 64, signal: stop.signal },
 *     onProgress: (done) => console.log(`${Math.round(100 * done)} %`),
 * });
 * attn.dispose();
 * ```
 */
import type * as full from "./index.js";

export { AttnError } from "./index.js";
export type { AttnErrorCode, Backend, Build, InitOptions } from "./index.js";

/** Any AbortSignal; structural, because not every program has the DOM's types. */
export interface Signal {
    readonly aborted: boolean;
    throwIfAborted(): void;
}

type ArrayElements = Float32Array | full.HalfArray | Int8Array;

/** `strides.out` is refused: the result is a new array. */
export interface AttentionOptions extends full.AttentionOptions {
    /** Ends the call at once: it rejects with the signal's reason. */
    signal?: Signal | undefined;
    /**
     * Called with the part that is done, up to 1: after each key/value head in the layout "bhnd", and
     * at the end alone where the heads cannot be told apart (the layout "bnhd", backend "sketch").
     */
    onProgress?: ((done: number) => void) | undefined;
}

/** Calls run one after the other. For more at a time, make more of these. */
export interface Attn extends Pick<
    full.Attn,
    "version" | "build" | "tier" | "threads" | "backends"
> {
    /**
     * As {@link full.Attn.attention}, in the worker: arrays are copied there, unless they are of
     * shared memory; the result is moved back.
     */
    attention(
        query: full.HalfArray,
        key: ArrayElements,
        value: ArrayElements,
        options: AttentionOptions & { dtype: full.HalfDtype },
    ): Promise<full.HalfArray>;
    attention(
        query: Float32Array,
        key: ArrayElements,
        value: ArrayElements,
        options: AttentionOptions,
    ): Promise<Float32Array>;

    /** End the worker. Calls that wait or run reject with an AttnError "ATTN_ERROR_DISPOSED". */
    dispose(): void;
    [Symbol.dispose](): void;
}

/** Start a worker. */
export function init(options?: full.InitOptions): Promise<Attn>;
