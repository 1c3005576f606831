/* The package stays small: everything a page loads for one build, compressed, and what Node loads. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { downloadSize, downloads, withImports } from "../../sizes.mjs";

/* Bytes of brotli: JavaScript and one module, with all that the addon has, or with softmax alone. As text a module is
   larger. */
const LIMITS = { softmax: 24_000, inline: 176_000 };
const LIMIT = 135_000;

for (const name in downloads) {
    test(`the ${name} build`, (t) => {
        const { js, wasm, total } = downloadSize(name);
        const limit = LIMITS[name] ?? LIMIT;
        const parts = `js ${js.brotli} + wasm ${wasm.brotli} = ${total.brotli}`;
        t.diagnostic(`brotli: ${parts} of ${limit} bytes`);
        assert.ok(total.brotli <= limit, `${total.brotli} bytes are more than ${limit}`);
    });
}

/* Each file takes a millisecond or so. */
test("Node imports libattn in two files, and threads when they are asked for", () => {
    assert.equal(withImports(["node.js"]).size, 2);
    const code = `
        const before = new Set(process.moduleLoadList);
        await import("libattn");
        console.log(process.moduleLoadList.filter((name) => !before.has(name)).join());`;
    const options = { cwd: import.meta.dirname, encoding: "utf8" };
    const loaded = execFileSync(process.execPath, ["--input-type=module", "-e", code], options);
    assert.doesNotMatch(loaded, /worker_threads/);
});
