/** What could not be loaded is loaded when it is asked for again. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { settled } from "../support/browser.mjs";
import { change } from "../support/reader.mjs";
import { openSite } from "../support/site.mjs";

const site = openSite();
let page;

afterEach(() => page.context().close());

/** The page, whose requests of such addresses fail, once, while `isOut` says so. */
async function open(pattern, isOut) {
    const context = await site.newContext({ viewport: { width: 1600, height: 1000 } });
    await context.route(pattern, (route) => (isOut() ? route.abort() : route.continue()));
    page = await context.newPage();
    await page.goto(site.text);
}

const problem = () => page.locator("#input-problem:visible").textContent();

for (const [what, pattern] of [
    ["a model", "**/*.model"],
    ["the module that runs models", "**/libattn.models*.wasm"],
    ["the program that reads models", "**/trained-*.js"],
])
    test(`${what}, which failed once, comes at the second click`, async () => {
        let isOut = true;
        await open(pattern, () => isOut);
        await settled(page);
        await page.click("[data-preset=arithmetic-softmax]");
        assert.ok((await problem()).length > 0);
        isOut = false;
        await change(page, () => page.click("[data-preset=arithmetic-softmax]"));
        assert.equal(await page.locator("#input-problem").isVisible(), false);
        assert.match(await page.textContent("#summary"), /11 queries/);
        assert.equal(await page.locator("[data-name=error] data").count(), 4);
    });

test("the worker that reads inputs is started again by the next one", async () => {
    let isOut = true;
    await open(/\/input-worker-[^/]*\.js$/, () => isOut);
    assert.match(await problem(), /did not start|load/i);
    isOut = false;
    await change(page, () => page.fill("#text", "some words to read"));
    assert.equal(await page.locator("#input-problem").isVisible(), false);
    assert.equal(await page.textContent("#summary"), "4 tokens");
    assert.equal(await page.locator("[data-name=error] data").count(), 4);
});
