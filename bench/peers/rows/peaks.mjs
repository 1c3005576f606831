// What a machine can do at most, as contenders beside those of a row: they get what its minute allows, too.

import { chromium } from "./contenders.mjs";

const least = { heads: 1, kv_heads: 1, queries: 1, keys: 1, dim: 1, causal: 0, stream: 0 }; // of arrays
const native = (peak, threads) => ({ command: ["peer_peak"], task: { ...least, peak, threads } });
const inNode = (threads) => ({ command: ["node", "wasm_spin.mjs"], task: { ...least, threads } });

/**
 * By their names, as families and contenders have them: multiplications and additions with the best instructions, with
 * AVX2 and in WebAssembly; reading as many bytes as a task has; reading and writing as many; 2: by two threads at once.
 */
export const peaks = {
    flops: native("flops", 1),
    flops2: native("flops", 2),
    avx2: { ...native("flops", 1), env: { ATTN_CPU: "avx2" } },
    read: native("read", 1),
    read2: native("read", 2),
    state: native("state", 1),
    wasm: inNode(1),
    wasm2: inNode(2),
    chromium: { ...chromium("spin"), task: { ...least, threads: 1 } },
};
