/** No task holds the page up for longer than 50 ms, whatever is opened or moved. */

import assert from "node:assert/strict";
import { test } from "node:test";
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
