// What a machine can do at most, as contenders beside those of a row: they get what its minute allows, too.

import { chromium } from "./contenders.mjs";

const native = (peak, more) => ({ command: ["peer_peak"], task: { peak, ...more } });
const inNode = (threads) => ({ command: ["node", "wasm_spin.mjs"], task: { threads } });

/**
 * By their names, as families and contenders have them: multiplications and additions with the best instructions, with
 * AVX2 and in WebAssembly; reading memory; reading and writing a state; 2: by two threads at once.
 */
export const peaks = {
    flops: native("flops", { threads: 1 }),
    flops2: native("flops", { threads: 2 }),
    avx2: { ...native("flops", { threads: 1 }), env: { ATTN_CPU: "avx2" } },
    read: native("read", { threads: 1 }),
    read2: native("read", { threads: 2 }),
    state: native("state", { threads: 1 }),
    wasm: inNode(1),
    wasm2: inNode(2),
    chromium: chromium("spin"),
};
