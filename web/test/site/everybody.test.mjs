/** Readers with a phone, with colours of their own, without motion. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { change, openPage, opener, page, show, site, testOrigins } from "../support/panels.mjs";

const height = 844;

/** The page under test is opened by such a reader. */
async function openAs(options) {
    show(await openPage(options));
}

const boxes = () =>
    page.$$eval(".panel .picture canvas", (all) =>
        all.map((canvas) => {
            const { left, right, top, bottom } = canvas.getBoundingClientRect();
            return { left, right, top, bottom };
        }),
    );

/** It has snapped there. */
const isSeen = (i) =>
    page.waitForFunction((i) => {
        const canvas = document.querySelectorAll(".panel .picture canvas")[i];
        const { left, right } = canvas.getBoundingClientRect();
        return left >= 0 && right <= innerWidth;
    }, i);

test(
    opener("on a phone pictures stand side by side, and a swipe leads from one to the next"),
    async () => {
        await openAs({ viewport: { width: 390, height }, hasTouch: true, isMobile: true });
        const all = await boxes();
        assert.equal(new Set(all.map(({ top }) => Math.round(top))).size, 1, "in one line");
        const [{ bottom: end }] = all;
        assert.ok(end <= 2 * height, `two screens lead to all four, not ${end / height}`);
        assert.ok(all.every(({ left }, i) => i === 0 || left > all[i - 1].right));
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
        const panels = page.locator("#panels");
        for (const i of [1, 2, 3]) {
            await panels.evaluate((element, n) => {
                const to = element.children[n].offsetLeft - element.offsetLeft;
                element.scrollTo({ left: to - 40, behavior: "instant" }); // not quite there: it snaps
            }, i);
            await isSeen(i);
        }
        await panels.locator("canvas").nth(3).tap();
        const { bottom } = (await boxes())[3];
        const readout = await page.locator(".panel .readout").nth(3).boundingBox();
        assert.ok(readout.y >= bottom && readout.y < bottom + 20, "what is read stands under it");
    },
);

for (const address of ["", "index.de.html"])
    test(
        opener(`two screens of a small phone lead to all pictures: ${address || "index.html"}`),
        async () => {
            const [width, small] = [360, 640];
            const options = { viewport: { width, height: small }, hasTouch: true, isMobile: true };
            show(await openPage(options, site.url + address));
            const ends = (await boxes()).map(({ bottom }) => bottom);
            assert.equal(ends.length, 4);
            for (const end of ends) assert.ok(end <= 2 * small, `not ${end / small} screens`);
            const heights = await page.$$eval(".panel", (panels) =>
                panels.map((panel) => {
                    const { bottom } = panel.querySelector(".readout").getBoundingClientRect();
                    return bottom - panel.getBoundingClientRect().top;
                }),
            );
            for (const each of heights)
                assert.ok(each <= small, `${each} pixels from a panel's top to what is read`);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
        },
    );

test("parameters that matter less are folded away, and open by keyboard and by a link", async () => {
    const further = page.locator("[data-backend=sparse] .further");
    const seed = page.locator("#sparse-seed");
    for (const name of ["block", "local", "global", "pattern"])
        assert.ok(await page.locator(`#sparse-${name}`).isVisible(), name);
    assert.equal(await seed.isVisible(), false);
    const controls = () => further.locator(".control").count();
    assert.equal(
        await further.locator("summary").textContent(),
        `${await controls()} more parameters`,
    );
    await further.locator("summary").focus();
    await page.keyboard.press("Enter");
    assert.ok(await seed.isVisible());
    await change(() => seed.fill("7"));
    assert.match(await further.locator("summary").textContent(), /, 1 changed$/);
    const sizes = await page
        .locator("[data-backend=sparse] .control input[type=number]")
        .evaluateAll((all) => all.map((field) => getComputedStyle(field).fontSize));
    assert.equal(new Set(sizes).size, 1, "folded or not, fields are alike");
    await page.waitForURL(/^(?=.*open=sparse\.further)(?=.*sparse\.seed=7)/);
    const url = page.url();
    await page.close();
    show(await openPage({}, url));
    assert.equal(await page.locator("#sparse-seed").inputValue(), "7");
    assert.ok(await page.locator("#sparse-seed").isVisible());
    assert.match(await page.locator(".further summary").nth(1).textContent(), /, 1 changed$/);
});

test(opener("a panel that a link has enlarged, and a pinned row, fit a phone"), async () => {
    const options = { viewport: { width: 390, height } };
    show(await openPage(options, `${site.url}#enlarged=sparse&row=3.2`));
    const widest = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.equal(widest, 390);
    assert.equal(new Set((await boxes()).map(({ top }) => Math.round(top))).size, 1);
});

test(
    opener("forced colours: pictures have the reader's, and what is pressed shows it"),
    async () => {
        await openAs({ forcedColors: "active" });
        const system = (name) =>
            page.evaluate((colour) => {
                const probe = document.body.appendChild(document.createElement("p"));
                probe.style.color = colour;
                const { color } = getComputedStyle(probe);
                probe.remove();
                return color.match(/\d+/g).slice(0, 3).join();
            }, name);
        const inks = await page
            .locator(".panel canvas")
            .first()
            .evaluate((canvas) => {
                const { data } = canvas.getContext("2d").getImageData(0, 0, 60, canvas.height);
                const colours = new Set();
                for (let i = 0; i < data.length; i += 4)
                    if (data[i + 3] === 255) colours.add(data.slice(i, i + 3).join());
                return [...colours];
            });
        assert.ok(inks.includes(await system("CanvasText")), inks.join(" "));
        await page.click("[data-preset=copy]");
        const outline = (selector) =>
            page.locator(selector).evaluate((button) => getComputedStyle(button).outlineStyle);
        await page.locator("[data-preset=copy][aria-pressed=true]").waitFor();
        await page.locator("h1").click(); // focus has an outline, too
        assert.equal(await outline("[data-preset=copy]"), "solid");
        assert.equal(await outline("[data-preset=sink]"), "none");
    },
);

test(opener("with reduced motion nothing moves by itself"), async () => {
    await openAs({ moves: true, reducedMotion: "reduce" });
    const moving = await page.$$eval("body *", (all) =>
        all
            .filter((each) => parseFloat(getComputedStyle(each).transitionDuration) > 0)
            .map(({ className }) => className),
    );
    assert.deepEqual(moving, []);
});

testOrigins();
