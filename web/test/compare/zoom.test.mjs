/** Pictures zoomed and moved: their numbers are the command line's weights, of the region that is seen. */

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readNpy } from "libattn/data";
import {
    change,
    cli,
    noCli,
    openDetails,
    openPage,
    opener,
    page,
    panel,
    readNumber,
    reopen,
    rested,
    run,
    show,
    testOrigins,
    write,
} from "../support/panels.mjs";
import { words } from "../support/watch.mjs";

const [count, dim] = [300, 16]; // two queries and keys in a cell, where all are seen
const text = words(count);
const eps = 2 ** -23;
const mostOff = 4 * (dim + count) * eps; // of a weight, as two compilers round it
const link = (rest) => `#text=${encodeURIComponent(text)}&dim=${dim}&${rest}`;

/** Rows of all weights by the command line. */
async function weightsOf(backend) {
    const folder = await mkdtemp(join(tmpdir(), "page-"));
    try {
        const [words, x, out, weights] = ["text.txt", "x.npy", "out.npy", "weights.npy"].map(
            (name) => join(folder, name),
        );
        await writeFile(words, text);
        await run(cli, ["embed", words, "--dim", String(dim), "-o", x]);
        const arrays = ["--q", x, "--k", x, "--v", x];
        await run(cli, ["run", backend, ...arrays, "-o", out, "--weights", weights]);
        const { data } = await readNpy(await readFile(weights));
        return Array.from({ length: count }, (_, i) => data.subarray(i * count, (i + 1) * count));
    } finally {
        await rm(folder, { recursive: true });
    }
}

/** What a panel saves of what it shows: cells in rows. */
async function cellsOf(backend) {
    await openDetails();
    const root = panel(backend).locator(".saving");
    if (!(await root.evaluate((details) => details.open))) await root.locator("summary").click();
    const coming = page.waitForEvent("download");
    await root.locator("[data-format=npy]").click();
    const chunks = await (await (await coming).createReadStream()).toArray();
    const { data, shape } = await readNpy(Buffer.concat(chunks));
    return { data, shape: [...shape] };
}

const mean = (all) => all.reduce((sum, each) => sum + each, 0) / all.length;
const largest = (all) =>
    all.reduce((most, each) => (Math.abs(each) > Math.abs(most) ? each : most));
const seen = () => page.textContent("#zoom output");

for (const backend of ["softmax", "sparse"])
    test(
        opener(`${backend}: a region has true weights, and cells of several their mean or largest`),
        {
            skip: cli ? false : noCli,
        },
        async () => {
            const weights = await weightsOf(backend);
            await reopen(link("region=100-139.20-69"));
            const near = await cellsOf(backend);
            assert.deepEqual(near.shape, [40, 50]);
            near.data.forEach((cell, i) => {
                const wanted = weights[100 + Math.floor(i / 50)][20 + (i % 50)];
                assert.ok(Math.abs(cell - wanted) <= mostOff, `cell ${i}: ${cell}, not ${wanted}`);
            });
            await page.click("#zoom-all");
            await rested();
            for (const [name, pool] of Object.entries({ mean, largest })) {
                await page.selectOption("#pooling-by", name);
                await rested();
                const { data, shape } = await cellsOf(backend);
                assert.deepEqual(shape, [150, 150]);
                data.forEach((cell, i) => {
                    const [row, column] = [2 * Math.floor(i / 150), 2 * (i % 150)];
                    const all = [row, row + 1].flatMap((j) => [
                        weights[j][column],
                        weights[j][column + 1],
                    ]);
                    const off = Math.abs(cell - pool(all));
                    assert.ok(off <= mostOff, `${name} of cell ${i}: ${cell}, off by ${off}`);
                });
                const reading = await panel(backend).locator(".readout").textContent();
                const [, told] = /^largest: “word\d+” → “word\d+” {2}(.+)$/.exec(reading);
                const most = Math.max(...weights.map((row) => Math.max(...row)));
                assert.ok(
                    Math.abs(readNumber(told) - most) <= 0.0005 + mostOff,
                    `${told}, not ${most}`,
                );
            }
            await page.waitForURL(/pooling=largest/);
        },
    );

test("a region of so many tokens asks for its own rows alone", async () => {
    await write(words(2000));
    const asked = await page.evaluateHandle(() => {
        const parts = [];
        const { postMessage } = Worker.prototype;
        Worker.prototype.postMessage = function (letter, ...rest) {
            if (letter[0] === "call" && letter[3] === "weights")
                parts.push(Object.fromEntries(letter[4][0][1]));
            return postMessage.call(this, letter, ...rest);
        };
        return parts;
    });
    const canvas = panel("linear").locator("canvas");
    await canvas.focus();
    await canvas.evaluate((focused) => {
        for (let i = 0; i < 5; i++)
            // none of the regions between is seen
            focused.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true }));
    });
    await rested();
    const [, first, last] = /^queries (\d+)–(\d+) of 2000/.exec(await seen());
    const parts = await asked.jsonValue();
    const rows = parts.reduce((sum, { count }) => sum + count, 0);
    const height = last - first + 1;
    assert.ok(Math.abs(height - 2000 / 32) <= 1, "the 32nd part");
    assert.equal(rows, 4 * height, "of four panels");
    assert.ok(parts.every((part) => part.first >= first && part.first + part.count <= +last + 1));
});

test(
    opener("wheel, drag, keys and buttons move all panels together, and a link keeps it"),
    async () => {
        await reopen(link(""));
        const canvas = panel("sketch").locator("canvas");
        await canvas.scrollIntoViewIfNeeded();
        const box = await canvas.boundingBox();
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
        const top = () => page.evaluate(() => scrollY);
        const before = await top();
        await page.mouse.wheel(0, 40);
        await page.waitForFunction((y) => scrollY > y, before);
        assert.equal(await seen(), "", "a wheel alone scrolls");
        await page.mouse.wheel(0, -40);
        await page.waitForFunction((y) => scrollY === y, before);
        await page.keyboard.down("Control");
        await page.mouse.wheel(0, -500);
        await page.keyboard.up("Control");
        await rested();
        const [, first, last] = /^queries (\d+)–(\d+) of 300, keys \d+–\d+ of 300$/.exec(
            await seen(),
        );
        assert.ok(Math.abs(last - first - count * Math.exp(-1)) <= 2, await seen());

        await page.mouse.down();
        await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2 + 60, { steps: 4 });
        await page.mouse.up();
        await rested();
        const [, moved] = /^queries (\d+)/.exec(await seen());
        assert.ok(Number(moved) < Number(first), `${moved}, before it ${first}`);
        assert.equal(await page.locator("#pin").isVisible(), false, "dragging pins nothing");

        await canvas.focus();
        await page.keyboard.press("Control+ArrowDown");
        await rested();
        const [, further] = /^queries (\d+)/.exec(await seen());
        assert.ok(Math.abs(further - moved - (last - first) / 4) <= 2, `${further}`);
        await page.waitForURL(/region=/);
        await page.mouse.move(0, 0); // away from the picture
        const shown = [await seen(), await page.locator(".readout").allTextContents()];
        const [one, other] = [await cellsOf("softmax"), await cellsOf("sketch")];
        assert.deepEqual(one.shape, other.shape);
        await reopen(page.url());
        assert.deepEqual([await seen(), await page.locator(".readout").allTextContents()], shown);
        assert.deepEqual((await cellsOf("sketch")).data, other.data);

        await page.click("#zoom-in");
        await rested();
        assert.notEqual(await seen(), shown[0]);
        await panel("sketch").locator("canvas").focus();
        await page.keyboard.press("0");
        await rested();
        assert.equal(await seen(), "");
        assert.equal(await page.isDisabled("#zoom-out"), true);
    },
);

test(opener("a picture that moves gives no room back, however long its words are"), async () => {
    const longer = (i) => "w".repeat(1 + Math.min(8, Math.abs(i - 105)));
    const uneven = Array.from({ length: count }, (_, i) => longer(i)).join(" ");
    await reopen(`#text=${encodeURIComponent(uneven)}&region=100-111.100-110`);
    const canvas = panel("softmax").locator("canvas");
    await canvas.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await canvas.boundingBox();
    const [left, top] = [x + width / 2, y + height / 2];
    await page.mouse.move(left, top);
    await canvas.evaluate((element) => {
        window.heights = [];
        const note = () => {
            const isMoving = element.closest(".panel.moving") !== null;
            window.heights.push(isMoving ? element.height : 0); // 0: it stands still, as between two moves
            window.unrest.requestAnimationFrame(note);
        };
        note();
    });
    await page.mouse.down();
    for (const to of [-70, 70]) await page.mouse.move(left, top + to, { steps: 8 });
    await page.mouse.up();
    await rested();
    const heights = await page.evaluate(() => window.heights);
    assert.ok(heights.filter((height) => height > 0).length > 5, `${heights}`);
    heights.forEach((height, i) => {
        assert.ok(height === 0 || i === 0 || height >= heights[i - 1], `${heights}`);
    });
});

test(opener("two fingers zoom and move a picture, one scrolls the page"), async () => {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
    show(await openPage(phone));
    const canvas = panel("softmax").locator("canvas");
    await canvas.scrollIntoViewIfNeeded();
    const { x, y, width } = await canvas.boundingBox();
    const session = await page.context().newCDPSession(page);
    const touch = (type, ...at) =>
        session.send("Input.dispatchTouchEvent", {
            type,
            touchPoints: at.map(([dx, dy], id) => ({ x: x + dx, y: y + dy, id })),
        });
    const middle = width / 2;
    await touch("touchStart", [middle - 20, 100], [middle + 20, 100]);
    for (const apart of [25, 35, 50])
        await touch("touchMove", [middle - apart, 100], [middle + apart, 100]);
    await touch("touchEnd");
    await rested();
    const [, first, last] = /^queries (\d+)–(\d+) of 58/.exec(await seen());
    assert.ok(Math.abs(last - first + 1 - (58 * 25) / 50) <= 2, await seen());
});

test(opener("a row keeps its place in a region, and a difference is of the same one"), async () => {
    await reopen(link("region=100-139.100-139&difference=1&row=120.110"));
    await panel("softmax").locator(".row:not(.old) .row-error").waitFor();
    const { data } = await cellsOf("sparse");
    assert.ok(data.some((cell) => cell < 0) && data.some((cell) => cell > 0));
    await page.uncheck("#difference");
    const [softmax, sparse] = [await cellsOf("softmax"), await cellsOf("sparse")];
    data.forEach((cell, i) => {
        const wanted = Math.fround(sparse.data[i] - softmax.data[i]);
        assert.ok(Math.abs(cell - wanted) <= 2 * eps, `${cell}, not ${wanted}`);
    });
    const canvas = panel("sparse").locator("canvas");
    await canvas.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    assert.match(await page.textContent("#pin span"), /number 100,/);
    await change(() => page.click("[data-preset=copy]")); // which has not got so many
    assert.equal(await seen(), "");
});

testOrigins();
