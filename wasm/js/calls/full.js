/* The whole library: its builds, and init() on a platform. */
import { relaxedSimd, simd } from "wasm-feature-detect";
import { Attn } from "./attn.js";
import { always, makeInit } from "../engine/loader.js";

/* URLs are literal, so that bundlers see them and carry the files along. */
const BUILDS = {
    __proto__: null,
    relaxed: {
        file: () => new URL("../../dist/libattn.relaxed.wasm", import.meta.url),
        runs: relaxedSimd,
    },
    simd: { file: () => new URL("../../dist/libattn.simd.wasm", import.meta.url), runs: simd },
    scalar: {
        file: () => new URL("../../dist/libattn.scalar.wasm", import.meta.url),
        runs: always,
    },
    threads: {
        file: () => new URL("../../dist/libattn.threads.wasm", import.meta.url),
        runs: always,
    },
};

export function makeFullInit(platform) {
    return makeInit(platform, BUILDS, (...parts) => new Attn(...parts));
}
