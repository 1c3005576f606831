/** What the page says of a cell, of the axes and of inputs that are larger than its pictures. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { init } from "libattn";
import { embed } from "libattn/data";
import { settled } from "../support/browser.mjs";
import {
    mostOfText,
    backends,
    change,
    closings,
    number,
    openPage,
    opener,
    page,
    panel,
    picture,
    readNumber,
    rested,
    show,
    site,
    testOrigins,
    write,
} from "../support/panels.mjs";

test("pointing at a cell names it in every panel", async () => {
    await write("alpha beta gamma delta");
    const canvas = panel("linear").locator("canvas");
    const { width } = await canvas.boundingBox();
    await canvas.hover({ position: { x: width - 50, y: 8 } });
    for (const backend of backends) {
        assert.match(
            await panel(backend).locator(".readout").textContent(),
            /^“alpha” → “delta” {2}/,
        );
    }
    await page.mouse.move(0, 0);
    assert.match(await panel("linear").locator(".readout").textContent(), /^largest: /);
});

test(opener("what a finger pointed at stays until it points elsewhere"), async () => {
    show(await openPage({ hasTouch: true, viewport: { width: 390, height: 844 } }));
    await write("alpha beta gamma delta");
    const tap = async (backend, x, y) => {
        await page.locator(`[data-method=${backend}]`).tap();
        const canvas = panel(backend).locator("canvas");
        await canvas.scrollIntoViewIfNeeded();
        const { width } = await canvas.boundingBox();
        await canvas.tap({ position: { x: x < 0 ? width + x : x, y } });
        await rested();
    };
    const readout = panel("sparse").locator(".readout");
    await tap("linear", -50, 8);
    assert.match(await readout.textContent(), /^“alpha” → “delta” {2}/);
    await tap("sketch", 90, 8);
    assert.match(await readout.textContent(), /^“alpha” → “alpha” {2}/);
    await page.locator("h1").tap();
    assert.match(await readout.textContent(), /^largest: /);
});

test(opener("the axes have words of the example at every width"), async () => {
    const context = await site.newContext({ viewport: { width: 1600, height: 1000 } });
    show(await context.newPage());
    page.on("close", () => closings.push(context.close()));
    await page.addInitScript(() => {
        globalThis.drawn = [];
        const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
            globalThis.drawn.push(text);
            return fillText.call(this, text, ...rest);
        };
    });
    await page.goto(site.text);
    await settled(page);
    for (const width of [360, 390, 700, 768, 1239, 1240, 1300, 1366, 1440, 1500, 1920]) {
        await page.evaluate(() => (globalThis.drawn = []));
        await page.setViewportSize({ width, height: 900 });
        await rested();
        const drawn = await page.evaluate(() => globalThis.drawn);
        if (drawn.length === 0 && width > 1100) continue; // it is as wide as before
        const first = drawn.filter((text) => text === "Attention").length;
        assert.ok(first >= 2, `${width} pixels: ${new Set(drawn).size} labels`);
        assert.equal(drawn.filter((text) => /^\d+$/.test(text)).length, 0, `${width} pixels`);
    }
});

test("the keyboard moves the crosshair", async () => {
    await write("alpha beta gamma delta");
    await panel("sparse").locator("canvas").focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp"]) {
        await page.keyboard.press(key);
    }
    const readout = panel("softmax").locator(".readout");
    await page.keyboard.press("Control+ArrowDown"); // the browser's, as Alt and an arrow are
    assert.match(await readout.textContent(), /^“beta” → “beta” {2}/);
    await page.keyboard.press("Escape");
    assert.match(await readout.textContent(), /^largest: /);
});

test("the difference from softmax has its own scale", async () => {
    await write("alpha beta gamma delta");
    const before = await picture("linear");
    await page.check("#difference");
    await page.locator("#difference-legend").waitFor();
    assert.notEqual(await picture("linear"), before);

    // A row of weights sums to 1, so a row of differences sums to 0.
    const readings = [];
    await panel("linear").locator("canvas").focus();
    await page.keyboard.press("Home");
    for (let key = 0; key < 4; key++) {
        readings.push(await panel("linear").locator(".readout").textContent());
        await page.keyboard.press("ArrowRight");
    }
    const values = readings.map((text) => readNumber(text.split("  ")[1]));
    const sum = values.reduce((total, value) => total + value, 0);
    const rounding = values.reduce((total, value) => total + 0.005 * Math.abs(value), 0);
    assert.ok(values.some((value) => value !== 0));
    assert.ok(Math.abs(sum) <= rounding, `${values} sum to ${sum}`);
});

test("a large input is pooled, and the page says how", async () => {
    const words = Array.from({ length: 600 }, (_, i) => `word${i}`);
    await write(words.join(" "));
    assert.equal(
        await page.textContent("#pooling"),
        "Each cell is the mean of 3 queries × 3 keys.",
    );
    assert.ok((await number("softmax", "error")) <= (await mostOfText()));
});

test("above 1024 queries the error is over 64 of them, and its interval holds all", async () => {
    const words = Array.from({ length: 1100 }, (_, i) => `word${(i * 7919) % 1000}`);
    await write(words.join(" "));
    await change(() => page.selectOption("#dim", "16"));
    const { x, rows } = await embed(await page.inputValue("#text"), 16);
    const attn = await init();
    for (const backend of backends) {
        const label = await panel(backend).locator("[data-name=error] dt").textContent();
        assert.match(label, /^Error over 64 of 1.100 queries, seed 1$/);
        const text = await panel(backend).locator("[data-name=interval] dd").textContent();
        const [low, high] = text.split(" to ").map(readNumber);
        const shown = await number(backend, "error");
        assert.ok(low < shown && shown < high && high < 2 * low, `${backend}: ${text}`);
        if (backend === "softmax") continue; // its error is rounding, which another build does otherwise
        const plan = attn.plan({ backend, queries: rows, dim: 16 });
        const { out } = plan.run({ query: x, key: x, value: x });
        const whole = plan.error({ query: x, key: x, value: x, out });
        assert.ok(low <= whole && whole <= high, `${backend}: ${whole} is not in ${text}`);
    }
    attn.dispose();
});

testOrigins();
