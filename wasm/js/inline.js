/* libattn in one file, with its module: for bundlers that carry no files along, such as esbuild. */
import module from "../dist/libattn.simd.wasm"; // build.mjs makes base64 of it
import { simd } from "wasm-feature-detect";
import { Attn } from "./calls/attn.js";
import { makeInit } from "./engine/loader.js";

export { AttnError } from "./problem/errors.js";
const BUILDS = { __proto__: null, simd: { file: () => bytesOf(module), runs: simd } };
export const init = makeInit({}, BUILDS, (...parts) => new Attn(...parts));

function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
}
