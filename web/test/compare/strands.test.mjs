/** Lines between tokens: as many and as strong as the weights that the panel saves. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { readNpy } from "libattn/data";
import { randomNpy } from "../support/npy.mjs";
import {
    change,
    drop,
    openDetails,
    opener,
    page,
    panel,
    reopen,
    testOrigins,
    withhold,
    write,
} from "../support/panels.mjs";
import { words } from "../support/watch.mjs";

const text = "the cat sat on the mat and the dog sat on the cat";
const count = 13;
const lines = () =>
    page.locator("#strands line").evaluateAll((all) =>
        all.map((each) => {
            const { query, key, weight } = each.dataset;
            const opacity = Number(each.getAttribute("stroke-opacity"));
            return { query: +query, key: +key, weight: +weight, opacity };
        }),
    );
const drawn = (of) =>
    page.waitForFunction(
        (n) => document.querySelectorAll("#strands text").length === n && n > 0,
        of,
    );

async function weights(backend) {
    await openDetails();
    const root = panel(backend).locator(".saving");
    if (!(await root.evaluate((details) => details.open))) await root.locator("summary").click();
    const coming = page.waitForEvent("download");
    await root.locator("[data-format=npy]").click();
    const chunks = await (await (await coming).createReadStream()).toArray();
    return (await readNpy(Buffer.concat(chunks))).data;
}

for (const backend of ["softmax", "sketch"])
    test(`#text=${encodeURIComponent(text)}&causal=1&strands=${backend}: ${backend}: lines are its weights, but for those too thin`, async () => {
        await drawn(2 * count);
        const all = await weights(backend);
        const most = Math.max(...all.map(Math.abs));
        const wanted = [];
        all.forEach((weight, i) => {
            if (Math.abs(weight) < 0.02 * most) return;
            wanted.push({ query: Math.floor(i / count), key: i % count, weight });
        });
        const found = await lines();
        assert.ok(found.length < (count * (count + 1)) / 2 + 1 && found.length > count);
        assert.deepEqual(
            found.map(({ query, key, weight }) => ({ query, key, weight })),
            wanted,
        );
        for (const { weight, opacity } of found)
            assert.ok(Math.abs(opacity - Math.abs(weight) / most) <= 0.0005, `${weight}`);
    });

test("by pointer and keyboard a token's lines stand alone, and its steps are a click away", async () => {
    await write(text);
    await page.click("#strands summary");
    await page.waitForURL(/strands=softmax/);
    await drawn(2 * count);
    const seen = async () => {
        const list = await page
            .locator("#strands line")
            .evaluateAll((all) =>
                all
                    .filter((each) => getComputedStyle(each).visibility === "visible")
                    .map(({ dataset }) => `${dataset.query} ${dataset.key}`),
            );
        return list;
    };
    const all = await seen();
    await page.locator("#strands text").nth(2).hover();
    assert.deepEqual(
        await seen(),
        all.filter((each) => each.startsWith("2 ")),
    );
    const said = await page.locator("#strands .figure [role=status]").textContent();
    assert.match(said, /^“sat” looks most at “.+” 0\.\d+, .+\.$/);
    await page
        .locator("#strands text")
        .nth(count + 5)
        .hover();
    assert.deepEqual(
        await seen(),
        all.filter((each) => each.endsWith(" 5")),
    );
    assert.match(
        await page.locator("#strands .figure [role=status]").textContent(),
        /is looked at most by/,
    );
    await page.mouse.move(0, 0);
    await page.locator("#strands text").first().focus();
    await page.keyboard.press("ArrowDown");
    assert.deepEqual(
        await seen(),
        all.filter((each) => each.startsWith("1 ")),
    );
    assert.equal(await page.locator("#strands text[tabindex='0']").count(), 1);
    await page.keyboard.press("Enter");
    await page.locator("#pin:visible").waitFor();
    assert.match(await page.textContent("#pin span"), /“cat”, number 1,/);
    assert.equal(await focused(), "cat, query 1", "as the pin says");
});

const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));

test(`#text=${encodeURIComponent(text)}&strands=softmax&region=4-9.6-12: keys are reached by keyboard, too, and counted as queries are`, async () => {
    await drawn(6 + 7);
    await page.locator("#strands text").first().focus();
    assert.equal(await focused(), "the, query 4");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    assert.equal(await focused(), "the, key 7");
    const said = page.locator("#strands .figure [role=status]");
    assert.match(await said.textContent(), /^“the” is looked at most by “/);
    const ends = await page
        .locator("#strands line.seen")
        .evaluateAll((all) => all.map(({ dataset }) => dataset.key));
    assert.ok(ends.length > 0 && ends.every((key) => key === "1"), ends.join());
    await page.keyboard.press("Enter");
    await page.locator("#pin:visible").waitFor();
    const [best] = (await lines())
        .filter(({ key }) => key === 1)
        .sort((one, other) => other.weight - one.weight);
    const [, number] = /number (\d+),/.exec(await page.textContent("#pin span"));
    assert.equal(Number(number), 4 + best.query);
    await page.waitForURL(new RegExp(`row=${number}.7`));
    await page.keyboard.press("ArrowLeft");
    assert.equal(await focused(), "mat, query 5");
});

test(opener("lines are gone as soon as they are of another region or parameter"), async () => {
    for (const act of [() => page.click("#zoom-in"), () => page.fill("#sparse-block", "2")]) {
        await reopen(`#text=${encodeURIComponent(text)}&strands=sparse`);
        await drawn(2 * count);
        await withhold();
        await act();
        await page.waitForFunction(() => !document.querySelector("#strands svg"));
    }
});

test(opener("too many tokens have no room, and zoomed in they have"), async () => {
    await reopen(`#text=${encodeURIComponent(words(100))}&strands=sparse`);
    await page.locator("#strands .figure p").waitFor();
    assert.match(await page.textContent("#strands .figure"), /Zoom in to 64 tokens/);
    await page.click("#zoom-in");
    await drawn(100);
    const [first] = await lines();
    assert.ok(first.weight !== 0);
    const names = await page.locator("#strands text").allTextContents();
    const all = words(100).split(" ");
    assert.deepEqual(names.slice(0, 50), all.slice(25, 75));
});

test("arrays without tokens have no lines", async () => {
    await change(() => drop({ "x.npy": randomNpy([20, 8], 1) }));
    assert.equal(await page.locator("#strands").isVisible(), false);
});

testOrigins();
