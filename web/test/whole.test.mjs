/** The switch that loads all of the library. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "./browser.mjs";
import { change, number, page, reopen } from "./panels.mjs";

/** The switch opens the page anew: a click, as setting it would look at the new page's box, which
 *  is off until that page has read its address, and click it again. */
async function load(isWhole) {
    assert.equal(await page.isChecked("#all-methods"), !isWhole);
    await Promise.all([page.waitForEvent("load"), page.click("#all-methods")]);
    await page.locator("[data-backend=softmax] [data-name=error] data[value*='.']").waitFor();
    await settled(page);
    assert.equal(await page.isChecked("#all-methods"), isWhole);
}

test("all methods are there once they are loaded, and gone with the larger module", async () => {
    const floats = await number("softmax", "error");
    assert.equal(await page.locator("#softmax-precision").count(), 0);
    await load(true);
    assert.match(page.url(), /library=whole/);
    assert.equal(await number("softmax", "error"), floats);
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

    // All of it is in the link.
    await page.waitForURL(/sketch\.method=deterministic/);
    await reopen(page.url());
    assert.equal(await number("softmax", "error"), errors.int8);
    assert.equal(await page.inputValue("#sketch-method"), "deterministic");

    await load(false);
    assert.equal(await page.locator("#softmax-precision").count(), 0);
    assert.equal(await number("softmax", "error"), floats);
});

test("what is saved has the small module, and says so", async () => {
    await load(true);
    await page.click("#share summary");
    for (const what of ["file", "elements"]) {
        await page.click(`[data-share=${what}]`);
        await page.locator("#share [role=status]", { hasText: "small module" }).waitFor();
        await page.click("[data-share=link]");
        await page.locator("#share [role=status]", { hasText: /Copied|Selected/ }).waitFor();
    }
});
