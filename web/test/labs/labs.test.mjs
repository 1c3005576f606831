/** The page of experiments in a real browser. Pictures of it go to build/ at the top. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { lab, labs } from "libattn-labs";
import { rested } from "../support/rest.mjs";
import { openSite } from "../support/site.mjs";

const pictures = fileURLToPath(new URL("../../../build/", import.meta.url));
const run = promisify(execFile);
const built = join(pictures, "attn");
const cli = process.env.ATTN_CLI ?? (existsSync(built) ? built : null);
const noCli = "there is no build/attn, and ATTN_CLI does not name one";
const quick = "lab=separation&panel=7b&set.trials=5";
const long = "lab=separation&panel=4a&set.trials=200"; // half a minute and more

const site = openSite();
let page;
let complaints = []; // errors, warnings, refused and foreign loads

before(() => mkdir(pictures, { recursive: true }));

beforeEach(() => {
    complaints = [];
});

afterEach(async () => {
    await page?.close();
    page = null;
    assert.deepEqual(complaints, []);
});

async function open(hash, options = {}) {
    page = await site.newPage({ viewport: { width: 1400, height: 900 }, ...options });
    page.on("request", (request) => {
        const url = request.url();
        if (!url.startsWith(site.url) && !url.startsWith("blob:")) complaints.push(url);
    });
    page.on("requestfailed", (request) => {
        const isLeft = request.failure().errorText === "net::ERR_ABORTED"; // its page was
        if (!isLeft) complaints.push(`failed: ${request.url()}`);
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (line) => {
        if (["error", "warning"].includes(line.type())) complaints.push(line.text());
    });
    await page.goto(`${site.url}labs.html#${hash}`);
    await page.locator("#figure svg").waitFor();
}

const points = async () => Number(await page.getAttribute(".lab-result", "data-points"));
const control = (name) => page.locator(".control", { has: page.locator(`#set-${name}`) });

async function finished() {
    await page.waitForSelector(".lab-result[aria-busy=false]");
    await rested(page); // and drawn
}

async function runs(count) {
    await page.click("#run");
    await finished();
    assert.equal(await points(), count, await page.textContent("#problem"));
}

async function downloaded(format = "csv") {
    const waiting = page.waitForEvent("download");
    await page.click(`#save [data-format=${format}]`);
    const file = await waiting;
    const chunks = await (await file.createReadStream()).toArray();
    return { name: file.suggestedFilename(), text: String(Buffer.concat(chunks)) };
}

test("a panel opens with its shipped run in grey, behind what is run then", async () => {
    await open(quick);
    const line = page.locator("#figure .recorded path");
    await page.locator("#recorded:visible").waitFor();
    const file = new URL("../../../bench/labs/figures/separation-7b.json", import.meta.url);
    const { points: shipped } = JSON.parse(await readFile(file, "utf8"));
    const drawn = await line.getAttribute("d");
    assert.equal(drawn.split("L").length, shipped.length);
    assert.equal(await points(), 0, "nothing is run");
    assert.equal(await page.locator("#save").isVisible(), false);
    await runs(10);
    assert.equal(await line.getAttribute("d"), drawn);
    await page.selectOption("#lab", "complexity");
    await page.selectOption("#panel", "work");
    await page.locator("#recorded:visible").waitFor();
    assert.equal(await page.locator("#figure .recorded path").count(), 4, "each backend's");
});

test("a panel runs: figure, progress, note, table, and a file with the numbers", async () => {
    await open(quick);
    assert.equal(await page.locator("#save").isVisible(), false);
    await runs(10);
    assert.match(await page.textContent("#status"), /^10 points in [\d.]+ s$/);
    assert.match(await page.textContent("#note"), /trials/);
    const { name, text } = await downloaded();
    assert.equal(name, "separation-7b.csv");
    const [head, ...lines] = text.trimEnd().split("\n");
    assert.equal(head, "x,success,low,high,fexp1,flin1,fexp0,flin0,formula,trials");
    const told = JSON.parse((await downloaded("json")).text);
    assert.deepEqual(told.columns, head.split(","));
    assert.deepEqual(
        told.rows,
        lines.map((line) => line.split(",").map(Number)),
    );
    assert.deepEqual([told.lab, told.panel, told.params.trials], ["separation", "7b", 5]);
    const drawn = (await downloaded("svg")).text;
    assert.match(drawn, /^<svg .*<\/svg>$/s);
    assert.doesNotMatch(drawn, /var\(|class=|style=/);
    assert.equal((await downloaded("png")).name, "separation-7b.png");
    const { rows } = await lab("separation", { trials: 5 }, { panel: "7b" });
    assert.deepEqual(
        lines.map((line) => line.split(",").map(Number)),
        rows.map((row) => row.slice(0, 10)),
    );
    await page.click("#numbers summary");
    await page.locator("#numbers tbody tr").first().waitFor();
    assert.equal(await page.locator("#numbers tbody tr").count(), 10);
    const { panels } = (await labs()).find((each) => each.name === "separation");
    const { x, y, columns } = panels.find(({ id }) => id === "7b");
    const [main, detail] = ["line", "faint"].map((wanted) =>
        columns.find(({ mark }) => mark === wanted),
    );
    const legend = await page.textContent("#legend");
    assert.ok(legend.startsWith(`${main.label}, with its interval`), legend);
    assert.ok(legend.includes(detail.label), legend);
    assert.ok((await page.textContent("#figure")).includes(y.label));
    await page.hover("#figure svg");
    const readout = await page.textContent("#readout");
    assert.ok(readout.startsWith(`${x.label} = `) && readout.includes(`${main.label}: `), readout);
});

/** In an empty page: what an SVG picture has in its last part, and how far its texts go. */
function lookInto(text) {
    document.body.innerHTML = text;
    const picture = document.querySelector("svg");
    const legend = picture.lastElementChild;
    const { width, height } = picture.viewBox.baseVal;
    const boxes = [...picture.querySelectorAll("text")].map((each) => each.getBBox());
    const each = (selector, read) => [...legend.querySelectorAll(selector)].map(read);
    return {
        texts: each("text", ({ textContent }) => textContent),
        strokes: each("line", (line) => line.getAttribute("stroke")),
        height,
        isWithin: boxes.every((box) => box.x + box.width <= width && box.y + box.height <= height),
    };
}

test("a figure that is saved has its legend in it, wide and at 360 pixels", async () => {
    const empty = await site.browser.newPage();
    for (const width of [1400, 360]) {
        await open("lab=separation&panel=7d&set.trials=1", { viewport: { width, height: 900 } });
        await runs(81);
        const labels = await page.locator("#legend li:visible").allTextContents();
        assert.equal(labels.length, 7, "six curves, and what is shaded");
        const curves = ["var(--curve", "var(--ink)"].map((c) => `#figure svg [stroke^='${c}']`);
        const drawn = await page.$$eval(curves.join(), (all) =>
            all.map((each) => getComputedStyle(each).stroke),
        );
        const height = await page.$eval("#figure svg", (plot) => plot.viewBox.baseVal.height);
        const { text } = await downloaded("svg");
        assert.doesNotMatch(text, /var\(|class=|style=/);
        const saved = await empty.evaluate(lookInto, text);
        assert.equal(saved.texts.join(" "), labels.join(" "));
        assert.ok(saved.isWithin, `${width} pixels`);
        assert.ok(saved.height >= height + 15 * labels.length, `${saved.height}, ${height}`);
        assert.deepEqual([...new Set(saved.strokes)].sort(), [...new Set(drawn)].sort());
        if (width !== 360) await page.close();
    }
    await empty.close();
});

test("a finished panel has a verdict, how sure it is and what was found; an old one is marked", async () => {
    await open(quick);
    assert.equal(await page.locator("#verdict").isVisible(), false);
    await runs(10);
    const { verdict, sure, found } = await lab("separation", { trials: 5 }, { panel: "7b" });
    assert.deepEqual(await page.locator("#verdict dd").allTextContents(), [verdict, sure, found]);
    assert.ok(sure && found);
    await page.click("#defaults");
    assert.equal(await page.locator(".stale #verdict").count(), 1);
    await page.selectOption("#panel", "7c");
    assert.equal(await page.locator("#verdict").isVisible(), false);
});

test("rows outside of the claim's premises are shaded, and only they", async () => {
    await open("lab=separation&panel=3b&set.trials=1");
    await runs(100);
    const { rows, within } = await lab("separation", { trials: 1 }, { panel: "3b" });
    const outside = within.filter((is) => !is).length;
    assert.ok(outside > 0 && outside < rows.length);
    const shades = page.locator("#figure g[fill='var(--outside)'] rect");
    const widths = await shades.evaluateAll((all) =>
        all.map((rect) => Number(rect.getAttribute("width"))),
    );
    assert.equal(widths.filter((width) => width > 0).length, outside);
    assert.equal(await page.locator("#outside").isVisible(), true);
    await page.selectOption("#panel", "7b-inside");
    await runs(5);
    assert.equal(await page.locator("#outside").isVisible(), false);
});

test("a logarithmic axis has its ticks where something is measured, as far as there is room", async () => {
    const lengths = [512, 1024, 2048, 4096, 8192, 16384].map(String);
    const ticks = async () => {
        const texts = await page.locator("#figure svg text").allTextContents();
        return texts.filter((text) => lengths.includes(text));
    };
    await open("lab=complexity&panel=work");
    assert.deepEqual(await ticks(), lengths);
    await page.close();
    await open("lab=complexity&panel=work", { viewport: { width: 360, height: 800 } });
    const few = await ticks();
    assert.ok(few.length >= 3 && few.length < lengths.length, few.join());
    const boxes = await page.locator("#figure svg text").evaluateAll(
        (all, known) =>
            all
                .filter(({ textContent }) => known.includes(textContent))
                .map((text) => text.getBoundingClientRect())
                .map(({ left, right }) => [left, right]),
        lengths,
    );
    for (const [i, [left]] of boxes.slice(1).entries()) assert.ok(boxes[i][1] < left, `${boxes}`);
});

test("numbers that are counted stand whole in the table and under the pointer", async () => {
    await open("lab=complexity&panel=memory");
    await page.click("#numbers summary");
    await page.click("#run");
    await finished();
    const { text } = await downloaded();
    const exact = text
        .trimEnd()
        .split("\n")
        .slice(1)
        .flatMap((line) => line.split(","));
    const counted = exact.map(Number).filter((value) => Number.isInteger(value) && value > 1e6);
    assert.ok(counted.length > 0, text);
    const cells = await page.locator("#numbers td").allTextContents();
    for (const value of counted) assert.ok(cells.includes(String(value)), String(value));
    await page.hover("#figure svg", { position: { x: 900, y: 200 } });
    const readout = await page.textContent("#readout");
    assert.ok(
        counted.some((value) => readout.includes(`: ${value}`)),
        readout,
    );
});

test("what a finger reads from a figure stays", async () => {
    await open(quick, { hasTouch: true, viewport: { width: 390, height: 844 } });
    await runs(10);
    await page.locator("#figure svg").tap({ position: { x: 150, y: 100 } });
    await rested(page);
    assert.match(await page.textContent("#readout"), / = /);
});

test("a changed control marks the figure as old, and changes command, address and numbers", async () => {
    await open(quick);
    await runs(10);
    const before = (await downloaded()).text;
    await page.fill("#set-trials", "8");
    await page.fill("#seed", "12");
    const command = "attn lab run separation --panel 7b --trials 8 --seed 12 -o separation";
    assert.equal(await page.textContent("#command"), command);
    await page.click(".command button");
    await page.locator(".command button", { hasText: /Copied|Selected/ }).waitFor();
    assert.equal(await page.textContent("#run"), "Run");
    assert.equal(await page.locator(".lab-result.stale").count(), 1);
    await page.waitForURL(/#lab=separation&panel=7b&seed=12&set.trials=8$/);
    await runs(10);
    assert.equal(await page.locator(".lab-result.stale").count(), 0);
    assert.notEqual((await downloaded()).text, before);
});

test("the command line shown gives the numbers shown", { skip: cli ? false : noCli }, async () => {
    await open(`${quick}&set.a1=2.5&seed=3`);
    await runs(10);
    const shown = await page.textContent("#command");
    const { name, text } = await downloaded();
    const folder = await mkdtemp(join(tmpdir(), "labs-"));
    try {
        const script = `attn() { '${cli}' "$@"; }\n${shown}`;
        await run("bash", ["-ec", script], { cwd: folder });
        const there = await readFile(join(folder, "separation", name), "utf8");
        const numbers = (csv) => csv.split("\n").map((line) => line.split(",").map(Number));
        assert.deepEqual(numbers(text), numbers(there));
    } finally {
        await rm(folder, { recursive: true });
    }
});

/** In the page: what it shows as so many points are there; then it is stopped. */
function stopWhen(count) {
    const [result, status, save, stop] = [".lab-result", "#status", "#save", "#stop"].map((each) =>
        document.querySelector(each),
    );
    return new Promise((resolve) => {
        const observer = new MutationObserver(() => {
            if (Number(result.dataset.points) < count) return;
            observer.disconnect();
            resolve({ status: status.textContent, canBeSaved: save.checkVisibility() });
            stop.click();
        });
        observer.observe(result, { attributeFilter: ["data-points"] });
    });
}

test("points are seen while others are computed; stop keeps them", async () => {
    await open(long);
    await page.click("#run");
    const seen = await page.evaluate(stopWhen, 3);
    assert.match(seen.status, /^\d+ of 81 points · about [\d.]+ (s|min) left$/);
    assert.equal(seen.canBeSaved, true);
    await finished();
    assert.match(await page.textContent("#status"), /^stopped; \d+ points kept$/);
    const kept = await points();
    assert.ok(kept >= 3 && kept < 81, `${kept} points`);
});

test("how long it takes is said before the first point, and 100,000 trials are not begun unasked", async () => {
    const trials = 100_000;
    await open(`lab=separation&panel=4a&set.trials=${trials - 1}`);
    await page.click("#run");
    await page.locator("#status", { hasText: /^about \S+ (min|hours?) left$/ }).waitFor();
    assert.equal(await points(), 0);
    assert.equal(await page.getAttribute("#status", "aria-live"), "polite");
    await page.click("#stop");

    await page.fill("#set-trials", String(trials));
    await page.click("#run");
    const words = /^100.000 trials take about .* (min|hours?): Run again begins them$/;
    await page.locator("#status", { hasText: words }).waitFor();
    assert.equal(await page.locator("#stop").isDisabled(), true);
    await page.click("#run");
    await page.locator("#status", { hasText: /left$/ }).waitFor();
    assert.equal(await page.locator("#stop").isDisabled(), false);
    await page.click("#stop");
});

test("a panel that is chosen while another runs says nothing of that run", async () => {
    await open(long);
    await page.click("#run");
    await page.waitForFunction(
        () => Number(document.querySelector(".lab-result").dataset.points) >= 1,
    );
    await page.selectOption("#panel", "7b");
    await rested(page);
    assert.equal(await page.textContent("#status"), "");
    assert.equal(await page.locator("#stop").isDisabled(), true);
    await page.fill("#set-trials", "5");
    await runs(10);
});

test("a wrong value has clear words beside its control, and does not run", async () => {
    await open(quick);
    await page.fill("#set-trials", "0");
    const words = control("trials").locator(".problem");
    assert.match(await words.textContent(), /^0 is outside 1 to \S+$/);
    await page.click("#run");
    assert.equal(await page.locator("#set-trials").getAttribute("aria-invalid"), "true");
    assert.equal(await page.evaluate(() => document.activeElement.id), "set-trials");
    assert.equal(await points(), 0);
    await page.fill("#set-trials", "2.5");
    assert.match(await words.textContent(), /whole number/);
    await page.fill("#set-trials", "5");
    assert.equal(await words.isVisible(), false);
    await page.fill("#seed", "-4");
    assert.match(await page.textContent("#seed-control .problem"), /whole number from 0/);
    await page.fill("#seed", "4");
    await runs(10);
});

test("what only the library knows to be wrong stands beside the control too", async () => {
    await open("lab=separation&panel=4d&set.trials=1");
    await page.fill("#set-d", "2");
    await runs(0);
    assert.match(await control("d").locator(".problem").textContent(), /3 or more, not 2/);
});

test("every panel can be chosen, with a control for each of its parameters", async () => {
    await open("");
    for (const { name, params, panels } of await labs()) {
        await page.selectOption("#lab", name);
        for (const { id, x_param, fixed, idle, plain, claim, where, criterion } of panels) {
            await page.selectOption("#panel", id);
            assert.match(await page.textContent("#title"), new RegExp(`^${id}: `));
            assert.ok(claim.length > 10 && criterion.length > 10, id);
            assert.equal(await page.textContent("#plain"), plain);
            assert.equal(await page.textContent("#claim"), claim);
            assert.equal(await page.textContent("#criterion"), criterion);
            assert.equal(await page.textContent("#where"), where ?? "");
            const free = params.filter(
                (param) =>
                    param.name !== x_param &&
                    !idle.includes(param.name) &&
                    !(param.type === "choice" && param.name in fixed),
            );
            assert.equal(await page.locator("#params .control").count(), free.length, id);
        }
    }
});

test("the address follows a slider, however often it moves", async () => {
    await open(quick); // after 200 changes at once a browser complains, which fails every test
    const slider = control("n").locator("input[type=range]");
    await slider.evaluate((range) => {
        for (let step = 0; step < 350; step++) {
            range.value = String(step % 100);
            range.dispatchEvent(new Event("input"));
        }
    });
    const value = await page.inputValue("#set-n");
    await page.waitForURL(new RegExp(`set\\.n=${value}\\b`));
});

test("an address with nonsense in it does no harm", async () => {
    await open("lab=nothing&panel=__proto__&seed=1;x&set.trials=many&set.__proto__=1&set.n=&x");
    assert.equal(await page.inputValue("#lab"), "separation");
    assert.match(await page.textContent("#command"), / --seed '1;x' /);
    await page.click("#run");
    assert.equal(await points(), 0);
    await page.click("#defaults");
    assert.equal(await page.locator(".problem:visible").count(), 0);
});

test("the pages lead to each other", async () => {
    await open(quick);
    await page.click("nav a[href*=index]");
    await page.locator(".panel").first().waitFor();
    await page.click("nav a[href*=thinking]");
    await page.locator("#chain li").first().waitFor();
    await page.click("nav a[href*=figures]");
    await page.click('.claims a[href="#separation-7b"]'); // its card has another figure open
    await page.locator("#separation-7b a[href*='labs.']").click();
    await page.locator("#figure svg").waitFor();
});

test("at each width, in light and dark, nothing sticks out", async () => {
    await open("lab=constructions&panel=eps&set.trials=1");
    await runs(13);
    for (const width of [1400, 360]) {
        await page.setViewportSize({ width, height: 900 });
        for (const colorScheme of ["light", "dark"]) {
            await page.emulateMedia({ colorScheme });
            await rested(page); // figures have the page's width
            const widest = await page.evaluate(() => document.documentElement.scrollWidth);
            assert.ok(widest <= width, `the page is ${widest} pixels wide`);
            const path = join(pictures, `labs-${colorScheme}-${width}.png`);
            await page.screenshot({ path, fullPage: true });
        }
    }
});
