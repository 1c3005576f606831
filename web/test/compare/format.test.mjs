/** Numbers as people read them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runnerImport } from "vite";

const source = fileURLToPath(new URL("../../src/dom/format.ts", import.meta.url));
const { percent, significant } = (await runnerImport(source)).module;

test("a share that is next to nothing is no power of ten, and neither nothing nor all is made of it", () => {
    for (const share of [7.24e-19, 1e-12, 9e-7]) assert.equal(percent(share), "< 0.0001 %");
    assert.equal(percent(0), "0 %");
    assert.equal(percent(1e-5), "0.00100 %");
    assert.equal(percent(0.25), "25.0 %");
    assert.equal(percent(0.99999), "99.9 %");
    assert.equal(percent(1), "100 %");
});

test("great and small numbers are powers of ten", () => {
    assert.equal(significant(1.2346e-7), "1.235 × 10⁻⁷");
    assert.equal(significant(-12.346), "−12.35");
    assert.equal(significant(NaN), "NaN");
});
