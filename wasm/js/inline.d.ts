/**
 * libattn/inline: libattn in one JavaScript file, with its module (SIMD128, one thread) as text in it:
 * for bundlers that leave `new URL("file", import.meta.url)` as it is, such as esbuild, and for
 * bundles that are to be one file. A quarter more to download; otherwise the same interface, in
 * browsers, workers and Node.
 *
 * ```js
 * import { init } from "libattn/inline";
 * const attn = await init();
 * const out = attn.attention(q, k, v, { heads: 8, dim: 64, causal: true });
 * ```
 */
import type { SourceOptions, WasmAttn } from "./index.js";

export type * from "./index.js";
export { AttnError } from "./index.js";

/** Start the library; see libattn's init(). URLs, also loadPlugin()'s, are read by fetch(). */
export function init(options?: SourceOptions | null | undefined): Promise<WasmAttn>;
