/** Scales of colours, differences, panels made large, and what numbers mean. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "../support/browser.mjs";
import {
    backends,
    openDetails,
    page,
    panel,
    picture,
    reopen,
    rested,
    testOrigins,
} from "../support/panels.mjs";

const ticks = (legend) => page.locator(`#${legend} .ticks span`).allTextContents();

/** The reds of a picture's cells, from 0 to 255. */
async function reds(backend) {
    await rested();
    return panel(backend)
        .locator("canvas")
        .evaluate((canvas) => {
            const { width, height } = canvas;
            const side = Math.round(width / 3); // of its middle, where there are cells alone
            const copy = document.createElement("canvas"); // reading slows a canvas down
            Object.assign(copy, { width, height });
            const context = copy.getContext("2d", { willReadFrequently: true });
            context.drawImage(canvas, 0, 0);
            const image = context.getImageData(side, height / 6, side, side / 2);
            return [...new Set(image.data.filter((_, i) => i % 4 === 0))];
        });
}

const darkest = async (backend) => Math.min(...(await reds(backend)));

test("one scale for all panels, or each its own", async () => {
    assert.ok((await darkest("linear")) > 128, "even weights are pale beside softmax's largest");
    await page.selectOption("#colours", "own");
    assert.ok((await darkest("linear")) < 64, "and dark beside their own");
    assert.ok((await darkest("softmax")) < 64);
    assert.deepEqual(await ticks("weights-legend"), ["0 %", "6.25 %", "25.0 %", "56.3 %", "100 %"]);
});

const number = (text) => Number(/[\d.]+$/.exec(text)[0]);

test("softmax sets the scale of all, and what is beyond it is said", async () => {
    await reopen("#preset=normaliser"); // linear's weights are far larger than any of softmax
    const [, , , , last] = await ticks("weights-legend");
    assert.match(last, /^≥ /);
    const largest = await panel("softmax").locator(".readout").textContent();
    assert.ok(Math.abs(number(last) / number(largest) - 1) < 0.1, `${last}, ${largest}`);
});

test("zooming in leaves colours as they are", async () => {
    const before = await ticks("weights-legend");
    for (let i = 0; i < 3; i++) await page.click("#zoom-in");
    await rested();
    const seen = await panel("softmax").locator(".readout").textContent();
    assert.ok(number(seen) < number(before.at(-1)), `${seen}: weaker weights are seen`);
    assert.deepEqual(await ticks("weights-legend"), before);
});

test("a long text has a logarithmic scale by itself, and another one when it is asked for", async () => {
    const law = () => page.getAttribute("#weights-legend", "data-law");
    assert.equal(await law(), "shared");
    await page.fill("#text", Array.from({ length: 600 }, (_, i) => `word${i}`).join(" "));
    await page.locator("#summary", { hasText: /^600/ }).waitFor();
    await settled(page);
    assert.equal(await law(), "log");
    await page.selectOption("#colours", "shared");
    assert.equal(await law(), "shared");
});

test("a logarithmic scale has powers of ten below the largest weight", async () => {
    const before = await picture("softmax");
    const [, , , , largest] = await ticks("weights-legend");
    await page.selectOption("#colours", "log");
    assert.notEqual(await picture("softmax"), before);
    const marks = await ticks("weights-legend");
    const [middle, last] = [marks[(marks.length - 1) / 2], marks.at(-1)];
    assert.equal(last, largest);
    assert.ok(Math.abs(number(middle) / (number(last) * 1e-3) - 1) < 0.1, `${middle}, ${last}`);
});

test("what a pattern keeps has one colour, and the rest is paper", async () => {
    assert.ok((await reds("sparse")).length > 2);
    await page.selectOption("#colours", "kept");
    const [colour, ...others] = await reds("softmax");
    assert.deepEqual(others, []);
    const ofSparse = await reds("sparse");
    assert.equal(ofSparse.length, 2);
    assert.equal(Math.min(...ofSparse), colour);
    assert.deepEqual(await ticks("weights-legend"), ["0", "> 0"]);
    await page.check("#difference");
    await page.locator("#difference-legend").waitFor();
    assert.deepEqual(await ticks("difference-legend"), ["< 0", "0", "> 0"]);
});

test("one switch shows the differences of all panels but softmax's", async () => {
    const before = await Promise.all(backends.map(picture));
    await page.check("#difference");
    await page.locator("#difference-legend").waitFor();
    const now = await Promise.all(backends.map(picture));
    backends.forEach((backend, i) => {
        if (i > 0) assert.notEqual(now[i], before[i], backend);
    });
    for (const backend of backends.slice(1)) {
        assert.match(await panel(backend).locator(".readout").textContent(), /[+−]0\.\d+$/);
    }
    assert.match(await panel("softmax").locator(".readout").textContent(), / 0\.\d+$/);
});

const large = () =>
    page.locator(".enlarged").evaluateAll((all) => all.map(({ dataset }) => dataset.backend));

for (const colours of ["auto", "log", "own"])
    test(`#preset=copy&colours=${colours}: the values of colours have room beside each other`, async () => {
        for (const width of [1280, 390]) {
            await page.setViewportSize({ width, height: 844 });
            const boxes = await page
                .locator("#weights-legend .ticks span")
                .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().toJSON()));
            assert.ok(boxes.length >= 3);
            for (const [i, { left }] of boxes.entries())
                if (i > 0)
                    assert.ok(left > boxes[i - 1].right, `${width}: ${JSON.stringify(boxes)}`);
        }
    });

test("a click on a small picture, or its button, gives it the large place", async () => {
    const width = (backend) =>
        panel(backend)
            .locator(".picture canvas")
            .evaluate((canvas) => canvas.clientWidth);
    assert.deepEqual(await large(), ["softmax"]);
    const small = await width("sparse");
    assert.ok((await width("softmax")) > 2 * small);
    const button = panel("sparse").locator(".enlarge");
    await button.focus();
    await page.keyboard.press("Enter");
    assert.equal(await button.getAttribute("aria-pressed"), "true");
    assert.ok((await width("sparse")) > 2 * small);
    assert.deepEqual(await large(), ["sparse"]);
    await page.waitForURL(/enlarged=sparse/);
    await panel("linear")
        .locator(".picture canvas")
        .click({ position: { x: 20, y: 20 } });
    assert.deepEqual(await large(), ["linear"]);
    assert.equal(await page.locator("#pin").isVisible(), false, "it pins no row");
    assert.equal(await width("sparse"), small);
    await panel("softmax").locator(".enlarge").click();
    await page.waitForURL((url) => !url.hash.includes("enlarged"));
    await reopen("#enlarged=none&colours=toString");
    assert.deepEqual(await large(), ["softmax"]);
    assert.equal(await page.inputValue("#colours"), "auto");
});

test("every number says what it is, by keyboard and pointer", async () => {
    const box = page.locator("#explanation");
    await openDetails();
    const terms = await page.locator(".numbers .term, .facts .term").all();
    assert.equal(terms.length, await page.locator(".numbers data, .facts data").count());
    for (const term of terms) {
        await term.focus();
        const text = await box.textContent();
        assert.ok(text.length > 20, `${await term.textContent()}: ${text}`);
        assert.doesNotMatch(text, /undefined|null/);
    }
    await panel("softmax").locator("[data-name=error] .term").focus();
    assert.match(await box.textContent(), /double precision.*Unit: none/);
    assert.equal(await box.locator("math mfrac").count(), 1);
    await page.keyboard.press("Escape");
    assert.equal(await box.isVisible(), false);
    const fact = panel("sparse").locator("[data-name=block] dd");
    await fact.hover();
    await box.waitFor();
    assert.match(await box.textContent(), /keys a block.*automatic: 2\^floor.*Unit: keys/);
    await box.hover();
    await rested();
    assert.equal(await box.isVisible(), true, "the pointer may go there");
    await page.mouse.move(2, 2);
    await box.waitFor({ state: "hidden" });
});

test("#open=pareto&open=streaming&open=softmax.details&open=linear.details&open=sparse.details&open=sketch.details: what stands in sentences and tables says what it is, too", async () => {
    const box = page.locator("#explanation");
    await page.locator("#pareto tbody tr").nth(3).waitFor();
    await page.locator("#streaming tbody data").first().waitFor();
    const wholes = await page.locator(":is(.worst, .of-row, .readout, .told):visible").all();
    const columns = await page.locator(":is(#pareto, #streaming) th .term").all();
    assert.deepEqual([wholes.length >= 4 * 3, columns.length], [true, 3 + 4]);
    for (const each of [...wholes, ...columns]) {
        await each.focus();
        await box.waitFor();
        const text = await box.textContent();
        assert.ok(text.length > 20, `${await each.textContent()}: ${text}`);
        await page.keyboard.press("Escape");
        await box.waitFor({ state: "hidden" });
    }
    await panel("sparse").locator(".told").hover();
    await box.waitFor();
    assert.match(await box.textContent(), /same place.*percent/);
});

test("an explanation stays beside its number while the page scrolls, and goes with it", async () => {
    await page.setViewportSize({ width: 390, height: 500 });
    const box = page.locator("#explanation");
    const distance = () =>
        page.evaluate(() => {
            const [line, box] = [document.activeElement, document.querySelector("#explanation")];
            const [from, to] = [line, box].map((each) => each.getBoundingClientRect());
            return Math.min(Math.abs(to.top - from.bottom), Math.abs(from.top - to.bottom));
        });
    await openDetails();
    for (const term of await page.locator(".enlarged .numbers .term").all()) {
        await term.focus(); // which scrolls
        await rested();
        assert.equal(await box.isVisible(), true, await term.textContent());
        assert.ok((await distance()) < 10, `${await term.textContent()}: ${await distance()}`);
    }
    await page.evaluate(() => scrollTo(0, 0));
    await box.waitFor({ state: "hidden" });
});

test("the large picture stands where the one before stood, and nothing scrolls", async () => {
    const placeOf = (selector) =>
        page.locator(selector).evaluate((each) => {
            const { left, top } = each.getBoundingClientRect();
            return [Math.round(left), Math.round(top + scrollY)];
        });
    for (const width of [720, 1280, 1600]) {
        await page.setViewportSize({ width, height: 800 });
        await panel("softmax").locator(".enlarge").dispatchEvent("click");
        const place = await placeOf(".enlarged");
        for (const backend of ["sparse", "sketch", "linear"]) {
            const before = await page.evaluate(() => scrollY);
            await panel(backend).locator(".enlarge").dispatchEvent("click");
            assert.deepEqual(await placeOf(".enlarged"), place, `${width}: ${backend}`);
            assert.equal(await page.evaluate(() => scrollY), before);
        }
    }
});

test("the largest weight is one that its row chose", async () => {
    await page.check("#causal");
    await page.fill("#text", "alpha beta gamma");
    await settled(page);
    const readout = panel("softmax").locator(".readout");
    await page.waitForFunction(
        (text) => !text.textContent.includes("“alpha” →"),
        await readout.elementHandle(),
    );
    assert.match(await readout.textContent(), /^largest: “(beta|gamma)” → “\w+” {2}0\.\d+$/);
    await page.fill("#text", "alone");
    await page
        .locator("[data-backend=softmax] .readout", { hasText: "“alone” → “alone”" })
        .waitFor();
});

test("references are links", async () => {
    for (const backend of backends) {
        const links = panel(backend).locator(".reference a");
        assert.ok((await links.count()) > 0, backend);
        for (const href of await links.evaluateAll((all) => all.map((link) => link.href))) {
            assert.match(href, /^https:\/\/arxiv\.org\/abs\/\d{4}\.\d{5}$/);
        }
    }
});

testOrigins();
