/* The package stays small: everything a page loads for one build, compressed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSize, builds } from "../sizes.mjs";

const LIMIT = 62_000; // bytes of brotli: JavaScript and one module with all four backends

for (const build of builds) {
    test(`the ${build} build`, (t) => {
        const { js, wasm, total } = buildSize(build);
        t.diagnostic(
            `brotli: js ${js.brotli} + wasm ${wasm.brotli} = ${total.brotli} of ${LIMIT} bytes`,
        );
        assert.ok(total.brotli <= LIMIT, `${total.brotli} bytes are more than ${LIMIT}`);
    });
}
