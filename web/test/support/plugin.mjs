/** The template's plugin, built for pages that it is dropped on. */

import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const run = promisify(execFile);

/** { "template.wasm": its bytes } */
export async function templatePlugin() {
    const folder = await mkdtemp(join(tmpdir(), "attn-plugin-"));
    try {
        const file = join(folder, "template.wasm");
        const source = join(root, "plugins/template/template.c");
        await run(join(root, "dev"), ["plugin", source, "-o", file]);
        return { "template.wasm": await readFile(file) };
    } finally {
        await rm(folder, { recursive: true });
    }
}
