/** One row, step by step: the numbers are the formula's. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { embed } from "libattn/data";
import { npy, randomNpy, randomNumbers } from "../support/npy.mjs";
import {
    backends,
    change,
    drop,
    failCall,
    openDetails,
    opener,
    page,
    panel,
    reopen,
    rested,
    site,
    testOrigins,
    withhold,
    write,
} from "../support/panels.mjs";
import { pin, stepsShown } from "../support/rows.mjs";
import { templatePlugin } from "../support/plugin.mjs";

const eps = 2 ** -23;

/** The panel whose picture has the focus. */
const focused = () =>
    page.evaluate(() => {
        const { activeElement: active } = document;
        return active.matches(".picture canvas") && active.closest(".panel").dataset.backend;
    });

/** The table's rows of a panel: [key, numbers...]. */
const table = (backend) =>
    panel(backend)
        .locator(".steps tbody tr")
        .evaluateAll((rows) =>
            rows.map((row) => [
                row.querySelector("th").textContent,
                ...[...row.querySelectorAll("td")].map((cell) =>
                    Number(cell.querySelector("data")?.value ?? NaN),
                ),
            ]),
        );

/** Three digits, as they stand in a formula behind an operator. */
function inOperation(value) {
    const text = Math.abs(value).toPrecision(3);
    return value < 0 ? `(−${text})` : text;
}

const rowError = async (backend) =>
    Number(await panel(backend).locator(".row-error data").getAttribute("value"));

/** Query and key by their own products. */
async function dots(query) {
    const dim = Number(await page.inputValue("#dim"));
    const { x, tokens } = await embed(await page.inputValue("#text"), dim);
    return tokens.map((_, key) => {
        let [dot, size] = [0, 0];
        for (let c = 0; c < dim; c++) {
            dot += x[query * dim + c] * x[key * dim + c];
            size += Math.abs(x[query * dim + c] * x[key * dim + c]);
        }
        return { key, token: tokens[key], dot, size };
    });
}

test("softmax: q.k, logit, exp and weight are exact attention's", async () => {
    const text = "alpha beta gamma delta epsilon";
    await write(text);
    await pin(2, 1);
    assert.match(await page.textContent("#pin"), /“gamma”, number 2/);
    const truth = await dots(2);
    const exps = truth.map(({ dot }) => Math.exp(dot / 8));
    const sum = exps.reduce((total, each) => total + each, 0);
    const largest = Math.max(...truth.map(({ dot }) => dot / 8));
    const rows = await table("softmax");
    assert.deepEqual(
        rows.map(([name]) => name),
        text.split(" ").map((token) => `“${token}”`),
    );
    rows.forEach(([name, dot, logit, exp, weight], j) => {
        const most = 64 * eps * (truth[j].size / 8 + 1); // of the logit, in f32
        assert.ok(Math.abs(dot - truth[j].dot) <= 1e-12 * truth[j].size, name);
        assert.ok(Math.abs(logit - truth[j].dot / 8) <= 2 * most, `${name}: ${logit}`);
        const relative = 4 * most;
        assert.ok(Math.abs(exp / Math.exp(truth[j].dot / 8 - largest) - 1) <= relative, name);
        assert.ok(Math.abs((weight * sum) / exps[j] - 1) <= relative, name);
    });
    assert.ok((await rowError("softmax")) < 1e-5);
    const formulas = await panel("softmax").locator("math").allTextContents();
    const [, dot, , , weight] = rows[1];
    assert.ok(formulas[0].includes(dot.toFixed(dot < 10 ? 2 : 1)), formulas[0]);
    assert.ok(formulas.at(-2).includes(weight.toPrecision(3)), formulas.at(-2));
    const { x } = await embed(text, 64);
    const product = `${weight.toPrecision(3)}·${inOperation(x[64])}`; // of the key's first number
    assert.ok(formulas.at(-1).includes(product), `${formulas.at(-1)}, not ${product}`);
    const value = panel("softmax").locator(".row figure", { hasText: "Value v of key “beta”" });
    const heights = await value
        .locator("rect")
        .evaluateAll((all) => all.map((bar) => Number(bar.getAttribute("height"))));
    const most = x.subarray(64, 128).reduce((size, each) => Math.max(size, Math.abs(each)), 0);
    heights.forEach((height, c) =>
        assert.ok(Math.abs(height - (24 * Math.abs(x[64 + c])) / most) < 1e-4, `column ${c}`),
    );
    assert.equal(heights.length, 64);
    const numbers = await panel("softmax").locator("mn").allTextContents();
    for (const each of numbers) assert.match(each, /^−?[\d.]+( × 10\S+)?$/);
});

test("linear: products of features, their sum, and a state whose size keys do not change", async () => {
    await pin(3, 3);
    const rows = await table("linear");
    const sum = Number(await panel("linear").locator("tfoot td").nth(1).textContent());
    for (const [name, , part, weight] of rows) {
        assert.ok(Math.abs((weight * sum) / part - 1) < 0.01, `${name}: ${part} of ${sum}`);
    }
    const size = () =>
        panel("linear")
            .locator(".state canvas")
            .evaluateAll((all) => all.map(({ width, height }) => [width, height]));
    assert.deepEqual(await size(), [
        [64, 64],
        [64, 1],
    ]);
    await write("two words");
    assert.deepEqual(await page.locator(".row table").count(), 0, "query 3 is no more");
    await pin(1, 0);
    assert.deepEqual((await size())[0], [64, 64]);
});

test("#row=5.3: linear: a row has what its settings leave of the state", async () => {
    const captions = () => panel("linear").locator(".state figcaption").allTextContents();
    await stepsShown();
    assert.equal((await captions()).length, 2);
    for (const label of ["State", "State of the normaliser"])
        await panel("linear").getByRole("img", { name: label, exact: true }).waitFor();
    for (const [link, count] of [
        ["row=5.3&linear.normaliser=off", 1],
        ["causal=1&row=5.3&linear.rule=gated&linear.retnet=1", 2],
        ["causal=1&row=5.3&linear.rule=gated&linear.retnet=1&linear.normaliser=off", 1],
    ]) {
        await reopen(`#${link}`);
        await stepsShown();
        assert.equal((await captions()).length, count, link);
    }
});

test("sparse: the keys it keeps, and no weight elsewhere; causal: none after the query", async () => {
    await write("a b c d e f g h i j k l m n o p");
    await change(() => page.fill("#sparse-block", "4"));
    await pin(9, 0);
    // Positions nearer than 4, and the last of each block of 4.
    const kept = "3, 6–12, 15";
    assert.equal(
        await panel("sparse").locator(".sees").textContent(),
        `sees 16 of 16 keys, and keeps 9: ${kept}.`,
    );
    const [[name, , logit, , weight]] = await table("sparse");
    assert.deepEqual([name, logit, weight], ["“a”", -Infinity, 0]);
    await change(() => page.check("#causal"));
    await stepsShown();
    assert.equal(
        await panel("sparse").locator(".sees").textContent(),
        "sees 10 of 16 keys, none after key 9, and keeps 5: 3, 6–9.",
    );
    assert.match(await panel("softmax").locator(".sees").textContent(), /sees 10 of 16.*keeps all/);
});

test("#row=40.0: a list of kept keys that is cut off ends in three dots", async () => {
    await change(() => page.fill("#sparse-block", "4"));
    await stepsShown();
    const said = await panel("sparse").locator(".sees").textContent();
    assert.match(said, /, and keeps \d+: 3, 7, 11, 15, 19, 23, …$/);
});

test("a fact's letter is said once, where its parameter's name and help both have it", async () => {
    await openDetails();
    await panel("sparse").locator("[data-name=local] .term").click();
    const said = await page.textContent("#explanation");
    assert.match(said, /^local blocks k: each query sees the nearest k\*B keys/);
});

test("#scale=1000&row=5.3&causal=1: a key is kept whose weight is too small for a float, and left out by a pattern alone", async () => {
    await stepsShown();
    const sees = (backend) => panel(backend).locator(".sees").textContent();
    const small = "below what a float can hold";
    const all = /, and keeps all; 5 weights are 0\.$/;
    assert.match(await sees("softmax"), all);
    assert.match(await sees("sketch"), all);
    assert.match(await sees("linear"), /, and keeps all\.$/);
    assert.match(await sees("sparse"), /, and keeps 4: 2–5; 3 weights are 0\.$/);
    const logits = (backend) =>
        panel(backend).locator(".steps tbody td:nth-child(3)").allTextContents();
    assert.deepEqual((await logits("softmax")).slice(0, 5), Array(5).fill(small));
    const ofSparse = [...Array(2).fill("left out"), ...Array(3).fill(small)];
    assert.deepEqual((await logits("sparse")).slice(0, 5), ofSparse);
    const told = await panel("sketch").locator(".formulas").textContent();
    assert.ok(told.includes(small) && !told.includes("∞"), told);
    await reopen("#scale=1000&row=5.0&causal=1");
    await stepsShown();
    const row = await panel("sparse").locator(".row").textContent();
    assert.match(row, /The pattern leaves key “Attention” out: its weight is 0\./);
});

test("#preset=normaliser: linear: a normaliser of 0 is told, and no number follows an operator by its sign", async () => {
    await stepsShown();
    const lines = () => panel("linear").locator(".formulas").textContent();
    assert.match(
        await lines(),
        /The normaliser, the sum of all products, is 0: then the weights are 0\./,
    );
    const math = () => page.locator(".formulas math").allTextContents();
    const shown = await math();
    assert.ok(
        shown.some((line) => /·\(−1\.17\)=/.test(line)),
        "q·k is below 0",
    );
    await reopen("#preset=normaliser&scale=-1&linear.normaliser=off&row=3.31");
    await stepsShown();
    for (const line of [...shown, ...(await math())]) assert.doesNotMatch(line, /[·−+]−/);
});

test("Escape closes the steps and takes the crosshair away, by keyboard and after a click", async () => {
    const isRead = () => panel("softmax").locator(".readout:not(.idle)").count();
    await pin(2, 1);
    assert.equal(await focused(), "softmax");
    await page.keyboard.press("Escape");
    await page.locator("#pin").waitFor({ state: "hidden" });
    assert.equal(await focused(), "softmax");
    assert.equal(await isRead(), 0);
    const canvas = panel("softmax").locator("canvas");
    await canvas.click({ position: { x: 300, y: 200 } });
    await stepsShown();
    await page.keyboard.press("Escape");
    await page.locator("#pin").waitFor({ state: "hidden" });
    await page.waitForURL((url) => !url.hash.includes("row="));
});

test("pinning a row moves no picture, and a second click hits the same row", async () => {
    const places = () =>
        page.locator(".panel canvas").evaluateAll((all) =>
            all.map((canvas) => {
                const { x, y, width, height } = canvas.getBoundingClientRect();
                return [x, y + scrollY, width, height].join();
            }),
        );
    for (const width of [1600, 1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        await rested();
        const before = await places();
        const canvas = panel("softmax").locator(".picture canvas");
        const position = { x: 200, y: 120 };
        await canvas.click({ position });
        await stepsShown();
        const said = await page.textContent("#pin h2");
        assert.deepEqual(await places(), before, `${width}`);
        await canvas.click({ position });
        assert.equal(await page.textContent("#pin h2"), said);
        const cut = await page.$$eval(
            ".formulas",
            (all) => all.filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length,
        );
        assert.equal(cut, 0, `${width}: a formula is cut`);
        await page.keyboard.press("Escape");
        await page.locator("#pin").waitFor({ state: "hidden" });
    }
});

test("tokens from right to left stay apart from what is beside them", async () => {
    await write("שלום 12 abc");
    await pin(0, 1);
    assert.match(await page.textContent("#pin"), /Query “\u2068שלום\u2069”, number 0/);
    const names = (await table("softmax")).map(([name]) => name);
    assert.deepEqual(names, ["“\u2068שלום\u2069”", "“12”", "“abc”"]);
});

test("rows say how to see them step by step", async () => {
    assert.match(await page.textContent("#looks"), /click it for its arithmetic/);
    assert.match(await page.textContent("#settings"), /Enter on a row shows it step by step/);
    const label = await panel("softmax").locator(".picture canvas").getAttribute("aria-label");
    assert.match(label, /Enter: step by step$/);
});

test("sketch: its logits are not the exact ones, and its weights are theirs", async () => {
    await pin(0, 0);
    const rows = await table("sketch");
    const factor = rows.map(([, , , exp, weight]) => weight / exp);
    for (const each of factor) assert.ok(Math.abs(each / factor[0] - 1) < 1e-5);
    const off = rows.map(([, dot, logit]) => Math.abs(logit - dot / 8));
    assert.ok(Math.max(...off) > 0.1, `off by ${off}`);
    await change(() => page.fill("#sketch-size", "64"));
    await stepsShown();
    for (const [name, dot, logit] of await table("sketch"))
        assert.ok(Math.abs(logit - dot / 8) < 1e-4, `${name}: all features are exact`);
});

test("a button leads to the row that is farthest off, in whichever head", async () => {
    await write("alpha beta gamma delta epsilon zeta eta theta");
    await openDetails();
    const worst = (backend) => panel(backend).locator(".worst");
    const told = async (backend) =>
        Number(await worst(backend).locator("data").getAttribute("value"));
    for (const backend of ["linear", "sketch"]) {
        await worst(backend).click();
        await stepsShown();
        const query = Number(await worst(backend).getAttribute("data-query"));
        assert.match(await page.textContent("#pin"), new RegExp(`number ${query},`));
        assert.ok(Math.abs((await rowError(backend)) / (await told(backend)) - 1) < 1e-3, backend);
        for (let other = 0; other < 8; other++) {
            await pin(other, 0);
            assert.ok((await rowError(backend)) <= (await told(backend)) * (1 + 1e-3), `${other}`);
        }
    }
    await change(() => drop({ "x.npy": randomNpy([2, 3, 20, 8], 1) }));
    await worst("linear").click();
    await stepsShown();
    assert.ok(Math.abs((await rowError("linear")) / (await told("linear")) - 1) < 1e-3);
    const largest = (await table("linear")).sort((one, other) => other.at(-1) - one.at(-1))[0];
    const pinned = panel("linear").locator(".steps tr.marked th");
    assert.equal(await pinned.textContent(), largest[0], "in the row's own head");
    await page.click("#pin button");
    assert.equal(await page.locator(".worst:visible").count(), backends.length);
});

test("a row that overflows is the worst", async () => {
    const numbers = randomNumbers([1, 1, 6, 4], 1);
    for (let c = 4; c < 8; c++) numbers[c] *= 1e30; // its products are no floats, and doubles
    await change(() => drop({ "x.npy": npy([1, 1, 6, 4], numbers) }));
    const worst = panel("softmax").locator(".worst");
    assert.equal(await worst.locator("data").getAttribute("value"), "NaN");
});

test(opener("tokens of any length leave pages as wide as they are"), async () => {
    const token = "a".repeat(300);
    await reopen(`#text=${token}+dog+dog+${token}b&row=0.0&open=streaming`);
    await stepsShown();
    await page.locator(".streams").waitFor();
    const isWide = () =>
        page.evaluate(() => {
            const { scrollWidth, clientWidth } = document.documentElement;
            return scrollWidth > clientWidth;
        });
    assert.equal(await isWide(), false);
    await page.setViewportSize({ width: 390, height: 800 });
    assert.equal(await isWide(), false);
    await page.setViewportSize({ width: 1600, height: 1000 });
    await page.goto(new URL(`story.html#text=${token}+dog+dog+${token}`, site.url).href);
    await page.locator("#asks", { hasText: token }).waitFor();
    assert.equal(await isWide(), false);
});

test("a click pins, a link has it, the button closes it, and nonsense in a link does nothing", async () => {
    const canvas = panel("softmax").locator("canvas").first();
    const { width, height } = await canvas.boundingBox();
    await canvas.click({ position: { x: width / 2, y: height / 3 } });
    await stepsShown();
    await page.waitForURL(/row=\d+\.\d+/);
    const shown = await Promise.all(backends.map(table));
    await reopen(page.url());
    await stepsShown();
    assert.deepEqual(await Promise.all(backends.map(table)), shown);
    await page.click("#pin button");
    assert.equal(await page.locator(".row:visible").count(), 0);
    assert.equal(await focused(), "softmax", "a link has no picture that it was asked from");
    await pin(1, 1);
    await panel("sparse").locator("canvas").first().focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await stepsShown();
    await page.focus("#pin button");
    await page.keyboard.press("Enter");
    assert.equal(await focused(), "sparse");
    await page.waitForURL((address) => !address.hash.includes("row="));
    for (const row of ["9999.0", "0.9999", "-1.2", "a.b", "1", "1.1.1", "__proto__.0"]) {
        await reopen(`#row=${row}`);
        assert.equal(await page.locator(".row:visible").count(), 0, row);
    }
});

test("no query is said to be shown while there is none", async () => {
    await write("alpha beta gamma");
    await pin(1, 1);
    const isHidden = await page.evaluate(() => {
        const text = document.querySelector("#text");
        text.value = "delta epsilon";
        text.dispatchEvent(new Event("input", { bubbles: true }));
        return document.querySelector("#pin").hidden;
    });
    assert.equal(isHidden, true);
    await page.locator("#pin", { hasText: "“epsilon”, number 1" }).waitFor();
});

test("steps of the last row are dimmed and say so, until the new ones are there", async () => {
    await pin(3, 1);
    assert.equal(await page.locator(".row .stale-note:visible").count(), 0);
    await withhold();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page
        .locator(".row .stale-note")
        .nth(backends.length - 1)
        .waitFor();
    const opacity = await panel("linear")
        .locator(".row .steps")
        .evaluate((steps) => Number(getComputedStyle(steps).opacity));
    assert.ok(opacity < 0.5, `${opacity}`);
});

test("Enter chooses the first cell of a picture that has none chosen, and the next pins its row", async () => {
    await reopen("#text=a+b+c");
    await panel("softmax").locator("canvas").focus();
    await page.keyboard.press("Enter");
    assert.match(await panel("softmax").locator(".readout").textContent(), /^“a” → “a” /);
    assert.equal(await page.locator("#pin").isVisible(), false);
    await page.keyboard.press("Enter");
    await stepsShown();
    assert.match(await page.textContent("#pin"), /“a”/);
});

test("rows of NaN are drawn as far as there are numbers", async () => {
    const complaints = [];
    page.on("console", (message) => complaints.push(message.text()));
    const numbers = Array.from({ length: 24 }, (_, i) => (i === 5 ? NaN : i / 24));
    await change(() => drop({ "x.npy": npy([6, 4], numbers) }));
    await pin(1, 1);
    assert.ok((await page.locator(".row .output rect").count()) > 0);
    assert.deepEqual(complaints, []);
});

test("what a row fails of is told, and by the latest one only", async () => {
    await write("alpha beta gamma");
    await pin(1, 1);
    const row = panel("softmax").locator(".row");
    await failCall("weights");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.locator("[data-backend=softmax] .row:not(.old)", { hasText: "no room" }).waitFor();
    await page.waitForFunction(() => document.querySelectorAll(".row-error").length === 3);
    await failCall("weights");
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.click("#pin button");
    await rested(); // the answer has come
    assert.equal(await row.textContent(), "");
    assert.equal(await page.locator(".row.old").count(), 0);
});

test("a plugin's row shows what the plugin declares", async () => {
    const plugin = await templatePlugin();
    await change(() => drop(plugin));
    await pin(1, 1);
    const rows = await page
        .locator("[data-backend='org.libattn.template'] .steps tbody tr")
        .count();
    assert.ok(rows > 0);
});

testOrigins();
