/** A reload, and a link opened elsewhere, show the same page again. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { settled } from "../support/browser.mjs";
import { randomNpy } from "../support/npy.mjs";
import { templatePlugin } from "../support/plugin.mjs";
import { change, drop } from "../support/reader.mjs";
import { rested } from "../support/rest.mjs";
import { openSite } from "../support/site.mjs";

const web = fileURLToPath(new URL("../..", import.meta.url));

const site = openSite();
let page;
let complaints = [];

/** Where a test's name begins with an address, it is opened there. */
beforeEach(async ({ name }) => {
    complaints = [];
    const [, address = "#preset=none"] = /^(#\S+): /.exec(name) ?? [];
    await elsewhere(site.url + address);
});

afterEach(async () => {
    await page.close();
    assert.deepEqual(complaints, []);
});

/** Opens an address as somebody else would, with a browser that has kept nothing. */
async function elsewhere(url) {
    await page?.close();
    page = await site.newPage({ viewport: { width: 1600, height: 1000 } });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (line) => {
        if (["error", "warning"].includes(line.type())) complaints.push(line.text());
    });
    await page.goto(url);
    await settled(page);
}

async function reload() {
    await written();
    await page.reload();
    await settled(page);
}

/** The address follows what is chosen after a moment. */
async function written() {
    await rested(page);
    return page.url();
}

const panel = (backend) => page.locator(`[data-backend="${backend}"]`);
const values = () =>
    page.locator("[data-name=error] data").evaluateAll((all) => all.map(({ value }) => value));
const readouts = () => page.locator(".readout").allTextContents();
const words = (count) =>
    Array.from({ length: count }, (_, i) => `word${(i * 7919) % 1000}`).join(" ");

/** Letters that cannot be packed, in words of so many. */
function noise(count, each) {
    let state = 1;
    const letter = (_, i) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return i % each === each - 1 ? " " : String.fromCharCode(97 + ((state >>> 8) % 26));
    };
    return Array.from({ length: count }, letter).join("");
}

test("long text is whole in the link", async () => {
    const text = `${words(700)}\nß𝒳, "quotes" & 100 % + more`; // 5000 characters and more
    await change(page, () => page.fill("#text", text));
    const shown = await values();
    const url = await written();
    assert.ok(url.length < text.length, `${url.length} letters of address`);
    await elsewhere(url);
    assert.equal(await page.inputValue("#text"), text);
    assert.deepEqual(await values(), shown);
    assert.equal(await page.locator("#text-note").isVisible(), false);
});

test("a link has text whole whose letters take two bytes and more, and what it begins with", async () => {
    const text = `\ufeff${`${"ß".repeat(5999)} `.repeat(100)}`; // 1.2 MB
    await change(page, () => page.fill("#text", text));
    const shown = await values();
    const url = await written();
    assert.match(url, /#packed=/);
    await elsewhere(url);
    assert.ok((await page.inputValue("#text")) === text);
    assert.equal(await page.locator("#text-note").isVisible(), false);
    assert.deepEqual(await values(), shown);
});

test("text too long for a link is kept by the browser, and the page says so", async () => {
    const text = noise(60_000, 600);
    await change(page, () => page.fill("#text", text));
    const note = /32.000 letters.*this browser keeps the text/;
    await page.locator("#text-note", { hasText: note }).waitFor();
    await reload();
    assert.equal(await page.inputValue("#text"), text);
    assert.equal(await page.locator("#text-note").isVisible(), true);
    const url = page.url();
    assert.ok(url.length < 200, url);
    await elsewhere(url);
    assert.match(await page.textContent("#text-note"), /kept in another browser/);
    await change(page, () => page.fill("#text", "short again"));
    await page.locator("#text-note").waitFor({ state: "hidden" }); // as soon as the address has it
});

test("what is typed is there after a reload at once", async () => {
    await rested(page); // the address may be written at once, as the page is being left
    await page.fill("#text", "typed a moment ago");
    await page.evaluate(() => location.reload());
    await page.waitForURL(/text=typed/);
    await settled(page);
    assert.equal(await page.inputValue("#text"), "typed a moment ago");
    assert.match(await page.textContent("#summary"), /^4 tokens/);
    await page.waitForURL(/text=typed/);
});

test("what is folded out is in the link: rules, table, command and what is saved", async () => {
    const [sparse, softmax] = ["[data-backend=sparse]", "[data-backend=softmax]"];
    const folds = ["#rules", `${sparse} .details`, `${sparse} .rows`];
    folds.push(`${softmax} .details`, `${softmax} .saving`);
    for (const fold of folds) await page.click(`${fold} > summary`);
    const open = await page.locator("details[open]").count();
    assert.equal(open, folds.length);
    await elsewhere(await written());
    for (const fold of folds) assert.equal(await page.getAttribute(fold, "open"), "", fold);
    assert.equal(await page.locator("details[open]").count(), open);
    for (const fold of folds.reverse()) await page.click(`${fold} > summary`);
    assert.equal(await written(), site.text);
});

const plain = encodeURIComponent("old & plain + text");
test(`#text=${plain}: links with plain text stay readable; one that was cut short says so`, async () => {
    assert.equal(await page.inputValue("#text"), "old & plain + text");
    await change(page, () => page.fill("#text", words(700)));
    const url = await written();
    assert.match(url, /#packed=/);
    const demo = (await readFile(join(web, "public/demo.txt"), "utf8")).trim();
    for (const broken of [url.slice(0, -9), `${url}é`, `${site.url}#packed=`]) {
        await elsewhere(broken);
        assert.equal(await page.inputValue("#text"), demo);
        assert.match(await page.textContent("#text-note"), /cannot be read: is it whole/);
    }
});

test("a link does not unpack to more than a link can hold", async () => {
    const url = await page.evaluate(async () => {
        const stream = new Blob(["a ".repeat(8 << 20)]).stream();
        const bytes = await new Response(
            stream.pipeThrough(new CompressionStream("deflate-raw")),
        ).bytes();
        const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
        return `#packed=${letters.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
    });
    await elsewhere(site.url + url);
    assert.match(await page.textContent("#text-note"), /cannot be read/);
});

test("differences, parameters and the problem are in the link", async () => {
    await page.check("#difference");
    await page.selectOption("#colours", "log");
    await panel("sketch").locator(".enlarge").click();
    await change(page, () => page.fill("#sketch-size", "12"));
    await change(page, () => page.check("#causal"));
    const shown = [await values(), await readouts()];
    await elsewhere(await written());
    assert.deepEqual([await values(), await readouts()], shown);
    assert.equal(await page.isChecked("#difference"), true);
    assert.equal(await page.inputValue("#colours"), "log");
    assert.equal(await page.locator(".enlarged").getAttribute("data-backend"), "sketch");
    assert.equal(await page.locator("#difference-legend").isVisible(), true);
});

test("Back leads to the input before, and Forward to this one again", async () => {
    const choose = (id) => change(page, () => page.click(`[data-preset=${id}]`));
    const shows = async (id) => {
        await page.locator(`[data-preset=${id}][aria-pressed=true]`).waitFor();
        await settled(page);
    };
    await choose("copy");
    await page.waitForURL(/#preset=copy$/);
    await choose("identical");
    await page.waitForURL(/#preset=identical$/);
    await page.goBack();
    await shows("copy");
    assert.equal(await page.isChecked("#causal"), true);
    await page.goForward();
    await shows("identical");
    assert.equal(await page.isChecked("#causal"), false);
    await page.goBack();
    await shows("copy");
    await page.goBack();
    await page.locator(".text-source:visible").waitFor();
    await settled(page);
    assert.equal(new URL(page.url()).href, site.text, "what was first");
    await page.evaluate(() => (globalThis.steps = history.length));
    await change(page, () => page.fill("#text", "typed, letter by letter"));
    await page.waitForURL(/#text=/);
    assert.equal(await page.evaluate(() => history.length - globalThis.steps), 0);
});

test("#difference=0: a difference of 0 in a link is none", async () => {
    assert.equal(await page.isChecked("#difference"), false);
    for (const [value, isShown] of [
        ["1", true],
        ["sketch", true],
    ]) {
        await elsewhere(`${site.url}#difference=${value}`);
        assert.equal(await page.isChecked("#difference"), isShown, value);
    }
});

test("what was asked for last counts, however long the bytes of a file are on their way", async () => {
    await page.evaluate(() => {
        const { arrayBuffer } = Blob.prototype;
        Blob.prototype.arrayBuffer = async function () {
            if (this.name === "slow.npy")
                await new Promise((resolve) => (globalThis.come = resolve));
            return arrayBuffer.call(this);
        };
    });
    const summary = () => page.textContent("#summary");
    /** The bytes come after all else is done. */
    const arrive = async () => {
        await rested(page);
        await page.evaluate(() => globalThis.come());
        await rested(page);
    };
    await drop(page, { "slow.npy": randomNpy([5, 4], 1) });
    await drop(page, { "fast.npy": randomNpy([7, 4], 1) });
    await arrive();
    assert.match(await summary(), /^7 queries/);
    await change(page, () => page.click(".file-source .use-text"));
    await drop(page, { "slow.npy": randomNpy([5, 4], 1) });
    await page.fill("#text", "typed after it");
    await arrive();
    assert.equal(await summary(), "3 tokens");
});

test("files, batch and head are there after a reload, and a link elsewhere says they are not", async () => {
    const shape = [2, 3, 20, 8];
    await change(page, () => drop(page, { "x.npy": randomNpy(shape, 1) }));
    await change(page, () => page.selectOption("#head", "2"));
    await change(page, () => page.selectOption("#batch", "1"));
    assert.match(await page.textContent("#files-note"), /This browser keeps the files/);
    await rested(page);
    const shown = [await values(), await readouts()];
    await reload();
    assert.deepEqual([await values(), await readouts()], shown);
    assert.equal(await page.inputValue("#head"), "2");
    assert.equal(await page.inputValue("#batch"), "1");
    assert.match(await page.textContent("#summary"), /20 queries, 20 keys · dimension 8/);
    await elsewhere(page.url());
    assert.match(await page.textContent("#text-note"), /files are kept in another browser/);
    assert.match(await page.textContent("#summary"), /tokens/);
});

test("back to the text after files, and the files are not asked for again", async () => {
    await change(page, () => drop(page, { "x.npy": randomNpy([20, 8], 1) }));
    await reload();
    await change(page, () => page.click(".file-source .use-text"));
    await reload();
    assert.match(await page.textContent("#summary"), /tokens/);
    assert.equal(await page.locator("#files-note").isVisible(), false);
});

test("a plugin is there after a reload, with its parameters", async () => {
    const plugin = await templatePlugin();
    await change(page, () => drop(page, plugin));
    const slider = panel("org.libattn.template").locator("input[type=range]");
    await change(page, () => slider.fill("3"));
    const shown = await values();
    await reload();
    assert.deepEqual(await values(), shown);
    await elsewhere(page.url());
    assert.match(await page.textContent("#plugin-note"), /kept in another browser/);
    assert.equal(await page.locator(".panel").count(), 4);
});

test("a browser that keeps nothing says that a reload loses it", async () => {
    await page.addInitScript(() => {
        Object.defineProperty(globalThis, "indexedDB", {
            get() {
                throw new DOMException("not here", "SecurityError");
            },
        });
    });
    await page.reload();
    await settled(page);
    await change(page, () => drop(page, { "x.npy": randomNpy([20, 8], 1) }));
    assert.match(await page.textContent("#files-note"), /a reload loses them/);
});
