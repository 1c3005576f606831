/* What init() of libattn/native takes, and what it does where there is no addon. */
import { checkText, checkWithin, readOptions } from "../problem/check.js";
import { AttnError } from "../problem/errors.js";

const MOST_THREADS = 1024; // the C library's

export function readNative(given) {
    const names = ["threads", "tier", "fallback", "addon"];
    const options = { threads: 1, fallback: true, ...readOptions(given ?? {}, names, "init") };
    checkWithin(options.threads, "threads", 1, MOST_THREADS);
    for (const name of ["tier", "addon"]) {
        if (options[name] !== undefined) checkText(options[name], name);
    }
    return options;
}

/** WebAssembly, which says the reason, or an error. */
export function withoutAddon(initWasm, { fallback }, reason) {
    if (!fallback) throw new AttnError("ATTN_ERROR_LOAD", `no addon: ${reason}`);
    return initWasm(null, null, { threads: 1, reason });
}
