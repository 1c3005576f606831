/**
 * How swift the built page is in a headless Chromium: `node bench.mjs` prints a table in Markdown, beside what is
 * asked for. Nothing else should run on the machine meanwhile.
 */

import { stat } from "node:fs/promises";
import { cpus } from "node:os";
import { benchTasks } from "./bench-tasks.mjs";
import { serve } from "./serve.mjs";
import { launchChromium, settled } from "./test/support/browser.mjs";
import { countBytes, longestTask, mainThread, words } from "./test/support/watch.mjs";

const sizes = [64, 4096, 16384];
const rounds = 5; // whose median counts

/** Of the table: what, how much of a unit, and what is asked for; null: nothing is. */
const rows = [];

function tell(what, value, unit, aim = null) {
    rows.push([what, `${value.toFixed(0)} ${unit}`, aim ?? ""]);
    console.error(`${what.padEnd(60)} ${value.toFixed(0)} ${unit}`);
}

const median = (numbers) => numbers.toSorted((one, other) => one - other)[numbers.length >> 1];

async function bench() {
    const server = await serve();
    const browser = await launchChromium();
    try {
        await benchFirstView(browser, server.url);
        await benchField(browser);
        await benchTyping(browser, server.url);
        for (const size of sizes) await benchSize(browser, server.url, size);
        await benchZoom(browser, server.url, Math.max(...sizes));
        await benchTasks(browser, server.url, tell);
        await benchOneFile(browser, server.url);
        await benchTraining(browser, server.url);
        console.log(table(browser.version()));
    } finally {
        await browser.close();
        await server.close();
    }
}

function table(version) {
    const lines = [["what", "measured", "asked for"], ["---", "---", "---"], ...rows];
    const cpu = cpus();
    return [
        ...lines.map((cells) => `| ${cells.join(" | ")} |`),
        "",
        `Measured on ${cpu[0].model}, ${cpu.length} cores, by headless Chromium ${version}.`,
    ].join("\n");
}

async function benchFirstView(browser, url) {
    const [pictures, errors] = [[], []];
    let bytes = 0;
    for (let round = 0; round <= rounds; round++) {
        const page = await browser.newPage();
        await page.waitForTimeout(1000); // a new window has work of its own for a second
        const tellBytes = countBytes(page);
        const start = performance.now();
        await page.goto(url);
        await allHavePictures(page);
        const seen = performance.now() - start;
        await allHave(page, "error");
        if (round > 0) {
            pictures.push(seen); // before, the server packs files
            errors.push(performance.now() - start);
        }
        bytes = tellBytes();
        await page.close();
    }
    tell("first view: all pictures, new browser context", median(pictures), "ms", "1000 ms");
    tell("first view: their errors, too", median(errors), "ms");
    tell("first view: bytes as sent", bytes / 1000, "kB", "250 kB");
}

/** What a browser does by itself as text comes into a field, with nothing of this page. */
async function benchField(browser) {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    await page.setContent('<textarea id="text" rows="3" style="width: 100%"></textarea>');
    await page.fill("#text", words(sizes[0]));
    const sums = [];
    for (let round = 0; round <= rounds; round++) {
        await page.waitForTimeout(200);
        const { until } = await mainThread(browser, page, () => page.evaluate(typeIntoField));
        if (round > 0) sums.push(until.drawn);
    }
    const size = Math.max(...sizes);
    const longest = await longestTask(browser, page, () => page.fill("#text", words(size)));
    tell("a field in an empty page, a letter typed: main thread until drawn", median(sums), "ms");
    tell(`a field in an empty page, ${size} tokens typed: longest task`, longest, "ms");
    await page.close();
}

/** In that page. As typeLetter(). */
function typeIntoField() {
    document.querySelector("#text").value += "x";
    const { port1, port2 } = new MessageChannel();
    return new Promise((resolve) => {
        port1.onmessage = () => resolve(performance.mark("drawn").startTime);
        requestAnimationFrame(() => port2.postMessage(null));
    });
}

/**
 * A letter more in a text of 64 tokens: what the main thread does until the frame with four new pictures has been made,
 * and all that it does for this letter.
 */
async function benchTyping(browser, url) {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    await page.goto(`${url}#preset=none`);
    await page.fill("#text", words(64));
    await page.waitForTimeout(500);
    const [drawn, all] = [[], []];
    for (let round = 0; round <= rounds; round++) {
        await settled(page);
        const { sum, until } = await mainThread(browser, page, async () => {
            await page.evaluate(typeLetter);
            await settled(page);
        });
        if (round === 0) continue; // code is compiled
        drawn.push(until.drawn);
        all.push(sum);
    }
    const what = "a letter typed, 64 tokens x 4 backends: main thread";
    tell(`${what} until they are drawn`, median(drawn), "ms", "16 ms");
    tell(`${what} until all numbers are there, too`, median(all), "ms");
    await page.close();
}

/** In the page. Marks when the frame with the pictures of the new text has been made, by a task right behind it. */
function typeLetter() {
    const text = document.querySelector("#text");
    text.value += "x";
    text.dispatchEvent(new Event("input", { bubbles: true }));
    const isDone = () => !document.querySelector(".panel.stale");
    return new Promise((resolve) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => {
            performance.mark("drawn");
            resolve();
        };
        const observer = new MutationObserver(() => {
            if (!isDone()) return;
            observer.disconnect();
            port2.postMessage(null);
        });
        const options = { attributeFilter: ["class"], subtree: true };
        observer.observe(document.querySelector("#panels"), options);
    });
}

/** What is asked for at a size: of the first picture, and of all there is. */
const aims = { 4096: { all: "10000 ms" }, 16384: { picture: "3000 ms", all: "20000 ms" } };

async function benchSize(browser, url, size) {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    await page.goto(`${url}#preset=none`);
    await settled(page);
    const { picture, all } = aims[size] ?? {};
    for (const [what, action, answer] of [
        [`${size} tokens typed`, () => page.fill("#text", words(size)), null],
        [`${size} tokens, Causal`, () => page.check("#causal"), "at once"],
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
            await settled(page);
            times.all = since();
        });
        tell(`${what}: answered after`, times.answer, "ms", answer);
        tell(`${what}: first picture`, times.picture, "ms", picture);
        tell(`${what}: all pictures`, times.pictures, "ms");
        tell(`${what}: all numbers`, times.all, "ms", all);
        tell(`${what}: longest main-thread task`, longest, "ms", "50 ms");
    }
    await page.close();
}

/** Each frame a wheel turns or a picture is dragged: how many frames of a second are drawn, and how soon the weights are there. */
async function benchZoom(browser, url, size) {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    await page.goto(`${url}#preset=none`);
    await settled(page);
    await page.fill("#text", words(size));
    await page.waitForTimeout(500);
    await settled(page);
    await page.locator(".panel canvas").first().scrollIntoViewIfNeeded();
    for (const what of ["zoom", "pan"]) {
        const gaps = await page.evaluate(moveEachFrame, what);
        const total = gaps.reduce((sum, gap) => sum + gap, 0);
        const frames = (1000 * gaps.length) / total;
        tell(`${size} tokens, ${what}: frames a second`, frames, "", "50 or more");
        tell(`${size} tokens, ${what}: longest frame`, Math.max(...gaps), "ms");
        const start = performance.now();
        await allHavePictures(page);
        tell(`${size} tokens, ${what}: true weights after`, performance.now() - start, "ms");
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

async function benchOneFile(browser, url) {
    const page = await browser.newPage();
    await page.goto(url);
    await settled(page);
    await page.click("#share summary");
    const coming = page.waitForEvent("download");
    await page.click("[data-share=file]");
    const { size } = await stat(await (await coming).path());
    tell("one file of the first view", size / 1000, "kB", "1500 kB");
    await page.close();
}

/** From the click on, by the clock, as both models learn side by side; of the seed that the page begins with. */
async function benchTraining(browser, url) {
    const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
    await page.goto(`${url}training.html`);
    await page.click("#go:enabled");
    const start = performance.now();
    const learned = async (attention) => {
        const reached = `[data-attention=${attention}] [data-name=reached] data`;
        const enough = () => page.locator(reached).getAttribute("value");
        while (!(await enough())) await page.waitForTimeout(200);
        return (performance.now() - start) / 1000;
    };
    const attentions = ["softmax", "linear"];
    const times = await Promise.all(attentions.map(learned));
    attentions.forEach((attention, i) =>
        tell(`training: 95% right answers, ${attention}`, times[i], "s", "180 s"),
    );
    await page.close();
}

/** Pictures, each with what is largest in it. */
function allHavePictures(page) {
    return page.waitForFunction(() => {
        const all = [...document.querySelectorAll(".panel .readout")];
        return all.length > 0 && all.every(({ textContent }) => textContent !== "");
    });
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
