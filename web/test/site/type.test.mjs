/** Letters on all pages have four sizes; those of figures may be shrunk or stretched, and not below the smallest. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "../support/browser.mjs";
import { rested } from "../support/rest.mjs";
import { openSite } from "../support/site.mjs";

const site = openSite();

/** When a page has all that it opens with. */
const opened = {
    "index.html#preset=sink&row=9.2&open=pareto&open=longer": async (page) => {
        await settled(page);
        await page.locator("#pareto .figure svg").waitFor();
        await page.locator("#longer .figure svg").waitFor();
    },
    "story.html": (page) => page.waitForSelector("#scores[aria-busy=false] .words data"),
    "thinking.html": (page) => page.waitForSelector("main[aria-busy=false]"),
    "training.html": (page) => page.locator("#answers svg").waitFor(),
    "labs.html": (page) => page.locator("#figure .recorded path").waitFor(),
    "figures.html": () => undefined,
};

for (const [address, isOpen] of Object.entries(opened))
    for (const width of [1280, 390])
        test(`${address}, ${width} pixels wide: letters are of four sizes`, async () => {
            const page = await site.newPage({ viewport: { width, height: 844 } });
            await page.goto(site.url + address);
            await isOpen(page);
            await rested(page);
            const others = await page.evaluate(() => {
                const has = (each) =>
                    [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
                const scale = (each) => each.ownerSVGElement?.getScreenCTM().a ?? 1;
                const isSub = (each) => each.closest("math, sub, sup") !== null; // smaller than their line
                return [...document.querySelectorAll("body *")]
                    .filter((each) => each.checkVisibility() && has(each) && !isSub(each))
                    .map((each) => {
                        const size = parseFloat(getComputedStyle(each).fontSize);
                        const isUsual = [30, 20, 16, 13].includes(size);
                        return { isUsual, seen: size * scale(each), text: each.textContent.trim() };
                    })
                    .filter(({ isUsual, seen }) => !isUsual || seen < 12.99)
                    .map(({ seen, text }) => `${seen.toFixed(1)}: ${text.slice(0, 40)}`);
            });
            assert.deepEqual(others.slice(0, 8), []);
            await page.close();
        });
