/** The page where models learn: the command line's losses, pauses, and words for wrong settings. */

import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { createStudy } from "libattn/training";
import { openSite } from "./site.mjs";

const site = openSite();
let page;
let complaints = [];

afterEach(async () => {
    await page?.close();
    assert.deepEqual(complaints, []);
});

async function open(hash = "") {
    complaints = [];
    page = await site.newPage({ viewport: { width: 1400, height: 900 } });
    page.on("request", (request) => {
        if (!request.url().startsWith(site.url)) complaints.push(request.url());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (line) => {
        if (["error", "warning"].includes(line.type())) complaints.push(line.text());
    });
    await page.goto(`${site.url}training.html#${hash}`);
    for (const attention of ["softmax", "linear"]) await reaches(attention, 0);
}

/** That model has taken so many steps. */
async function reaches(attention, steps) {
    const [selector, least] = [`[data-attention=${attention}] [data-name=step] data`, steps];
    await page.waitForFunction(
        ([where, count]) => {
            const data = document.querySelector(where);
            return data !== null && Number(data.value) >= count;
        },
        [selector, least],
        { timeout: 60_000 },
    );
}

const value = async (attention, name) =>
    Number(
        await page
            .locator(`[data-attention=${attention}] [data-name=${name}] data`)
            .getAttribute("value"),
    );

/** Of all heads, their pixels. */
const pictures = () =>
    page
        .locator(".heads canvas")
        .evaluateAll((all) => all.map((canvas) => canvas.toDataURL()).join());

async function pause() {
    await page.click("#go");
    assert.equal(await page.textContent("#go"), "Train");
    let last = -1;
    for (let step = 0; step !== last; step = await value("softmax", "step")) {
        last = step;
        await page.waitForTimeout(500); // a piece that had begun is told yet
    }
}

test("two models learn, pause and go on, by the steps of the command line", async () => {
    await open("task=arithmetic&seed=3");
    const untrained = await pictures();
    assert.equal(await value("softmax", "weights"), 7119);
    assert.equal(await value("linear", "step"), 0);
    const ticks = await page
        .locator("#loss svg [text-anchor=middle] text, #loss svg g text")
        .allTextContents();
    assert.ok(ticks.includes("10") && !ticks.some((tick) => /\.0{3}/.test(tick)), `${ticks}`);
    await page.click("#go");
    for (const attention of ["softmax", "linear"]) await reaches(attention, 12);
    await pause();
    const paused = {};
    for (const attention of ["softmax", "linear"])
        paused[attention] = await value(attention, "step");
    await page.waitForTimeout(700);
    assert.equal(await value("softmax", "step"), paused.softmax);
    const { width, layers, heads } = { width: 16, layers: 2, heads: 2 };
    for (const attention of ["softmax", "linear"]) {
        const options = { task: "arithmetic", size: 2, attention, width, layers, heads };
        const study = await createStudy({ ...options, samples: 400, rate: 0.008, seed: 3 });
        const losses = study.train(paused[attention]);
        assert.equal(await value(attention, "loss"), losses.at(-1), attention);
        study.dispose();
    }
    await page.click("#go");
    for (const attention of ["softmax", "linear"])
        await reaches(attention, paused[attention] + 100);
    await pause();
    assert.notEqual(await pictures(), untrained, "maps change as it learns");
    assert.ok((await value("softmax", "loss")) < 1.5);
    assert.equal(await page.locator("#loss svg path[stroke]").count(), 2);
    assert.equal(await page.locator("#answers svg[role=img]").count(), 1);
    await page.click("#again");
    for (const attention of ["softmax", "linear"]) await reaches(attention, 0);
    assert.equal(await value("linear", "step"), 0);
    assert.equal(await pictures(), untrained, "the same seed begins alike");
});

test("a link has task and seed; commands follow them", async () => {
    await open();
    await page.selectOption("#task", "lis");
    await page.fill("#seed", "17");
    await page.waitForFunction(() => location.hash === "#task=lis&seed=17");
    const command = await page.textContent(".command code");
    assert.match(command, /^attn lab train lis --n 5 --attention softmax .* --seed 17 -o/);
    assert.equal(command.split("\n").length, 2);
    await page.close();
    await open("task=lis&seed=17");
    assert.equal(await page.inputValue("#task"), "lis");
    assert.equal(await page.inputValue("#seed"), "17");
    assert.match(await page.textContent(".said"), /^17 80 23 45 120 <sep>/);
});

test("a seed that is none is refused in words, and nothing is trained by it", async () => {
    await open();
    for (const seed of ["-1", "1.5", "", "99999999999"]) {
        await page.fill("#seed", seed);
        assert.match(await page.textContent("#problem"), /whole number from 0 to 4294967295/, seed);
        assert.equal(await page.isDisabled("#go"), true);
        assert.equal(await page.locator(".learner").count(), 0);
    }
    await page.fill("#seed", "5");
    await reaches("linear", 0);
    assert.equal(await page.isDisabled("#go"), false);
    assert.equal(await page.isVisible("#problem"), false);
});
