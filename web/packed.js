// Beside each file of a first view another one, .br: the same, packed as well as it can be, which takes too long to be done
// while a browser waits. Servers that know such files send them (web/README.md).

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";

const first = "index.html";

/** The builds of the library, of which a browser takes one, and what runs beside the page. */
const isBeside = (name) =>
    /libattn\.(relaxed|scalar|simd|threads)-[\w-]+\.wasm$/.test(name) ||
    /(served|input-worker|opening)-[\w-]+\.js$/.test(name);

export function packed() {
    return {
        name: "packed",
        apply: "build",
        async writeBundle({ dir }, bundle) {
            const page = String(bundle[first].source);
            const named = [...page.matchAll(/"\.\/(assets\/[\w.-]+\.(?:js|css))"/g)];
            const names = [
                ...named.map(([, name]) => name),
                ...Object.keys(bundle).filter(isBeside),
            ];
            await Promise.all([first, ...new Set(names)].map((name) => pack(join(dir, name))));
        },
    };
}

async function pack(path) {
    const bytes = await readFile(path);
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params })); // quality 11
}
