/* The package stays small: everything a page loads for one build, compressed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { downloadSize, downloads } from "../sizes.mjs";

/* Bytes of brotli: JavaScript and one module, with all four backends or with softmax alone. */
const LIMITS = { softmax: 20_000 };
const LIMIT = 60_000;

for (const name in downloads) {
    test(`the ${name} build`, (t) => {
        const { js, wasm, total } = downloadSize(name);
        const limit = LIMITS[name] ?? LIMIT;
        const parts = `js ${js.brotli} + wasm ${wasm.brotli} = ${total.brotli}`;
        t.diagnostic(`brotli: ${parts} of ${limit} bytes`);
        assert.ok(total.brotli <= limit, `${total.brotli} bytes are more than ${limit}`);
    });
}
