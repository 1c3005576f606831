// What the package weighs: bytes, gzip and brotli, for each build with the JavaScript that loads it.
//
// usage: node sizes.mjs          (fails when a build is missing from dist/)

import { readFileSync, readdirSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";

const js = new URL("js/", import.meta.url);
const dist = new URL("dist/", import.meta.url);
export const builds = ["simd", "scalar"];

function weigh(file) {
    const bytes = readFileSync(file);
    return {
        raw: bytes.length,
        gzip: gzipSync(bytes, { level: 9 }).length,
        brotli: brotliCompressSync(bytes).length, // at its highest quality, the default
    };
}

function sum(weights) {
    const total = { raw: 0, gzip: 0, brotli: 0 };
    for (const weight of weights) for (const kind in total) total[kind] += weight[kind];
    return total;
}

/** The files a page loads for a build: all modules (each compressed alone) and one .wasm. */
export function buildSize(build) {
    const modules = readdirSync(js).filter((name) => name.endsWith(".js") && name !== "node.js");
    const code = sum(modules.map((name) => weigh(new URL(name, js))));
    const wasm = weigh(new URL(`libattn.${build}.wasm`, dist));
    return { js: code, wasm, total: sum([code, wasm]) };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
    for (const build of builds) {
        for (const [part, size] of Object.entries(buildSize(build))) {
            const numbers = Object.entries(size).map(([kind, bytes]) => `${kind} ${bytes}`);
            console.log(`${build} ${part}: ${numbers.join(", ")}`);
        }
    }
}
