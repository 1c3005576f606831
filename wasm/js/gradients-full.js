/* The library with gradients: its builds, and init() on a platform. */
import { GradientsAttn } from "./gradients-attn.js";
import { makeInit } from "./loader.js";

/* Literal, so that bundlers see them and carry the files along. */
const FILES = {
    relaxed: () => new URL("../dist/libattn.gradients-relaxed.wasm", import.meta.url),
    simd: () => new URL("../dist/libattn.gradients-simd.wasm", import.meta.url),
};

/* libattn/inline has no gradients. */
const WAY = "pass the module: init({ source })";

export function makeGradientsInit(platform) {
    return makeInit(platform, FILES, (...parts) => new GradientsAttn(...parts), WAY);
}
