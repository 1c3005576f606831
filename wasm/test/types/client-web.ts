/* What only programs with the DOM's types, or Node's, have: packed.test.mjs compiles it. */
import { init } from "libattn";

await init({ source: new URL("libattn.wasm", "https://example.org") });
await init({ source: fetch("libattn.wasm") });
await init({ source: new Response() });
await init({ source: new Blob() });
await init({ source: fetch("libattn.wasm"), build: "simd" });
const module: WebAssembly.Module = await WebAssembly.compileStreaming(fetch("libattn.wasm"));
await init({ source: module, build: "simd" });
const attn = await init();
const x = new Float32Array(64);
await attn.attentionAsync(x, x, x, { dim: 8, signal: AbortSignal.timeout(1000) });
