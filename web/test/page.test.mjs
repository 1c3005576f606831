/** The built page in a real browser. Pictures of it go to build/ at the top. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { serve } from "../serve.mjs";
import { settled } from "./browser.mjs";
import { npy, npyOf, randomNpy, randomNumbers } from "./npy.mjs";
import { change as changeOn, drop as dropOn } from "./reader.mjs";
import { openSite } from "./site.mjs";

const backends = ["softmax", "linear", "sparse", "sketch"];
const web = fileURLToPath(new URL("..", import.meta.url));
const pictures = fileURLToPath(new URL("../../build/", import.meta.url));
const run = promisify(execFile);
const built = join(pictures, "attn");
const cli = process.env.ATTN_CLI ?? (existsSync(built) ? built : null);
const noCli = "there is no build/attn, and ATTN_CLI does not name one";

const closings = []; // of contexts: they end with their page, and before the browser
after(() => Promise.all(closings));
const site = openSite();
let page;
const requests = []; // of all pages
let complaints = []; // of the page under test: errors, warnings, refused loads

before(() => mkdir(pictures, { recursive: true }));

beforeEach(async () => {
    complaints = [];
    page = await openPage();
});

afterEach(async () => {
    await page.close();
    assert.deepEqual(complaints, []);
});

async function openPage(options = {}, url = site.url) {
    const context = await site.browser.newContext({
        viewport: { width: 1600, height: 1000 },
        ...options,
    });
    const opened = await context.newPage();
    opened.on("close", () => closings.push(context.close()));
    opened.on("request", (request) => requests.push(request.url()));
    opened.on("requestfailed", (request) => complaints.push(`failed: ${request.url()}`));
    opened.on("pageerror", (error) => complaints.push(String(error)));
    opened.on("console", (line) => {
        if (["error", "warning"].includes(line.type())) complaints.push(line.text());
    });
    await opened.goto(url);
    await settled(opened);
    return opened;
}

const panel = (backend) => page.locator(`[data-backend=${backend}]`);

async function number(backend, name) {
    const value = await panel(backend).locator(`[data-name=${name}] data`).getAttribute("value");
    assert.match(value, /\d/, `${backend} has no number for ${name}`);
    return Number(value);
}

const errors = () => Promise.all(backends.map((backend) => number(backend, "error")));

const picture = (backend) =>
    panel(backend)
        .locator("canvas")
        .evaluate((canvas) => canvas.toDataURL());

const change = (action) => changeOn(page, action);
const drop = (files) => dropOn(page, files);
const write = (text) => change(() => page.fill("#text", text));

test("four panels have their numbers and no complaint", async () => {
    assert.equal(await page.locator(".panel").count(), backends.length);
    const [softmax, ...others] = await errors();
    assert.ok(softmax < 1e-5, `softmax is exact up to rounding, not ${softmax}`);
    for (const error of others) assert.ok(error > 1e-4 && Number.isFinite(error));
    for (const backend of backends) {
        assert.ok((await number(backend, "time")) > 0);
        assert.ok((await number(backend, "gflops")) > 0);
        assert.ok((await number(backend, "workspace")) >= 0);
    }
    assert.equal(await page.locator(".problem:visible").count(), 0);
});

test("a typed text is computed on", async () => {
    const before = await errors();
    await write("one two three four five six seven eight");
    assert.match(await page.textContent("#summary"), /^8 tokens$/);
    const now = await errors();
    backends.forEach((backend, i) => assert.notEqual(now[i], before[i], backend));
    await write("one");
    assert.match(await page.textContent("#summary"), /^1 token$/);
});

test("words of any length fit into the panels", async () => {
    const widthOf = () =>
        page.locator("canvas").evaluateAll((all) => all.map(({ clientWidth }) => clientWidth));
    const before = await widthOf();
    await write(`${"abcdefghij".repeat(300)} `.repeat(20));
    assert.deepEqual(await widthOf(), before);
});

test("a text without tokens is one line, and nothing of the last one stays", async () => {
    await page.fill("#text", "   ");
    await page.locator("#input-problem").waitFor();
    assert.match(await page.textContent("#input-problem"), /^[^\n]{10,}$/);
    assert.equal(await page.textContent("#summary"), "");
    assert.equal(await page.locator("[data-backend] [data-name]").count(), 0);
    assert.equal(await page.locator("canvas:visible").count(), 0);
    await page.locator("#causal").click(); // there is still no input
    await page.locator("#input-problem").waitFor();
    assert.equal(await page.locator("[data-backend] [data-name]").count(), 0);
    await write("words again");
    assert.equal(await page.locator("#input-problem").isVisible(), false);
    assert.match(await page.textContent("#summary"), /^2 tokens$/);
    assert.equal(await page.locator(".panel canvas:visible").count(), backends.length);
    await errors();
});

/** The page as it is while its module is still on the way; the function returned lets it come. */
async function openSlowly(url) {
    await page.close();
    const context = await site.browser.newContext();
    let arrive;
    const arrived = new Promise((resolve) => (arrive = resolve));
    await context.route("**/*.wasm", async (route) => {
        await arrived;
        await route.continue();
    });
    page = await context.newPage();
    page.on("close", () => closings.push(context.close()));
    await page.goto(url);
    return arrive;
}

test("what is typed and chosen while the page still loads stays", async () => {
    const arrive = await openSlowly(`${site.url}#dim=32&causal=1&scale=2`);
    await page.fill("#text", "typed before all else");
    await page.selectOption("#dim", "16");
    await page.waitForTimeout(500); // longer than the pause after typing
    assert.equal(await page.locator(".panel").count(), 0);
    arrive();
    await settled(page);
    assert.equal(await page.inputValue("#text"), "typed before all else");
    assert.match(await page.textContent("#summary"), /^4 tokens$/);
    assert.equal(await page.inputValue("#dim"), "16");
    assert.equal(await page.inputValue("#scale"), "2");
    assert.equal(await page.isChecked("#causal"), true);
    assert.match(await panel("softmax").locator("code").textContent(), /'typed before all else'/);
});

test("a file that is dropped while the page still loads is what it shows", async () => {
    const arrive = await openSlowly(site.url);
    await drop({ "x.npy": randomNpy([12, 8], 1) });
    await page.waitForTimeout(300);
    arrive();
    await settled(page);
    assert.match(await page.textContent("#summary"), /12 queries, 12 keys/);
});

test("a slider changes its own panel, numbers and heatmap, and no other", async () => {
    const before = await errors();
    const pictureBefore = await picture("sketch");
    const slider = panel("sketch").locator(".control", { has: page.locator("#sketch-size") });
    await change(() => slider.locator("input[type=range]").fill("60"));
    const now = await errors();
    assert.notEqual(now[3], before[3]);
    assert.deepEqual(now.slice(0, 3), before.slice(0, 3));
    assert.notEqual(await picture("sketch"), pictureBefore);
});

test("of many changes the last one counts", async () => {
    const text = await page.inputValue("#text");
    await change(async () => {
        for (let size = 2; size <= 30; size++) await page.fill("#sketch-size", String(size));
    });
    const swift = await number("sketch", "error");
    page = await reopen(`${site.url}#sketch.size=30`);
    assert.equal(await page.inputValue("#text"), text);
    assert.equal(swift, await number("sketch", "error"));
});

test("a value out of range is one line in its panel, and the others keep working", async () => {
    await change(() => page.fill("#sparse-local", "-3"));
    const line = panel("sparse").locator(".problem");
    assert.match(await line.textContent(), /local.*-3|-3.*local/);
    assert.equal(await panel("sparse").locator("[data-name=error]").count(), 0);
    await write("the other panels go on");
    assert.ok((await number("softmax", "error")) < 1e-5);
    await change(() => page.fill("#sparse-local", "2"));
    assert.equal(await line.isVisible(), false);
    assert.ok((await number("sparse", "error")) >= 0);
});

test("causal keeps half of the pairs", async () => {
    await write("a b c d e f g h");
    await change(() => page.check("#causal"));
    assert.equal(await number("softmax", "kept"), 36 / 64);
});

test("what is nearly all is not 100 %", async () => {
    const words = Array.from({ length: 90 }, (_, i) => `word${i}`);
    await write(words.join(" "));
    await change(() => page.fill("#sparse-block", "89"));
    await change(() => page.fill("#sparse-global", "88"));
    const kept = await number("sparse", "kept");
    assert.ok(kept > 0.9995 && kept < 1, String(kept));
    const shown = await panel("sparse").locator("[data-name=kept] dd").textContent();
    assert.ok(Number.parseFloat(shown) < 100, shown);
});

test("scale and dimension change the numbers, and the address keeps them", async () => {
    const before = await errors();
    await change(() => page.fill("#scale", "0.5"));
    await change(() => page.selectOption("#dim", "32"));
    await change(() => page.selectOption("#sketch-method", "ams"));
    const now = await errors();
    assert.notDeepEqual(now, before);
    await page.waitForURL(/sketch\.method=ams/);
    page = await reopen(page.url());
    assert.deepEqual(await errors(), now);
    assert.equal(await page.inputValue("#sketch-method"), "ams");
});

test("an address with nonsense in it does no harm", async () => {
    const before = await errors();
    page = await reopen(`${site.url}#__proto__.scale=9&constructor.size=1&dim=abc&scale=x&=&.`);
    assert.deepEqual(await errors(), before);
    assert.equal(await page.evaluate(() => ({}).scale), undefined);
    page = await reopen(`${site.url}#sketch.size=nonsense&linear.feature_map=none`);
    assert.deepEqual(await errors(), before);
});

async function reopen(url) {
    await page.close();
    return openPage({}, url);
}

test("the command line shown gives the numbers shown", { skip: cli ? false : noCli }, async () => {
    await write('It\'s "quoted" text; with $odd `signs`');
    await change(() => page.fill("#sketch-size", "12"));
    const shown = await panel("sketch").locator("pre").textContent();
    assert.match(shown, /attn compare .*--backends sketch --set size=12$/);
    const folder = await mkdtemp(join(tmpdir(), "page-"));
    try {
        const script = `attn() { '${cli}' "$@"; }\n${shown} --json`;
        const { stdout } = await run("bash", ["-ec", script], { cwd: folder });
        const [there] = JSON.parse(stdout.slice(stdout.indexOf("{"))).rows;
        const here = await number("sketch", "error");
        assert.ok(Math.abs(here - there.error) <= 1e-4 * here, `${here} and ${there.error}`);
    } finally {
        await rm(folder, { recursive: true });
    }
});

describe("files", () => {
    const heads = { batch: 1, query: 4, key: 2 };

    test("Q, K and V are told apart by their names", async () => {
        await change(() =>
            drop({
                "v.npy": randomNpy([heads.key, 30, 6], 3),
                "my_q.npy": randomNpy([heads.query, 20, 8], 1),
                "keys.npy": randomNpy([heads.key, 30, 8], 2),
            }),
        );
        const summary = await page.textContent("#summary");
        assert.match(summary, /20 queries, 30 keys · dimensions 8 and 6 · 4 heads/);
        assert.equal(await page.locator("#head option").count(), heads.query);
        assert.ok((await number("softmax", "error")) < 1e-5);
        const first = await picture("softmax");
        await page.selectOption("#head", "3");
        await page.waitForFunction(
            ([selector, old]) => document.querySelector(selector).toDataURL() !== old,
            ["[data-backend=softmax] canvas", first],
        );
        await change(() => page.click("#use-text"));
        assert.match(await page.textContent("#summary"), /tokens/);
    });

    test("a single file is all three", async () => {
        const file = { name: "x.npy", mimeType: "", buffer: randomNpy([12, 8], 1) };
        await change(() => page.setInputFiles("#files", file));
        assert.match(await page.textContent("#summary"), /12 queries, 12 keys · dimension 8/);
    });

    test("every kind of float that the command line reads is read, and no other", async () => {
        const shape = [6, 4];
        const eighths = randomNumbers(shape, 5).map((x) => Math.round(8 * x) / 8); // in all of them
        const byColumns = eighths.map((_, i) => eighths[(i % 6) * 4 + Math.floor(i / 6)]);
        const arrays = {
            "<f2": (numbers) => Uint16Array.from(numbers, f16Bits),
            "<f4": (numbers) => Float32Array.from(numbers),
            "<f8": (numbers) => Float64Array.from(numbers),
        };
        const found = [];
        for (const [descr, array] of Object.entries(arrays)) {
            for (const [numbers, isFortran] of [
                [eighths, false],
                [byColumns, true],
            ]) {
                const file = npyOf(descr, shape, Buffer.from(array(numbers).buffer), isFortran);
                await change(() => drop({ "x.npy": file }));
                assert.match(await page.textContent("#summary"), /6 queries, 6 keys/, descr);
                found.push(JSON.stringify(await errors()));
            }
        }
        assert.equal(new Set(found).size, 1, found.join());
        for (const descr of [">f4", "<i4"]) {
            await drop({ "x.npy": npyOf(descr, shape, Buffer.alloc(96)) });
            const line = page.locator("#input-problem", { hasText: descr });
            await line.waitFor();
            assert.match(await line.textContent(), /float32, float64 and float16/);
        }
    });

    /** Of a multiple of 1/8 from -1 to 1. */
    function f16Bits(x) {
        if (x === 0) return 0;
        const exponent = Math.floor(Math.log2(Math.abs(x)));
        const fraction = Math.abs(x) / 2 ** exponent - 1;
        return (x < 0 ? 0x8000 : 0) + ((exponent + 15) << 10) + fraction * 1024;
    }

    test("NaN is counted and computed with", async () => {
        const numbers = Array.from({ length: 24 }, (_, i) => (i === 5 ? NaN : i / 24));
        await change(() => drop({ "x.npy": npy([6, 4], numbers) }));
        assert.match(await page.textContent("#summary"), /1 element NaN or infinite/);
        assert.match(await panel("softmax").locator(".problem").textContent(), /NaN or infinite/);
    });

    const q = randomNpy([8, 4], 1);
    const wrong = {
        "no .npy file": { "x.npy": Buffer.from("hello, this is not an array") },
        "an empty file": { "x.npy": Buffer.alloc(0) },
        "a truncated file": { "x.npy": q.subarray(0, q.length - 3) },
        "another kind of file": { "x.txt": Buffer.from("hello") },
        "two files": { "q.npy": q, "k.npy": q },
        "names that say nothing": { "1.npy": q, "2.npy": q, "3.npy": q },
        "columns that differ": { "q.npy": q, "k.npy": randomNpy([8, 5], 1), "v.npy": q },
        "heads that differ": { "q.npy": q, "k.npy": q, "v.npy": randomNpy([2, 8, 4], 1) },
        "heads that do not divide": {
            "q.npy": randomNpy([3, 8, 4], 1),
            "k.npy": randomNpy([2, 8, 4], 1),
            "v.npy": randomNpy([2, 8, 4], 1),
        },
        "rows that differ": { "q.npy": q, "k.npy": q, "v.npy": randomNpy([9, 4], 1) },
    };
    for (const [name, files] of Object.entries(wrong)) {
        test(`${name}: one clear line, and the page goes on`, async () => {
            const before = await errors();
            await drop(files);
            await page.locator("#input-problem").waitFor();
            assert.match(await page.textContent("#input-problem"), /^[^\n]{10,200}$/);
            assert.deepEqual(await errors(), before);
            await write("and on it goes");
            assert.equal(await page.locator("#input-problem").isVisible(), false);
        });
    }
});

test("a plugin that is dropped has a panel like the others, once", async () => {
    const folder = await mkdtemp(join(tmpdir(), "attn-plugin-"));
    const file = join(folder, "template.wasm");
    const source = join(web, "../plugins/template/template.c");
    try {
        await run(join(web, "../dev"), ["plugin", source, "-o", file]);
        const plugin = { "template.wasm": await readFile(file) };
        await change(() => drop(plugin));
        assert.equal(await page.locator(".panel").count(), backends.length + 1);
        const id = '"org.libattn.template"';
        assert.equal(await panel(id).locator("h2").textContent(), "Template");
        const before = [await number(id, "error"), await picture(id)];
        assert.ok(before[0] > 1e-4 && Number.isFinite(before[0]));
        assert.ok((await number(id, "time")) > 0);
        const slider = panel(id).locator("input[type=range]");
        await change(() => slider.fill("0"));
        assert.notEqual(await number(id, "error"), before[0]);
        assert.notEqual(await picture(id), before[1]);
        assert.match(
            await panel(id).locator("code").textContent(),
            /--backends org\.libattn\.template --plugin \.\/template\.so --set width=1$/,
        );
        await drop(plugin);
        await page.locator("#input-problem").waitFor();
        assert.match(await page.textContent("#input-problem"), /template' is registered already$/);
        assert.equal(await page.locator(".panel").count(), backends.length + 1);
        await drop({ "x.wasm": Buffer.from("hello") });
        await page.locator("#input-problem", { hasText: "cannot compile" }).waitFor();
        await write("and on it goes");
        assert.equal(await page.locator("#input-problem").isVisible(), false);
    } finally {
        await rm(folder, { recursive: true });
    }
});

test("pointing at a cell names it in every panel", async () => {
    await write("alpha beta gamma delta");
    const canvas = panel("linear").locator("canvas");
    const { width } = await canvas.boundingBox();
    await canvas.hover({ position: { x: width - 20, y: 8 } });
    for (const backend of backends) {
        assert.match(
            await panel(backend).locator(".readout").textContent(),
            /^“alpha” → “delta” {2}/,
        );
    }
    await page.mouse.move(0, 0);
    assert.match(await panel("linear").locator(".readout").textContent(), /^largest: /);
});

test("what a finger pointed at stays until it points elsewhere", async () => {
    await page.close();
    page = await openPage({ hasTouch: true, viewport: { width: 390, height: 844 } });
    await write("alpha beta gamma delta");
    const tap = async (backend, x, y) => {
        const canvas = panel(backend).locator("canvas");
        await canvas.scrollIntoViewIfNeeded();
        const { width } = await canvas.boundingBox();
        await canvas.tap({ position: { x: x < 0 ? width + x : x, y } });
        await page.waitForTimeout(100);
    };
    const readout = panel("sparse").locator(".readout");
    await tap("linear", -20, 8);
    assert.match(await readout.textContent(), /^“alpha” → “delta” {2}/);
    await tap("sketch", 90, 8);
    assert.match(await readout.textContent(), /^“alpha” → “alpha” {2}/);
    await page.locator("h1").tap();
    assert.match(await readout.textContent(), /^largest: /);
});

test("the axes have words of the example at every width", async () => {
    await page.close();
    const context = await site.browser.newContext();
    page = await context.newPage();
    page.on("close", () => closings.push(context.close()));
    await page.addInitScript(() => {
        globalThis.drawn = [];
        const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
            globalThis.drawn.push(text);
            return fillText.call(this, text, ...rest);
        };
    });
    await page.goto(site.url);
    await settled(page);
    for (const width of [360, 390, 700, 768, 1239, 1240, 1300, 1366, 1440, 1500, 1920]) {
        await page.evaluate(() => (globalThis.drawn = []));
        await page.setViewportSize({ width, height: 900 });
        await page.waitForTimeout(200);
        const drawn = await page.evaluate(() => globalThis.drawn);
        const first = drawn.filter((text) => text === "Attention").length;
        assert.ok(first >= 2 * backends.length, `${width} pixels: ${new Set(drawn).size} labels`);
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
    assert.match(await readout.textContent(), /^“beta” → “beta” {2}/);
    await page.keyboard.press("Escape");
    assert.match(await readout.textContent(), /^largest: /);
});

test("the difference from softmax has its own scale", async () => {
    await write("alpha beta gamma delta");
    const before = await picture("linear");
    await panel("linear").locator(".difference input").check();
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

/** A number as the page writes it, such as −1.234 × 10⁻⁷. */
function readNumber(text) {
    const [mantissa, exponent] = text.replace("−", "-").split(" × 10");
    const digits = (exponent ?? "⁰")
        .replace("⁻", "-")
        .replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(digit));
    return Number(mantissa) * 10 ** Number(digits);
}

test("a large input is pooled, and the page says how", async () => {
    const words = Array.from({ length: 600 }, (_, i) => `word${i}`);
    await write(words.join(" "));
    assert.equal(
        await page.textContent("#pooling"),
        "Each cell is the mean of 3 queries × 3 keys.",
    );
    assert.ok((await number("softmax", "error")) < 1e-5);
});

test("a very large input has its error over some of the queries, and says so", async () => {
    await write("alpha beta gamma delta ".repeat(350));
    assert.match(
        await panel("softmax").locator("[data-name=error] dt").textContent(),
        /1 query in 2$/,
    );
    assert.ok((await number("softmax", "error")) < 1e-5);
});

test("the built page works from a folder of a plain server", async () => {
    const plain = await serve({ root: web });
    try {
        await page.close();
        page = await openPage({}, `${plain.url}dist/`);
        assert.equal((await errors()).length, backends.length);
    } finally {
        await page.close();
        await plain.close();
    }
});

for (const colorScheme of ["light", "dark"]) {
    for (const width of [360, 768, 1600]) {
        test(`${colorScheme}, ${width} pixels wide: nothing sticks out`, async () => {
            await page.close();
            page = await openPage({ colorScheme, viewport: { width, height: 900 } });
            const widest = await page.evaluate(() => document.documentElement.scrollWidth);
            assert.ok(widest <= width, `the page is ${widest} pixels wide`);
            const paper = await page.evaluate(
                () => getComputedStyle(document.body).backgroundColor,
            );
            const [red] = paper.match(/\d+/);
            assert.equal(Number(red) < 128, colorScheme === "dark", paper);
            const path = join(pictures, `page-${colorScheme}-${width}.png`);
            await page.screenshot({ path, fullPage: true });
        });
    }
}

test("the command line has the same errors", { skip: cli ? false : noCli }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "page-"));
    try {
        const x = join(folder, "x.npy");
        await run(cli, ["embed", join(web, "public/demo.txt"), "--dim", "64", "-o", x]);
        const { stdout } = await run(cli, ["compare", "--q", x, "--k", x, "--v", x, "--json"]);
        const { rows } = JSON.parse(stdout);
        const tokens = Number.parseInt(await page.textContent("#summary"));
        for (const backend of backends) {
            const there = rows.find((row) => row.backend === backend).error;
            const shown = await panel(backend).locator("[data-name=error] dd").textContent();
            const lastDigit = 10 ** (Math.floor(Math.log10(there)) - 3);
            // Besides the digits not shown, two kernels may differ by f32's rounding in each term
            // of the sums over d and over the tokens: that bounds the difference of the outputs.
            const bound = lastDigit / 2 + 2 * (64 + tokens) * 2 ** -24;
            const difference = Math.abs(readNumber(shown) - there);
            assert.ok(difference <= bound, `${backend}: ${shown} here, ${there} there`);
        }
    } finally {
        await rm(folder, { recursive: true });
    }
});

test("no request ever left the page's origin", () => {
    assert.ok(requests.length > 0);
    const own = /^http:\/\/localhost:\d+\//;
    assert.deepEqual(
        requests.filter((url) => !own.test(url)),
        [],
    );
});
