/** No task holds the page up for longer than 50 ms, whatever is opened or moved. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "../browser.mjs";
import { npy, randomNumbers } from "../npy.mjs";
import { change, drop, page, panel, rested, site, write } from "../panels.mjs";
import { longestTask, words } from "../watch.mjs";

async function requireShortTasks(t, action) {
    const longest = await longestTask(site.browser, page, action);
    t.diagnostic(`longest task ${longest.toFixed(0)} ms`);
    assert.ok(longest <= 50, `a task of ${longest} ms`);
}

test("what settings and lengths cost", (t) =>
    requireShortTasks(t, async () => {
        await page.click("#pareto summary");
        await page.locator("#pareto tbody tr").nth(3).waitFor();
        await page.click("#longer summary");
        await page.locator("#longer[aria-busy=false] svg").waitFor({ timeout: 120_000 });
    }));

/** In the page: how often panels and the bar are drawn for a letter more. */
async function typeLetter() {
    const count = { pictures: 0, bar: 0 };
    const options = { attributes: true, characterData: true, childList: true, subtree: true };
    const isFresh = ({ target }) => target.matches(".panel:not(.stale)");
    const pictures = new MutationObserver((changes) => {
        if (changes.some(isFresh)) count.pictures++;
    });
    pictures.observe(document.querySelector("#panels"), { ...options, attributeFilter: ["class"] });
    const bar = new MutationObserver(() => count.bar++);
    bar.observe(document.querySelector("#progress"), options);
    const text = document.querySelector("#text");
    text.value += "x";
    text.dispatchEvent(new Event("input", { bubbles: true }));
    while (document.querySelector(".panel.stale"))
        await new Promise((resolve) => requestAnimationFrame(resolve));
    pictures.disconnect();
    bar.disconnect();
    return count;
}

test("a letter more is drawn for all panels at once, and without a bar", async () => {
    await write(words(64));
    const counts = [];
    for (let round = 0; round < 5; round++) {
        counts.push(await page.evaluate(typeLetter));
        await settled(page);
    }
    const least = (name) => Math.min(...counts.map((count) => count[name])); // the machine may be slow
    assert.equal(least("pictures"), 1);
    assert.equal(least("bar"), 0);
});

test("as many heads as are shown", async (t) => {
    const shape = [12, 12, 256, 4];
    await change(() => drop({ "x.npy": npy(shape, randomNumbers(shape, 1)) }));
    await requireShortTasks(t, async () => {
        await page.click("#heads summary");
        await page.locator("#heads [data-head]").nth(143).waitFor();
    });
});

test("4096 tokens, zoomed and moved", async (t) => {
    await write(words(4096));
    await panel("softmax").locator("canvas").focus();
    await requireShortTasks(t, async () => {
        for (const key of ["+", "+", "+", "Control+ArrowDown", "Control+ArrowRight", "-"]) {
            await page.keyboard.press(key);
            await rested();
        }
    });
});
