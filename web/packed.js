// Beside each module of the library that a first view can load a file .br: the same, packed as well as it can be, which
// takes too long to be done while a browser waits. Servers that know such files send them (web/README.md).

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";

const isOfFirstView = (name) => /libattn\.(relaxed|scalar|simd|threads)-[\w-]+\.wasm$/.test(name);

export function packed() {
    return {
        name: "packed",
        apply: "build",
        async writeBundle({ dir }, bundle) {
            const names = Object.keys(bundle).filter(isOfFirstView);
            await Promise.all(names.map((name) => pack(join(dir, name))));
        },
    };
}

async function pack(path) {
    const bytes = await readFile(path);
    const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params })); // quality 11
}
