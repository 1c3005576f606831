/* The whole library: its builds, and init() on a platform. */
import { Attn } from "./attn.js";
import { makeInit } from "./loader.js";

/* Literal, so that bundlers see them and carry the files along. */
const FILES = {
    relaxed: () => new URL("../dist/libattn.relaxed.wasm", import.meta.url),
    simd: () => new URL("../dist/libattn.simd.wasm", import.meta.url),
    scalar: () => new URL("../dist/libattn.scalar.wasm", import.meta.url),
    threads: () => new URL("../dist/libattn.threads.wasm", import.meta.url),
};

export function makeFullInit(platform) {
    return makeInit(platform, FILES, (...parts) => new Attn(...parts));
}
