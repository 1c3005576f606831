/** Tokens one by one: a cache grows by what a token has, and a state does not. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { isPlaying, playUntil } from "../support/playing.mjs";
import {
    backends,
    change,
    failCall,
    page,
    panel,
    reopen,
    rested,
    testOrigins,
    write,
} from "../support/panels.mjs";

const dim = 64;

/** Goes to so many tokens, by the slider. */
async function go(token) {
    await page.fill("#token", String(token));
    await arrived(token);
}

const arrived = (token) =>
    page.waitForFunction(
        (start) => document.querySelector("#token-words").textContent.startsWith(start),
        `${token} of `,
    );

/** Bytes kept, the error of the last answer, the bytes of a state, and tokens as they came. */
function state(backend) {
    return page.locator(`[data-stream=${backend}]`).evaluate((row) =>
        ["bytes", "error", "state", "held"].map((name) => {
            return Number(row.querySelector(`[data-name=${name}] data`).value);
        }),
    );
}

/** The places of what lines of the figure go through, from above. */
async function lines(name) {
    const all = page.locator(`.growth polyline.${name}`);
    const points = await all.evaluateAll((each) => each.map((line) => line.getAttribute("points")));
    return points.map((line) => line.split(" ").map((point) => point.split(",")[1]));
}

test("#open=streaming: softmax's cache grows by a key and a value a token, linear's state does not", async () => {
    await arrived(1);
    const kept = {};
    for (const token of [1, 10, 30, 58]) {
        await go(token);
        for (const backend of backends) (kept[backend] ??= []).push((await state(backend))[0]);
    }
    const perToken = 2 * dim * 4; // a key and a value in f32
    const { softmax, linear, sketch } = kept;
    assert.equal(softmax[1] - softmax[0], 9 * perToken);
    assert.equal(softmax[3] - softmax[2], 28 * perToken);
    assert.equal(sketch[3] - sketch[2], 28 * (dim / 2 + dim) * 4, "a sketched key, and a value");
    const matrix = dim * dim * 4 + dim * 4;
    const most = matrix + 13 * perToken + 512; // and the tokens that are not added to it yet
    for (const bytes of linear) assert.ok(bytes <= most, `${bytes} bytes`);
    assert.ok(linear[3] < softmax[3]);
});

test("#open=streaming: linear's state has one size, and the few tokens beside it are told apart", async () => {
    await arrived(1);
    assert.deepEqual((await state("linear")).slice(2), [0, 1], "one token is no state yet");
    const matrix = dim * dim * 4 + dim * 4;
    const sizes = new Set();
    for (const token of [20, 30, 45, 58]) {
        await go(token);
        const [bytes, , size, held] = await state("linear");
        assert.ok(size >= matrix && size <= matrix + dim * 4 + 64, `${size} of ${bytes}`);
        assert.ok(held >= 1 && held < 16, `${held} tokens`);
        sizes.add(size);
        assert.deepEqual((await state("softmax")).slice(2), [0, token]);
        assert.deepEqual((await state("sketch")).slice(2), [0, token]);
    }
    assert.equal(sizes.size, 1, "however many tokens");
    const [heights] = await lines("state");
    assert.ok(new Set(heights).size === 1, heights);
});

test("#open=streaming&token=58: what was passed has its line, which is that of tokens that come one by one", async () => {
    await arrived(58);
    const passed = await lines("all");
    assert.equal(passed.length, backends.length);
    for (const heights of passed) assert.equal(heights.length, 58);
    for (const token of [3, 40, 41, 42, 57]) await go(token);
    await rested();
    assert.deepEqual(await lines("all"), passed);
});

test("#open=streaming&token=20: each answer is exact attention's over the tokens that have come, or as far off as told", async () => {
    await arrived(20);
    const [[, softmax], [, linear]] = await Promise.all([state("softmax"), state("linear")]);
    assert.ok(softmax < 1e-5 && linear > 0.1, `${softmax}, ${linear}`);
    await change(() => page.fill("#sketch-size", String(dim)));
    await arrived(20);
    await page.waitForFunction(() => {
        const [, error] = document.querySelectorAll("[data-stream=sketch] data");
        return error && Number(error.value) < 1e-4; // all features are exact
    });
});

test("#text=a+b+c+d+e+f&open=streaming&token=1: names are within the picture, each with its backend's colour", async () => {
    await arrived(1);
    const names = await page.locator(".growth text:not(:last-child)").evaluateAll((texts) =>
        texts.map((text) => {
            const { y, height } = text.getBBox();
            const series = text.previousElementSibling.getAttribute("class");
            return { name: text.textContent, isWithin: y >= 0 && y + height <= 160, series };
        }),
    );
    assert.ok(names.length >= 3);
    for (const { name, isWithin, series } of names) {
        assert.ok(isWithin, name);
        assert.equal(series, `series-${backends.indexOf(name)}`, name);
    }
});

test("it plays, pauses, and its place is in the link; another text begins anew", async () => {
    await write("one two three four five six");
    await page.click("#streaming summary");
    await arrived(1);
    assert.equal(await playUntil(page, "#token-words", "3 of "), "Pause");
    assert.equal(await page.textContent("#play"), "Play");
    assert.equal(await isPlaying(page), false);
    const token = Number(await page.inputValue("#token"));
    await page.waitForURL((url) => url.hash.includes(`token=${token}`));
    await page.waitForURL(/open=streaming/);
    assert.equal(await page.locator(".growth polyline.all").count(), backends.length);
    await page.click("#play");
    await arrived(6);
    await page.waitForFunction(() => document.querySelector("#play").textContent === "Play");
    await write("six others of the same number");
    await arrived(1);
    await go(3);
    await change(() => page.check("#causal"));
    await arrived(3); // the same tokens
    await change(() => page.click("[data-preset=needle]"));
    await arrived(1);
    await reopen("#open=streaming&token=99999&token=x&token=-1");
    await arrived(58);
});

test("#open=streaming&token=3: what a stream has is not sent again when another one has failed", async () => {
    await arrived(3);
    const [before] = await state("softmax");
    await failCall("append", 2 + 1); // softmax has two tokens more, and linear one
    await page.fill("#token", "5");
    await page.waitForFunction(
        () => document.querySelector("#token-words").textContent === "no room",
    );
    await rested();
    assert.equal(await page.textContent("#token-words"), "no room");
    await go(6);
    assert.equal((await state("softmax"))[0] - before, 3 * 2 * dim * 4);
    const errors = await Promise.all(backends.map(async (backend) => (await state(backend))[1]));
    await reopen("#open=streaming&token=6");
    await arrived(6);
    const wanted = await Promise.all(backends.map(async (backend) => (await state(backend))[1]));
    assert.deepEqual(errors, wanted);
});

test("#open=streaming: while a text is computed nothing is said of the last, nor that this one cannot be played", async () => {
    await arrived(1);
    const words = await page.evaluate(() => {
        globalThis.shown = [];
        const figure = document.querySelector("#streaming .figure");
        new MutationObserver(() => globalThis.shown.push(figure.textContent)).observe(figure, {
            childList: true,
        });
        const text = document.querySelector("#text");
        text.value = "another text";
        text.dispatchEvent(new Event("input", { bubbles: true }));
        return document.querySelector("#token-words").textContent;
    });
    assert.equal(words, "");
    await arrived(1);
    const shown = await page.evaluate(() => globalThis.shown);
    assert.ok(shown.length > 0);
    for (const each of shown) assert.doesNotMatch(each, /as many queries as keys/);
    await write("");
    await page.locator("#streaming", { hasText: "Nothing to play" }).waitFor();
});

test("#preset=needle&linear.rule=gated&open=streaming: why a backend has no stream is said as its panel says it", async () => {
    const said = await panel("linear").locator(".problem").textContent();
    assert.match(said, /^linear: rule 'gated' needs the array decay/);
    await page.locator("#streaming td", { hasText: said }).waitFor();
    assert.doesNotMatch(await page.locator("#streaming").textContent(), /AttnError/);
});

testOrigins();
