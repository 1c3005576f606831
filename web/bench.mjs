/**
 * How swift the built page is in a headless Chromium: `node bench.mjs`. Nothing else should run on the
 * machine meanwhile.
 */

import { serve } from "./serve.mjs";
import { launchChromium, settled } from "./test/browser.mjs";
import { countBytes, longestTask, words } from "./test/watch.mjs";

const sizes = [64, 4096, 16384];
const rounds = 3; // of the first view, whose median counts

const print = (what, value, unit) => console.log(`${what.padEnd(52)} ${value.toFixed(0)} ${unit}`);

async function bench() {
    const server = await serve();
    const browser = await launchChromium();
    try {
        await benchFirstView(browser, server.url);
        for (const size of sizes) await benchSize(browser, server.url, size);
        await benchZoom(browser, server.url, Math.max(...sizes));
    } finally {
        await browser.close();
        await server.close();
    }
}

async function benchFirstView(browser, url) {
    const times = [];
    let bytes = 0;
    for (let round = 0; round <= rounds; round++) {
        const page = await browser.newPage();
        const tell = countBytes(page);
        const start = performance.now();
        await page.goto(url);
        await allHave(page, "error");
        if (round > 0) times.push(performance.now() - start); // before, the server packs files
        bytes = tell();
        await page.close();
    }
    print("first view, pictures and errors, new browser context", times.sort()[rounds >> 1], "ms");
    print("bytes of it, as sent", bytes / 1000, "kB");
}

async function benchSize(browser, url, size) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(url);
    await settled(page);
    for (const [what, action] of [
        [`${size} tokens typed`, () => page.fill("#text", words(size))],
        [`${size} tokens, Causal`, () => page.check("#causal")],
    ]) {
        let times;
        const longest = await longestTask(browser, page, async () => {
            const start = performance.now();
            const since = () => performance.now() - start;
            await action();
            times = { answer: since() };
            await page.waitForFunction(() => document.querySelector(".panel:not(.stale)"));
            times.picture = since();
            await page.waitForFunction(() => !document.querySelector(".panel.stale"));
            times.pictures = since();
            await settled(page, 120_000);
            times.all = since();
        });
        print(`${what}: answered after`, times.answer, "ms");
        print(`${what}: first picture`, times.picture, "ms");
        print(`${what}: all pictures`, times.pictures, "ms");
        print(`${what}: all numbers`, times.all, "ms");
        print(`${what}: CPU time of the longest main-thread task`, longest, "ms");
    }
    await page.close();
}

/** Each frame a wheel turns or a picture is dragged: how many frames of a second are drawn, and how soon the weights are there. */
async function benchZoom(browser, url, size) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    await page.goto(url);
    await settled(page);
    await page.fill("#text", words(size));
    await page.waitForTimeout(500);
    await settled(page, 120_000);
    await page.locator(".panel canvas").first().scrollIntoViewIfNeeded();
    for (const what of ["zoom", "pan"]) {
        const gaps = await page.evaluate(moveEachFrame, what);
        const total = gaps.reduce((sum, gap) => sum + gap, 0);
        print(`${size} tokens, ${what}: frames a second`, (1000 * gaps.length) / total, "");
        print(`${size} tokens, ${what}: longest frame`, Math.max(...gaps), "ms");
        const start = performance.now();
        await page.waitForFunction(() => {
            const all = [...document.querySelectorAll(".panel .readout")];
            return all.every(({ textContent }) => textContent !== "");
        });
        print(`${size} tokens, ${what}: true weights after`, performance.now() - start, "ms");
    }
    await page.close();
}

/** In the page: milliseconds between frames while it is zoomed or moved for two seconds. */
async function moveEachFrame(what) {
    const frames = 120;
    const canvas = document.querySelector(".panel canvas");
    const { left, top } = canvas.getBoundingClientRect();
    const at = (x, y) => ({ clientX: left + x, clientY: top + y, bubbles: true, cancelable: true });
    const drag = (type, x) =>
        canvas.dispatchEvent(
            new PointerEvent(type, { ...at(x, x), pointerType: "mouse", buttons: 1, pointerId: 1 }),
        );
    canvas.setPointerCapture = () => undefined; // there is no such pointer
    const steps = {
        zoom: () => {
            const turn = { ...at(150, 150), ctrlKey: true, deltaY: -18 };
            canvas.dispatchEvent(new WheelEvent("wheel", turn));
        },
        pan: (i) => drag("pointermove", 150 + 50 * Math.sin(i / 10)),
    };
    if (what === "pan") drag("pointerdown", 150);
    const times = [];
    for (let i = 0; i <= frames; i++) {
        times.push(await new Promise((resolve) => requestAnimationFrame(resolve)));
        steps[what](i);
    }
    return times.slice(1).map((time, i) => time - times[i]);
}

function allHave(page, name) {
    return page.waitForFunction((name) => {
        const panels = [...document.querySelectorAll(".panel")];
        const has = (panel) => panel.querySelector(`[data-name=${name}] data`)?.value;
        return panels.length > 0 && panels.every(has);
    }, name);
}

bench().catch((error) => {
    console.error(`bench: ${error.message}`);
    process.exitCode = 1;
});
