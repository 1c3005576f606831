/** The first screen: a trained example, one large picture, three small ones, and what each is off by. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { settled } from "../support/browser.mjs";
import {
    backends,
    openPage,
    opener,
    page,
    panel,
    rested,
    show,
    site,
    testOrigins,
} from "../support/panels.mjs";

const desk = { viewport: { width: 1280, height: 800 } };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

const boxOf = (selector) => page.locator(selector).boundingBox();

test(
    opener("a laptop shows headline, examples, four pictures and their numbers at once"),
    async () => {
        show(await openPage(desk, site.url));
        assert.equal(await page.locator("h1").count(), 1);
        assert.ok((await page.locator("#presets button").count()) <= 6);
        assert.equal(await page.getAttribute("[data-preset=lis-softmax]", "aria-pressed"), "true");
        for (const backend of backends) {
            const { x, y, width, height } = await panel(backend)
                .locator(".picture canvas")
                .boundingBox();
            assert.ok(x >= 0 && y >= 0 && x + width <= 1280 && y + height <= 800, backend);
            const off = await panel(backend).locator(".off").textContent();
            assert.match(off, backend === "softmax" ? /^exact$/ : /^\d+% off$/);
        }
        const large = await panel("softmax").locator(".picture canvas").boundingBox();
        assert.ok(large.height >= 520, `${large.height} pixels`);
        const { y, height } = await boxOf("#looks");
        assert.ok(y + height <= 800, `the line below ends at ${y + height}`);
        assert.equal(await page.locator("#strip li").count(), 4);
        assert.equal(await page.textContent("[data-of=softmax] data"), "100 %");
        assert.equal(await page.locator("#settings").isVisible(), false);
        assert.equal(page.url(), site.url, "its address says no more");
    },
);

test(
    opener("pointing at a row marks it in all pictures, and one line says what it looks at"),
    async () => {
        show(await openPage(desk, site.url));
        const { height } = await boxOf("#looks");
        const hint = await page.textContent("#looks");
        await panel("softmax")
            .locator(".picture canvas")
            .hover({ position: { x: 300, y: 320 } });
        const said = await page.textContent("#looks");
        assert.match(
            said,
            /^“.+” looks at “.+” \([\d.]+ %\).* On “.+”: Linear .*Sparse .*Sketch .* %\.$/,
        );
        assert.equal((await boxOf("#looks")).height, height);
        const readings = await page.locator(".readout").allTextContents();
        assert.equal(new Set(readings.map((text) => text.split("  ")[0])).size, 1, "the same cell");
        await page.mouse.move(2, 2);
        assert.equal(await page.textContent("#looks"), hint);
    },
);

test(
    opener("bars of costs are as long as their numbers say, also of what costs more than softmax"),
    async () => {
        show(await openPage(desk, `${site.url}#preset=text-softmax`));
        const bars = await page.locator("#strip li").evaluateAll((all) =>
            all.map((item) => ({
                flops: Number(item.querySelector("data").value),
                part: Number(item.style.getPropertyValue("--part")),
            })),
        );
        const most = Math.max(...bars.map(({ flops }) => flops));
        assert.ok(most > bars[0].flops, "some cost more");
        for (const { flops, part } of bars) assert.ok(Math.abs(part - flops / most) < 1e-9);
    },
);

for (const [name, options] of [
    ["a laptop", desk],
    ["a phone", phone],
])
    test(
        opener(
            `nothing moves as the page opens on ${name}, and no letter is smaller than 13 pixels`,
        ),
        async () => {
            const context = await site.newContext(options);
            show(await context.newPage());
            page.on("close", () => context.close());
            await page.addInitScript(() => {
                globalThis.shifts = 0;
                new PerformanceObserver((list) => {
                    for (const { value } of list.getEntries()) globalThis.shifts += value;
                }).observe({ type: "layout-shift", buffered: true });
            });
            await page.goto(site.url);
            await settled(page);
            await rested();
            const shifts = await page.evaluate(() => globalThis.shifts);
            assert.ok(shifts < 0.1, `${shifts}`);
            const sizes = await page.evaluate(() => {
                const all = [...document.querySelectorAll("body *")].filter(
                    (each) =>
                        each.checkVisibility() &&
                        [...each.childNodes].some(
                            (node) => node.nodeType === 3 && node.data.trim(),
                        ),
                );
                return [...new Set(all.map((each) => parseFloat(getComputedStyle(each).fontSize)))];
            });
            assert.deepEqual(
                sizes.filter((size) => ![30, 20, 16, 13].includes(size)),
                [],
            );
        },
    );

test(
    opener("the first key leads past all to the large picture, and without it few more do"),
    async () => {
        show(await openPage(desk, site.url));
        const focused = () => page.evaluate(() => document.activeElement.className);
        await page.keyboard.press("Tab");
        assert.equal(await focused(), "skip");
        await page.keyboard.press("Enter");
        assert.ok(await page.evaluate(() => document.activeElement.matches(".enlarged canvas")));
        assert.equal(page.url(), site.url, "the address stays");
        await page.reload();
        await settled(page);
        let presses = 0;
        do {
            await page.keyboard.press("Tab");
            presses++;
        } while (
            presses < 40 &&
            !(await page.evaluate(() => document.activeElement.matches("canvas")))
        );
        assert.ok(presses <= 22, `${presses} presses`);
    },
);

test(opener("Difference moves no picture"), async () => {
    show(await openPage(desk, site.url));
    const places = () =>
        page.locator(".panel canvas").evaluateAll((all) =>
            all.map((canvas) => {
                const { x, y, width, height } = canvas.getBoundingClientRect();
                return [x, y, width, height].join();
            }),
        );
    const before = await places();
    await page.check("#difference");
    await page.locator("#difference-legend").waitFor();
    await rested();
    assert.deepEqual(await places(), before);
});

test(
    opener("settings open beside the pictures, and give the keyboard back as they close"),
    async () => {
        show(await openPage(desk, site.url));
        await page.click("#open-settings");
        assert.equal(await page.getAttribute("#open-settings", "aria-expanded"), "true");
        assert.ok(await page.evaluate(() => document.activeElement.closest("#settings") !== null));
        await page.uncheck("#causal");
        await page.waitForURL(/causal=0/);
        await page.keyboard.press("Escape");
        assert.equal(await page.locator("#settings").isVisible(), false);
        assert.equal(await page.evaluate(() => document.activeElement.id), "open-settings");
        await page.click("[data-own=files]");
        assert.equal(await page.evaluate(() => document.activeElement.id), "files");
    },
);

testOrigins();
