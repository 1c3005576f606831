/* libattn in one file, with its module: for bundlers that carry no files along, such as esbuild. */
import simd from "../dist/libattn.simd.wasm"; // build.mjs makes base64 of it
import { Attn } from "./attn.js";
import { makeInit } from "./loader.js";

export { AttnError } from "./errors.js";
export const init = makeInit({}, { simd: () => bytesOf(simd) }, (...parts) => new Attn(...parts));

function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
}
