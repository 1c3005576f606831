/*
 * Threads: workers that are instances of the same module in the same memory, each with a stack and
 * thread-local memory of its own. What they do stands in src/threads.c.
 */
import { AttnError, noMemory, notLoaded } from "../problem/errors.js";
import { instantiate } from "../engine/loader.js";

const PAGES = 32; // of 64 KiB, as the module asks for
const MOST = [65536, 32768, 16384]; // an engine may not give so much address space

/** Makes what opens a module with so many threads; `startThread(job)` starts one beside this. */
export function makeOpenPool(startThread) {
    return async function openPool(module, threads) {
        const memory = makeMemory();
        const { exports } = await instantiate(module, { env: { memory } });
        if (!exports.attnjs_open_threads) throw new AttnError("ATTN_ERROR_LOAD", "not libattn");
        exports.__wasm_call_ctors?.();
        const handle = exports.attnjs_open_threads(threads, Number(maySleep())) >>> 0;
        if (handle === 0) throw noMemory("a context");
        const pool = exports.attnjs_pool(handle) >>> 0;
        const jobs = [];
        for (let number = 1; number < threads; number++) {
            jobs.push({ module, memory, pool, number, ...makeRoom(exports) });
        }
        await Promise.all(jobs.map(startThread)).catch((cause) => {
            exports.attnjs_close(handle);
            throw notLoaded(cause);
        });
        return { exports: { __proto__: null, ...exports, memory }, handle };
    };
}

/** In a new thread: becomes a worker, and returns what it is to do from then on. */
export async function joinPool({ module, memory, pool, number, stack, local }) {
    const { exports } = await WebAssembly.instantiate(module, { env: { memory } });
    exports._emscripten_stack_restore(stack);
    exports.__wasm_init_tls(local);
    return () => exports.attnjs_work(pool, number);
}

function makeRoom(exports) {
    const stack = exports.attnjs_worker_stack() >>> 0;
    const local = exports.attnjs_worker_local() >>> 0;
    if (stack === 0 || local === 0) throw noMemory("a thread");
    return { stack, local };
}

function makeMemory() {
    if (typeof SharedArrayBuffer === "undefined" || globalThis.crossOriginIsolated === false) {
        throw new AttnError(
            "ATTN_ERROR_UNSUPPORTED",
            "threads need shared memory: the page must be cross-origin isolated (COOP and COEP)",
        );
    }
    for (const maximum of MOST) {
        try {
            return new WebAssembly.Memory({ initial: PAGES, maximum, shared: true });
        } catch {
            continue;
        }
    }
    throw noMemory("threads");
}

/** Not in a browser's window. */
function maySleep() {
    try {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
        return true;
    } catch {
        return false;
    }
}
