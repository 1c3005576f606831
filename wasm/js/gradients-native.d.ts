/**
 * libattn/gradients/native: libattn/gradients at the speed of C in Node, by the addon of libattn/native, with
 * threads. Where there is none the WebAssembly module of libattn/gradients serves.
 *
 * ```js
 * import { init } from "libattn/gradients/native";
 * const attn = await init({ threads: 4 });
 * const gradients = attn.gradients(q, k, v, outGradient, { heads: 8, dim: 64, causal: true });
 * ```
 *
 * Gradients are computed while the call lasts: there is no form of them with promises.
 */
import type { WithGradients } from "./gradients.js";
import type { NativeAttn, NativeOptions } from "./native.js";

export type * from "./gradients.js";
export type { NativeAttn, NativeOptions } from "./native.js";
export { AttnError } from "./index.js";

/** The library: `build` is "native", or the WebAssembly build that serves. */
export interface NativeGradientsAttn extends Omit<NativeAttn, "plan">, WithGradients {
    [Symbol.dispose](): void;
}

/** Start the library. Each call makes a context, and threads, of its own. */
export function init(options?: NativeOptions | null | undefined): Promise<NativeGradientsAttn>;
