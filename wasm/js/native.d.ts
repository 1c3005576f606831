/**
 * libattn/native: libattn at the speed of C in Node, by an addon. The interface is that of libattn;
 * where no addon is installed for the platform, as in browsers, the WebAssembly module serves.
 *
 * ```js
 * import { init } from "libattn/native";
 * const attn = await init({ threads: 4 });
 * console.log(attn.build, attn.tier, attn.reason); // "native", "avx512", null
 * const out = await attn.attentionAsync(q, k, v, { heads: 8, dim: 64, causal: true });
 * ```
 *
 * run() uses arrays where they are, without copies; only an output that overlaps another array of the
 * same call is written elsewhere first. runAsync() and attentionAsync() compute in libuv's thread pool
 * (UV_THREADPOOL_SIZE, 4 at a time by default, which files and DNS share), where a buffer that was
 * transferred or resized would be memory that is gone: they copy what they read as they start, and
 * write results when they are done, an AttnError where the array has been taken away by then. Tensors
 * and arrays of shared memory, which nobody can take away, are used in place: leave those alone until
 * the promise is settled.
 */
import type { Attn, Plugin, Source } from "./index.js";

export type * from "./index.js";
export { AttnError } from "./index.js";

/** Options of {@link init}. */
export interface NativeOptions {
    /** Threads that share the work of a run, from 1 (the default) to 1024. Results do not depend on it. */
    threads?: number | null | undefined;
    /** The highest instruction set to use ("scalar", "sse4", "avx2", ...); the best by default. */
    tier?: string | null | undefined;
    /** `false`: an AttnError "ATTN_ERROR_LOAD" where there is no addon. `true` by default. */
    fallback?: boolean | null | undefined;
    /** The path of an addon that is to be used instead of the installed one. */
    addon?: string | null | undefined;
}

/** The library: `build` is "native", or the WebAssembly build that serves. */
export interface NativeAttn extends Attn {
    /** 1 in WebAssembly. */
    readonly threads: number;
    /** Why WebAssembly serves: where an addon was looked for, and what was wrong. `null` natively. */
    readonly reason: string | null;

    /**
     * Load a plugin. Natively it is a shared object (.so, .dylib), as `./dev plugin FILE.c -o OUT.so` builds one: its
     * path, from the working directory on, or its file: URL. Its backends are then like the built-in ones; all of them
     * come in or, on an error, none. A plugin is code in this process: load only what you trust. Its file stays open
     * until dispose(), also after unload(). Where WebAssembly serves ({@link reason}) it is as in libattn.
     *
     * @param source natively a path or a file: URL.
     * @param options `name`: what to call it; its path by default.
     */
    loadPlugin(
        source: Source,
        options?: { name?: string | null | undefined } | null | undefined,
    ): Promise<Plugin>;
}

/** Start the library. Each call makes a context, and threads, of its own. */
export function init(options?: NativeOptions | null | undefined): Promise<NativeAttn>;
