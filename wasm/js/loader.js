/*
 * From whatever init() was given to an instance of the module. The module imports nothing, so there
 * is no glue: compile, instantiate, initialize.
 */
import { Attn } from "./attn.js";
import { checkBytes, checkOneOf, checkOptions } from "./check.js";
import { AttnError } from "./errors.js";

/* Literal, so that bundlers see them and carry the files along. */
const FILES = {
    simd: new URL("../dist/libattn.simd.wasm", import.meta.url),
    scalar: new URL("../dist/libattn.scalar.wasm", import.meta.url),
};

/* A module whose one function is `i32.const 0; i8x16.splat; drop`: valid where SIMD128 is. */
const SIMD_PROBE = new Uint8Array([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00], // magic, version
    ...[0x01, 0x04, 0x01, 0x60, 0x00, 0x00], // one type: () -> ()
    ...[0x03, 0x02, 0x01, 0x00], // one function of that type
    ...[0x0a, 0x09, 0x01, 0x07, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0x1a, 0x0b], // its body
]);

/** Makes init() for a platform: `readUrl` gives the bytes behind a URL there. */
export function makeInit(readUrl) {
    return async function init(source, options = {}) {
        checkOptions(options, ["build"], "init");
        const { build = hasSimd() ? "simd" : "scalar" } = options;
        checkOneOf(build, Object.keys(FILES), "build");
        const module = await compile((await source) ?? FILES[build], readUrl);
        const attn = new Attn(await instantiate(module));
        if (options.build === undefined || attn.build === build) return attn;
        throw new AttnError(
            "ATTN_ERROR_LOAD",
            `the module is the ${attn.build} build, not ${build}`,
        );
    };
}

export async function responseBytes(response) {
    if (response.ok !== false) return response.arrayBuffer();
    throw new AttnError("ATTN_ERROR_LOAD", `${response.url}: HTTP status ${response.status}`);
}

function hasSimd() {
    return WebAssembly.validate(SIMD_PROBE);
}

async function compile(source, readUrl) {
    if (source instanceof WebAssembly.Module) return source;
    const bytes = await bytesOf(source, readUrl);
    return WebAssembly.compile(bytes).catch((cause) => {
        throw new AttnError("ATTN_ERROR_LOAD", `cannot compile: ${cause.message}`, { cause });
    });
}

async function bytesOf(source, readUrl) {
    if (typeof source.href === "string") return readUrl(new URL(source.href));
    if (typeof source === "string") return readUrl(new URL(source, globalThis.location?.href));
    if (typeof source.arrayBuffer === "function") return responseBytes(source);
    return checkBytes(source, "source").slice(); // a copy, because compile() refuses shared memory
}

async function instantiate(module) {
    const { exports } = await WebAssembly.instantiate(module, {}).catch((cause) => {
        throw new AttnError("ATTN_ERROR_LOAD", `not libattn: ${cause.message}`, { cause });
    });
    exports._initialize?.();
    return exports;
}
