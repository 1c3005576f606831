// WebAssembly's arithmetic (wasm_peak.mjs) in a page.

import { spinner } from "/bench/wasm_peak.mjs";

export async function open({ amount }) {
    const spin = await spinner();
    return { about: "SIMD128", run: () => spin(amount), output: () => new Float32Array() };
}
