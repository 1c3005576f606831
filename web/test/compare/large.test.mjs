/** Large inputs: pictures come first, Stop stops, and nothing is shown that is not so any more. How soon, bench.mjs says. */

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { settled } from "../support/browser.mjs";
import { rested } from "../support/rest.mjs";
import { openSite } from "../support/site.mjs";
import { words } from "../support/watch.mjs";

const many = 16384;
const site = openSite();
let page, started;
let complaints = [];

beforeEach(async () => {
    complaints = [];
    started = 0;
    page = await site.newPage({ viewport: { width: 1600, height: 1000 } });
    page.on("worker", () => started++);
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (line) => {
        if (["error", "warning"].includes(line.type())) complaints.push(line.text());
    });
    await page.addInitScript(countExactRows);
    await page.goto(site.text);
    await settled(page);
});

/** In the page: of how many rows exact attention is asked for. */
function countExactRows() {
    globalThis.exactRows = 0;
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message, ...rest) {
        if (message.kind === "exact") globalThis.exactRows += message.rows.length;
        return postMessage.call(this, message, ...rest);
    };
}

afterEach(async () => {
    await page.close();
    assert.deepEqual(complaints, []);
});

const isStale = (backend) =>
    page
        .locator(`.panel[data-backend=${backend}]`)
        .evaluate((panel) => panel.classList.contains("stale"));
const current = () => page.waitForFunction(() => document.querySelector(".panel:not(.stale)"));

/** In the page: another text, of which nothing is known as soon as it is there. */
async function type(count) {
    const shown = await page.evaluate((text) => {
        const field = document.querySelector("#text");
        field.value = text;
        field.dispatchEvent(new Event("input", { bubbles: true }));
        return document.querySelectorAll(".panel:not(.stale)").length;
    }, words(count));
    assert.equal(shown, 0);
}

/** All that is typed is computed. */
async function computed() {
    await rested(page);
    await settled(page);
}

const known = (name) => page.locator(`[data-name=${name}] data[value]:not([value=''])`).count();

test("4096 tokens have picture, time and error in all panels", async () => {
    await page.evaluate(() => (globalThis.exactRows = 0));
    await type(4096);
    await computed();
    assert.deepEqual([await known("error"), await known("time")], [4, 4]);
    assert.equal(await page.locator(".panel:not(.stale)").count(), 4);
    assert.equal(await page.evaluate(() => globalThis.exactRows), 64, "once for all panels");
    assert.match(
        await page.textContent("#status"),
        /^Computed on 4.096 queries by 4.096 keys, with the errors softmax .*linear .*sparse .*sketch [^.]*\.[^.]*\.$/,
    );
});

/** Calls of the library, in the page: none is answered that is of this method, as if it took for ever. */
function hold(method) {
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (letter, ...rest) {
        if (letter[0] !== "call" || letter[3] !== method) postMessage.call(this, letter, ...rest);
    };
    globalThis.release = () => (Worker.prototype.postMessage = postMessage);
}

const computesOutputs = () =>
    page.waitForFunction(() => /outputs/.test(document.querySelector("#progress").innerText));

test("16,384 tokens: pictures first, another rule ends what runs, and Stop stops", async () => {
    await page.evaluate(hold, "run");
    await type(many);
    await current();
    assert.match(await page.textContent("#pooling"), /middle 8 of 128 queries × 64 keys/);
    await computesOutputs();
    await page.waitForFunction(() => !document.querySelector(".panel.stale"));

    const before = started;
    const stale = await page.evaluate(() => {
        document.querySelector("#causal").click(); // as softmax runs
        return document.querySelectorAll(".panel.stale").length;
    });
    assert.equal(stale, 4, "nothing is shown that is of the rule before");
    await current();
    assert.equal(started, before + 1, "the worker that runs is ended, and another one started");
    await page.waitForFunction(() => !document.querySelector(".panel.stale"));

    await computesOutputs();
    await page.click("#progress button");
    assert.equal(await page.locator(".panel[aria-busy=true]").count(), 0);
    await page.evaluate(() => globalThis.release());
    assert.equal(await page.locator(".panel:not(.stale) canvas:visible").count(), 4);
    assert.match(
        await page.locator("[data-backend=softmax] .problem").textContent(),
        /^stopped before all/,
    );
    assert.equal(await page.textContent("#progress button"), "Go on");
    await page.evaluate(hold, "run");
    await page.fill("#text", words(3000));
    await page.locator("#summary", { hasText: /^3.000 tokens/ }).waitFor(); // it is read
    await page.locator("#progress button", { hasText: /^Stop$/ }).waitFor(); // and computed
    await page.click("#progress button");
    await page.evaluate(() => globalThis.release());
    assert.ok((await page.locator(".problem:visible", { hasText: /^stopped/ }).count()) > 0);
    await page.click("#progress button");
    await settled(page);
    await page.locator("#progress.idle").waitFor({ state: "attached" });
    assert.equal(await known("time"), 4);
});

test("zoomed after Stop, a picture is dimmed and labelled until it goes on", async () => {
    await page.evaluate(hold, "run");
    await type(4096);
    await computesOutputs();
    await page.waitForFunction(() => !document.querySelector(".panel.stale"));
    await page.click("#progress button");
    await page.evaluate(() => globalThis.release());
    assert.equal(await page.locator(".panel:not(.stale)").count(), 4);
    await page.click("#zoom-in");
    await rested(page);
    assert.match(await page.textContent("#zoom output"), /^queries 1024–3071 of 4096/);
    for (const panel of await page.locator(".panel").all()) {
        assert.ok(await panel.locator(".stale-note").isVisible());
        const opacity = await panel
            .locator("canvas")
            .evaluate((it) => getComputedStyle(it).opacity);
        assert.ok(Number(opacity) < 0.7, opacity);
        assert.equal(await panel.locator(".readout").textContent(), "");
    }
    await page.click("#progress button");
    await settled(page);
    assert.equal(await page.locator(".stale-note:visible").count(), 0);
    for (const reading of await page.locator(".readout").allTextContents())
        assert.match(reading, /^largest/);
});

/** In the page: weights are asked for only once `hold.end()` is called. */
function holdWeights() {
    const { postMessage } = Worker.prototype;
    const held = [];
    Worker.prototype.postMessage = function (letter, ...rest) {
        const isHeld = letter[0] === "call" && letter[3] === "weights";
        if (!isHeld) return postMessage.call(this, letter, ...rest);
        held.push(() => postMessage.call(this, letter, ...rest));
    };
    globalThis.hold = {
        end() {
            Worker.prototype.postMessage = postMessage;
            for (const send of held) send();
        },
    };
}

test("another region or pooling shows its progress, and Stop stops it", async () => {
    await type(300);
    await computed();
    assert.equal(await known("time"), 4);
    for (const act of [
        () => page.click("#zoom-in"),
        () => page.selectOption("#pooling-by", "largest"),
    ]) {
        await page.evaluate(holdWeights);
        await act();
        await page.locator("#progress:not(.idle)", { hasText: "Computing pictures" }).waitFor();
        await page.evaluate(() => globalThis.hold.end());
        await settled(page);
        await page.locator("#progress.idle").waitFor({ state: "attached" });
        assert.equal(await page.locator(".stale-note:visible").count(), 0);
    }
    await page.evaluate(holdWeights);
    await page.click("#zoom-out");
    await page.locator("#progress:not(.idle)", { hasText: "Computing pictures" }).waitFor();
    await page.click("#progress button");
    await page.locator("#progress", { hasText: "Stopped" }).waitFor();
    assert.equal(await page.locator(".panel[aria-busy=true]").count(), 0);
    assert.equal(await page.locator(".stale-note:visible").count(), 4);
    assert.equal(await known("time"), 4, "what was known is still there");
    await page.evaluate(() => globalThis.hold.end());
    await page.click("#progress button");
    await settled(page);
    assert.equal(await page.locator(".stale-note:visible").count(), 0);
});

test("a picture of before is dimmed and labelled until the new one is there", async () => {
    await page.evaluate(holdWeights);
    await type(3000);
    const note = page.locator("[data-backend=sketch] .stale-note");
    await note.waitFor();
    assert.equal(await isStale("sketch"), true);
    const opacity = () =>
        page
            .locator("[data-backend=sketch] canvas")
            .evaluate((canvas) => Number(getComputedStyle(canvas).opacity));
    assert.ok((await opacity()) < 0.5);
    assert.equal(await page.textContent("[data-backend=sketch] .readout"), "");
    await page.evaluate(() => globalThis.hold.end());
    await computed();
    assert.equal(await note.isVisible(), false);
    assert.equal(await opacity(), 1);
});
