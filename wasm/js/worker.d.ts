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
export type * from "./index.js";

/** What calls in the worker can have besides. */
export interface LongOptions {
    /** Ends the call at once: it rejects with the signal's reason. */
    signal?: full.SignalLike | null | undefined;
    /**
     * Called with the part that is done, up to 1: after each key/value head in the layout "bhnd", and
     * at the end alone where the heads cannot be told apart (the layout "bnhd", backend "sketch"). Where
     * it throws, the call ends and rejects with that.
     */
    onProgress?: ((done: number) => void) | null | undefined;
}

/** Calls run one after the other. For more at a time, make more of these. */
export interface Attn extends Pick<
    full.Attn,
    "version" | "build" | "tier" | "threads" | "backends"
> {
    /**
     * As {@link full.Attn.attention}, in the worker: arrays are copied there, unless they are of
     * shared memory; results are moved back. What is wrong with the arguments is the same error. Tensors
     * are another instance's and refused.
     */
    attention<
        D extends full.OutDtype = "f32",
        K extends full.Dtype = D,
        Out extends full.Output<D> = full.NewTypes[D],
    >(
        call: full.AttentionCall<D, K, Out> & LongOptions,
    ): Promise<full.RunResult<full.Written<Out>>>;
    attention<
        D extends full.OutDtype = "f32",
        K extends full.Dtype = D,
        Out extends full.Output<D> = full.NewTypes[D],
    >(
        query: full.Elements<D>,
        key: full.Elements<K>,
        value: full.Elements<K>,
        options?: (full.AttentionOptions<D, K, Out> & LongOptions) | null | undefined,
    ): Promise<full.Written<Out>>;

    /** End the worker. Calls that wait or run reject with an AttnError "ATTN_ERROR_DISPOSED". */
    dispose(): void;
    [Symbol.dispose](): void;
}

/** Start a worker. */
export function init(options?: full.InitOptions | null | undefined): Promise<Attn>;
