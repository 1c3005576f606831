/** What a screen reader is told: names, what maps show, and lines that are read out as keys move. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "../support/browser.mjs";
import { rested } from "../support/rest.mjs";
import { openSite } from "../support/site.mjs";

const site = openSite();

/** When all maps of a page have been drawn. */
const opened = {
    "index.html": settled,
    "story.html#step=all": (page) => page.waitForSelector("#all[aria-busy=false] .words data"),
    "thinking.html#model=ed-softmax&question=ab+ac&token=8": (page) =>
        page.waitForSelector("main[aria-busy=false]"),
    "training.html": (page) =>
        page.locator(".learner[aria-busy=false] .heads canvas").nth(7).waitFor(),
};

async function open(address) {
    const page = await site.newPage();
    await page.goto(site.url + address);
    await opened[address](page);
    await rested(page);
    return page;
}

const shares =
    /[\d.]+\s% of all weight on the diagonal; [\d.]+\s% in the column .+, the strongest\.$/;

for (const [address, count] of [
    ["index.html", 4],
    ["story.html#step=all", 1],
    ["thinking.html#model=ed-softmax&question=ab+ac&token=8", 4],
])
    test(`${address}: each map says what it shows`, async () => {
        const page = await open(address);
        const said = await page.locator("[role=application]:visible").evaluateAll((maps) =>
            maps.map((map) => ({
                label: map.ariaLabel,
                isSeen: map.getBoundingClientRect().top < innerHeight,
                description: document.getElementById(map.getAttribute("aria-describedby"))
                    ?.textContent,
            })),
        );
        const names = said.map(({ label }) => label);
        assert.ok(names.every((name) => /\w/.test(name)));
        const drawn = said.filter(({ description }) => description);
        assert.ok(drawn.length >= count, `${drawn.length} maps`);
        for (const { label, description } of drawn) assert.match(description, shares, label);
        await page.close();
    });

test("small maps of heads say what they show, as they grow and as models learn", async () => {
    const thinking = await open("thinking.html#model=ed-softmax&question=ab+ac&token=8");
    const labels = () =>
        thinking.locator("#heads button").evaluateAll((all) => all.map((each) => each.ariaLabel));
    const before = await labels();
    for (const label of before) assert.match(label, shares);
    await thinking.click("#next");
    assert.notDeepEqual(await labels(), before);
    await thinking.close();
    const training = await open("training.html");
    const maps = training.getByRole("img", { name: shares });
    assert.equal(await maps.count(), 8);
    await training.close();
});

for (const address of Object.keys(opened))
    test(`${address}: no two buttons have one name, and articles have names`, async () => {
        const page = await open(address);
        const found = await page.evaluate(() => {
            const seen = (each) => each.checkVisibility();
            const nameOf = (each) => each.ariaLabel ?? each.textContent.trim();
            const all = [...document.querySelectorAll("main button:not(#chain button)")]; // a text, word by word
            const buttons = all.filter(seen).map(nameOf);
            const articles = [...document.querySelectorAll("article")].filter(seen);
            return {
                twice: buttons.filter((name, i) => buttons.indexOf(name) !== i),
                nameless: articles.filter((each) => !each.ariaLabel).length,
            };
        });
        assert.deepEqual(found, { twice: [], nameless: 0 });
        await page.close();
    });

test("the line of a row is read out where keys move, once a row, and not as the pointer passes", async () => {
    const page = await open("index.html");
    const line = () => page.locator("#looks").evaluate((each) => [each.ariaLive, each.textContent]);
    const [idle] = await line();
    assert.equal(idle, "polite");
    const map = page.locator(".enlarged .picture canvas");
    await map.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    const [byKeys, row] = await line();
    assert.equal(byKeys, "polite");
    assert.match(row, / looks at /);
    await page.keyboard.press("ArrowRight");
    assert.deepEqual(await line(), ["polite", row], "the same row says nothing new");
    await page.keyboard.press("ArrowDown");
    const [, next] = await line();
    assert.notEqual(next, row);
    await map.hover({ position: { x: 200, y: 300 } });
    const [byPointer, pointed] = await line();
    assert.equal(byPointer, null);
    assert.notEqual(pointed, next);
    const readouts = page.locator(".panel .readout[aria-live]");
    assert.equal(await readouts.count(), 0, "nor is a cell that is pointed at");
    await page.keyboard.press("ArrowDown");
    assert.equal((await line())[0], "polite");
    assert.equal(await readouts.count(), 1);
    await page.close();
});

test("a thought that plays by itself reads out its end alone", async () => {
    const page = await open("thinking.html#model=ed-softmax&question=ab+ac&token=8");
    const live = () => page.locator("#words").evaluate((each) => each.ariaLive);
    assert.equal(await live(), "polite");
    await page.click("#play");
    assert.equal(await live(), "off");
    await page.click("#play");
    assert.equal(await live(), "polite");
    await page.close();
});
