/** Methods that compute otherwise than by floats: integer precisions of softmax, and sketches by factors of [Q; K]. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { change, number, page, reopen } from "../support/panels.mjs";

test("integer precisions and all methods of sketch are there, and in the link", async () => {
    const text = Array.from({ length: 200 }, (_, i) => `word${i % 23}`).join(" "); // few queries stay floats
    await change(() => page.fill("#text", text));
    const floats = await number("softmax", "error");
    const errors = {};
    for (const precision of ["int16", "int8"]) {
        await change(() => page.selectOption("#softmax-precision", precision));
        errors[precision] = await number("softmax", "error");
    }
    // What plugins/softmax/README.md promises, and integers no better than their steps.
    assert.ok(errors.int16 < 1e-3 && errors.int16 > 10 * floats, `${errors.int16}`);
    assert.ok(errors.int8 < 2e-2 && errors.int8 > 4 * errors.int16, `${errors.int8}`);
    await change(() => page.selectOption("#sketch-method", "deterministic"));
    assert.ok((await number("sketch", "error")) > 0);
    assert.equal(await page.locator("#sketch-factor").count(), 1);
    assert.equal(
        await page.locator("#sketch-elements").count(),
        0,
        "of a CSR, which the page has not",
    );

    await page.waitForURL(/sketch\.method=deterministic/);
    await reopen(page.url());
    assert.equal(await number("softmax", "error"), errors.int8);
    assert.equal(await page.inputValue("#sketch-method"), "deterministic");

    await change(() => page.selectOption("#softmax-precision", "f32"));
    assert.equal(await number("softmax", "error"), floats);
});
