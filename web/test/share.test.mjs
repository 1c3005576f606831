/** Links and code that the page gives, and pages that show parts of it. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "./browser.mjs";
import { change, errors, page, reopen, site, testOrigins } from "./panels.mjs";

const hidden = { header: ".page-header", presets: "#presets", input: "#input", footer: "footer" };

async function copy(what) {
    await page.click(`[data-share=${what}]`);
    await page.locator("#share [role=status]", { hasText: /Copied|Selected/ }).waitFor();
    return page.inputValue("#share textarea");
}

test("the link that is copied has what was chosen last", async () => {
    await page.click("#share summary");
    await change(() => page.check("#causal"));
    await page.fill("#text", "one two three");
    await change(() => page.fill("#sketch-size", "12"));
    const shown = await errors();
    const link = await copy("link");
    assert.equal(link, page.url());
    await reopen(link);
    assert.deepEqual(await errors(), shown);
});

test("code to embed shows the same numbers on another page, without the parts that were not chosen", async () => {
    await change(() => page.click("[data-preset=copy]"));
    const shown = await errors();
    await page.click("#share summary");
    const usual = await copy("embed");
    assert.match(usual, /^<iframe src="[^"]*#preset=copy&amp;embed=1" .*<\/iframe>$/);
    await page.uncheck("#share [name=numbers]");
    await page.check("#share [name=header]");
    const other = await copy("embed");
    assert.match(other, /embed=1&amp;without=presets%2Cinput%2Cnumbers%2Cmore%2Cfooter"/);
    assert.ok(!page.url().includes("embed"), "this page stays whole");

    const host = await site.newPage({ viewport: { width: 1000, height: 800 } });
    await host.route("**/host.html", (route) =>
        route.fulfill({ contentType: "text/html", body: `<!doctype html>${usual}` }),
    );
    await host.goto(new URL("host.html", site.url).href);
    const frame = host.frames()[1];
    await frame.waitForSelector("[data-name=error] data[value*='.']");
    await settled(frame);
    const inFrame = await frame
        .locator("[data-name=error] data")
        .evaluateAll((all) => all.map(({ value }) => Number(value)));
    assert.deepEqual(inFrame, shown);
    await host.close();

    await reopen(/src="([^"]*)"/.exec(other)[1].replaceAll("&amp;", "&"));
    assert.deepEqual(await errors(), shown);
    for (const [part, selector] of Object.entries(hidden))
        assert.equal(await page.locator(selector).isVisible(), part === "header", part);
    assert.equal(await page.locator(".numbers").first().isVisible(), false);
    assert.equal(await page.locator(".rest").first().isVisible(), true);
});

test("an embedded page stays so as it is used, and leads to the whole of it", async () => {
    await reopen("#embed=1&without=presets,input,nothing,__proto__");
    assert.equal(await page.locator("#presets").isVisible(), false);
    assert.equal(await page.locator(".page-header").isVisible(), true);
    await change(() => page.fill("#sketch-size", "12"));
    await page.waitForURL(/embed=1&without=presets%2Cinput&sketch.size=12/);
    await page.focus("#whole a");
    assert.equal(await page.getAttribute("#whole a", "href"), `${site.url}#sketch.size=12`);
    await reopen("#embed=0");
    assert.equal(await page.locator("#presets").isVisible(), true);
    assert.equal(await page.locator("#whole").isVisible(), false);
});

testOrigins();
