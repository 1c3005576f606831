/**
 * Data for attention: text as vectors, and NumPy's array files. A small module of its own, which the first
 * call loads; the functions work without libattn, and give the same numbers as the command line's
 * `attn embed` and its reading of files.
 *
 * ```js
 * import { embed, readNpy } from "libattn/data";
 * const { x, tokens } = await embed("the cat sat on the mat", 32);
 * const { data, shape } = await readNpy(await (await fetch("q.npy")).arrayBuffer());
 * ```
 */

import type { SourceOptions } from "./index.js";

export { AttnError } from "./index.js";
export type { AttnErrorCode } from "./index.js";

/** Text as a matrix: what {@link embed} gives. */
export interface Embedding {
    /** rows * dim elements, one row for each token. */
    x: Float32Array<ArrayBuffer>;
    /** The text of each row. */
    tokens: string[];
    rows: number;
    dim: number;
}

/** A .npy file: what {@link readNpy} gives. As it says its shape, it can be an argument of attention(). */
export interface NpyArray {
    /** In C order (last axis fastest), whatever the order in the file. */
    data: Float32Array<ArrayBuffer>;
    shape: number[];
}

/**
 * Text as input for attention: hashed character n-grams plus sinusoidal positions. `dim`, at least 2, is
 * how many numbers each token becomes. The promise rejects with an AttnError: "ATTN_ERROR_SHAPE" for a
 * dim below 2, "ATTN_ERROR_MEMORY", "ATTN_ERROR_LOAD" where the module does not load.
 */
export function embed(text: string, dim: number): Promise<Embedding>;

/**
 * Read a .npy file: float16, float32 or float64 of either byte order, rank 2 to 4, C or Fortran order. The bytes
 * are read as they are at the call. The promise rejects with an AttnError that says what is wrong with the
 * file.
 */
export function readNpy(bytes: ArrayBuffer | ArrayBufferView): Promise<NpyArray>;

/**
 * Load the module now, or another one than the package's file, for the calls that follow: `libattn/data.wasm` from the
 * same kinds of source as libattn's init(). Hosts that compile nothing, such as Cloudflare Workers, need it. Gives the
 * functions of this entry. Rejects with an AttnError "ATTN_ERROR_LOAD" where it is no such module, which changes nothing.
 */
export function init(options?: SourceOptions | null | undefined): Promise<{
    readonly embed: typeof embed;
    readonly readNpy: typeof readNpy;
}>;
