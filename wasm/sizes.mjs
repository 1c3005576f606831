// What the package weighs: bytes, gzip and brotli, for each build with the JavaScript that loads it.
//
// usage: node sizes.mjs          (fails when a build is missing from dist/)

import { readFileSync } from "node:fs";
import { brotliCompressSync, gzipSync } from "node:zlib";

const dist = new URL("dist/", import.meta.url);

/** What a page loads: an entry with what it imports, and one module. */
export const downloads = {
    simd: { entry: "index.js", module: "libattn.simd.wasm" },
    relaxed: { entry: "index.js", module: "libattn.relaxed.wasm" },
    scalar: { entry: "index.js", module: "libattn.scalar.wasm" },
    threads: { entry: "index.js", module: "libattn.threads.wasm", beside: "thread.js" },
    softmax: { entry: "softmax.js", module: "libattn.softmax.wasm" },
    inline: { entry: "inline.js" },
};

function weigh(file) {
    const bytes = readFileSync(new URL(file, dist));
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

/** These files and all that they import of the package. */
export function withImports(files, found = new Set()) {
    for (const file of files) {
        if (found.has(file)) continue;
        found.add(file);
        const code = readFileSync(new URL(file, dist), "utf8");
        withImports(
            [...code.matchAll(/from\s*["'`]\.\/([^"'`]+)["'`]/g)].map(([, name]) => name),
            found,
        );
    }
    return found;
}

/** The files of a download, each compressed alone. */
export function downloadSize(name) {
    const { entry, module, beside } = downloads[name];
    const js = sum([...withImports(beside ? [entry, beside] : [entry])].map(weigh));
    const wasm = sum(module ? [weigh(module)] : []);
    return { js, wasm, total: sum([js, wasm]) };
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
    for (const name in downloads) {
        for (const [part, size] of Object.entries(downloadSize(name))) {
            if (size.raw === 0) continue;
            const numbers = Object.entries(size).map(([kind, bytes]) => `${kind} ${bytes}`);
            console.log(`${name} ${part}: ${numbers.join(", ")}`);
        }
    }
}
