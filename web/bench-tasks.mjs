/** For bench.mjs: how long a task of the main thread is at most, whatever is opened or moved, and what a letter draws. */

import { settled } from "./test/support/browser.mjs";
import { npy, randomNumbers } from "./test/support/npy.mjs";
import { change, drop } from "./test/support/reader.mjs";
import { rested, watchRest } from "./test/support/rest.mjs";
import { longestTask, words } from "./test/support/watch.mjs";

const aim = "50 ms";

/** `tell`: of bench.mjs. */
export async function benchTasks(browser, url, tell) {
    const tasks = async (what, prepare, action) => {
        const page = await open(browser, `${url}#preset=none`);
        await prepare(page);
        const longest = await longestTask(browser, page, () => action(page));
        tell(`${what}: longest main-thread task`, longest, "ms", aim);
        await page.context().close();
    };
    await tasks("what settings and lengths cost, unfolded", () => undefined, unfoldCosts);
    await tasks("144 heads side by side", dropHeads, unfoldHeads);
    await tasks("4096 tokens, by keys: zoom and pan", typeMany, zoomByKeys);
    await benchLetter(browser, url, tell);
    await benchExperiment(browser, url, tell);
}

async function open(browser, url) {
    const context = await browser.newContext({ viewport: { width: 1600, height: 1000 } });
    await watchRest(context);
    const page = await context.newPage();
    await page.goto(url);
    await page.waitForLoadState();
    return page;
}

async function unfoldCosts(page) {
    await page.click("#pareto summary");
    await page.locator("#pareto tbody tr").nth(3).waitFor();
    await page.click("#longer summary");
    await page.locator("#longer[aria-busy=false] svg").waitFor();
}

async function dropHeads(page) {
    const shape = [12, 12, 256, 4];
    await settled(page);
    await change(page, () => drop(page, { "x.npy": npy(shape, randomNumbers(shape, 1)) }));
}

async function unfoldHeads(page) {
    await page.click("#heads summary");
    await page.locator("#heads [data-head]").nth(143).waitFor();
}

async function typeMany(page) {
    await settled(page);
    await change(page, () => page.fill("#text", words(4096)));
    await page.locator("[data-backend=softmax] canvas").focus();
}

async function zoomByKeys(page) {
    for (const key of ["+", "+", "+", "Control+ArrowDown", "Control+ArrowRight", "-"]) {
        await page.keyboard.press(key);
        await rested(page);
    }
}

/** Of five letters the one that is drawn least often. */
async function benchLetter(browser, url, tell) {
    const page = await open(browser, `${url}#preset=none`);
    await settled(page);
    await change(page, () => page.fill("#text", words(64)));
    const counts = [];
    for (let round = 0; round < 5; round++) {
        counts.push(await page.evaluate(typeLetter));
        await settled(page);
    }
    const least = (name) => Math.min(...counts.map((count) => count[name]));
    tell("a letter typed, 64 tokens x 4 backends: pictures drawn", least("pictures"), "times", "1");
    tell("a letter typed, 64 tokens x 4 backends: bar drawn", least("bar"), "times", "0");
    await page.context().close();
}

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
    bar.observe(document.querySelector("#progress"), { ...options, attributeFilter: ["class"] });
    const text = document.querySelector("#text");
    text.value += "x";
    text.dispatchEvent(new Event("input", { bubbles: true }));
    while (document.querySelector(".panel.stale"))
        await new Promise((resolve) => requestAnimationFrame(resolve));
    pictures.disconnect();
    bar.disconnect();
    return count;
}

/** The page of experiments while one runs, and when it says how long that takes. */
async function benchExperiment(browser, url, tell) {
    const page = await open(browser, `${url}labs.html#lab=separation&panel=4a&set.trials=200`);
    await page.evaluate(watchDelay);
    await page.click("#run:enabled");
    await page.waitForFunction(
        () => Number(document.querySelector(".lab-result").dataset.points) >= 3,
    );
    await page.click("#stop");
    tell("an experiment runs: longest without an answer", await page.evaluate("worstDelay"), "ms");

    await page.fill("#set-trials", "99999");
    const start = performance.now();
    await page.click("#run");
    await page.locator("#status", { hasText: /^about \S+ (min|hours?) left$/ }).waitFor();
    const said = performance.now() - start;
    tell("99,999 trials: how long they take is said after", said, "ms", "5000 ms");
    await page.context().close();
}

/** In the page. */
function watchDelay() {
    globalThis.worstDelay = 0;
    let last = performance.now();
    setInterval(() => {
        const now = performance.now();
        globalThis.worstDelay = Math.max(globalThis.worstDelay, now - last - 5);
        last = now;
    }, 5);
}
