/** Readers with a phone, with colours of their own, without motion. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { change, openPage, opener, page, show, site, testOrigins } from "../support/panels.mjs";

const height = 844;

/** The page under test is opened by such a reader. */
async function openAs(options) {
    show(await openPage(options));
}

const canvases = () =>
    page.$$eval(".panel .picture canvas", (all) =>
        all
            .filter((canvas) => canvas.checkVisibility())
            .map((canvas) => {
                const { left, right, top, bottom } = canvas.getBoundingClientRect();
                return { left, right, top, bottom };
            }),
    );

for (const [address, width, high] of [
    ["", 390, height],
    ["index.de.html", 390, height],
    ["", 360, 640],
])
    test(
        opener(
            `a phone of ${width} pixels shows one picture, and a tab for each backend: ${address || "index.html"}`,
        ),
        async () => {
            const options = { viewport: { width, height: high }, hasTouch: true, isMobile: true };
            show(await openPage(options, site.url + address));
            const [first, ...others] = await canvases();
            assert.deepEqual(others, []);
            assert.ok(first.right - first.left > 0.85 * width, "as wide as the phone");
            assert.ok(first.bottom <= high, `without scrolling, not at ${first.bottom}`);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
            const tabs = page.locator("#methods button");
            assert.equal(await tabs.count(), 4);
            for (const [i, text] of (await tabs.allTextContents()).entries())
                assert.match(text, i === 0 ? /exact|exakt/ : /\d% off|Fehler \d+\u00a0%/);
            for (const i of [1, 2, 3]) {
                await tabs.nth(i).tap();
                const [now, ...rest] = await canvases();
                assert.deepEqual([now.top, rest], [first.top, []], "in the place of the first");
                assert.equal(await tabs.nth(i).getAttribute("aria-pressed"), "true");
            }
            await page.locator(".enlarged canvas").tap();
            const readout = await page.locator(".enlarged .readout").boundingBox();
            const [{ bottom }] = await canvases();
            assert.ok(
                readout.y >= bottom && readout.y < bottom + 20,
                "what is read stands under it",
            );
        },
    );

test(
    opener("on a phone settings come from below, by touch and by keyboard, and go again"),
    async () => {
        await openAs({ viewport: { width: 390, height }, hasTouch: true, isMobile: true });
        const settings = page.locator("#settings");
        assert.equal(await settings.isVisible(), false);
        await page.locator("#open-settings").tap();
        const { y, height: high } = await settings.boundingBox();
        assert.ok(y > 0.2 * height && Math.abs(y + high - height) < 1, "at the end of the screen");
        await change(() => page.check("#causal"));
        await page.keyboard.press("Escape");
        assert.equal(await settings.isVisible(), false);
        const focused = () => page.evaluate(() => document.activeElement.id);
        assert.equal(await focused(), "open-settings");
        await page.keyboard.press("Enter");
        await settings.locator(".close").tap();
        assert.equal(await settings.isVisible(), false);
        assert.equal(await focused(), "open-settings");
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
    assert.equal((await canvases()).length, 1);
    assert.equal(await page.locator(".enlarged").getAttribute("data-backend"), "sparse");
    await page.locator(".row-error data").nth(3).waitFor();
    const formulas = await page.$$eval(
        ".formulas",
        (all) => all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length,
    );
    assert.equal(formulas, 0, "no formula is cut");
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
