/** What is there as a page opens stays where it is while the rest comes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "../support/browser.mjs";
import { rested } from "../support/rest.mjs";
import { openSite } from "../support/site.mjs";

const site = openSite();
const good = 0.1; // web.dev/articles/cls

const screens = {
    "a laptop": { viewport: { width: 1280, height: 800 } },
    "a phone": { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};

/** When a page is done with opening. */
const opened = {
    "index.html": settled,
    "story.html": (page) => page.waitForSelector("#scores[aria-busy=false] .words data"),
    "thinking.html": (page) => page.waitForSelector("main[aria-busy=false]"),
    "training.html": (page) =>
        page.locator(".learner[aria-busy=false] .heads canvas").nth(7).waitFor(),
    "labs.html": (page) => page.locator("#figure .recorded path").waitFor(),
    "figures.html": () => undefined,
};

for (const [screen, options] of Object.entries(screens))
    for (const [file, isOpen] of Object.entries(opened))
        test(`${file}: little moves as it opens on ${screen}`, async (t) => {
            const context = await site.newContext({ ...options, reducedMotion: "reduce" });
            t.after(() => context.close());
            const page = await context.newPage();
            await page.addInitScript(() => {
                globalThis.shifts = 0;
                new PerformanceObserver((list) => {
                    for (const { value } of list.getEntries()) globalThis.shifts += value;
                }).observe({ type: "layout-shift", buffered: true });
            });
            await page.goto(site.url + file);
            await isOpen(page);
            await rested(page);
            const shifts = await page.evaluate(() => globalThis.shifts);
            assert.ok(shifts < good, `${shifts}`);
        });
