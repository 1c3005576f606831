/** Links and code that the page gives, and pages that show parts of it. */

import assert from "node:assert/strict";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { settled } from "../support/browser.mjs";
import { copy } from "../support/copied.mjs";
import { change, errors, page, reopen, site, testOrigins } from "../support/panels.mjs";
import { rested } from "../support/rest.mjs";
import { words } from "../support/watch.mjs";

const hidden = { header: ".page-header", presets: "#presets", input: "#input", footer: "footer" };

test("the link that is copied has what was chosen last", async () => {
    await page.click("#share summary");
    await change(() => page.check("#causal"));
    await page.fill("#text", "one two three");
    await change(() => page.fill("#sketch-size", "12"));
    const shown = await errors();
    const link = await copy("link");
    assert.equal(link, page.url());
    await reopen(link);
    assert.deepEqual(await errors(), shown);
});

test("code to embed shows the same numbers on another page, without the parts that were not chosen", async () => {
    await change(() => page.click("[data-preset=copy]"));
    const shown = await errors();
    await page.click("#share summary");
    assert.match(
        await copy("embed"),
        /^<iframe src="[^"]*#preset=copy&amp;view=softmax" [^>]*border: 0/,
    );
    for (const part of ["small", "numbers", "settings"]) await page.check(`#share [name=${part}]`);
    const usual = await copy("embed");
    assert.match(usual, /^<iframe src="[^"]*#preset=copy&amp;embed=1" .*<\/iframe>\n<script>/);
    await page.uncheck("#share [name=numbers]");
    await page.check("#share [name=header]");
    const other = await copy("embed");
    assert.match(other, /embed=1&amp;without=presets%2Cinput%2Cnumbers%2Cmore%2Cfooter"/);
    assert.ok(!page.url().includes("embed"), "this page stays whole");

    const host = await site.newPage({ viewport: { width: 1000, height: 800 } });
    await host.route("**/host.html", (route) =>
        route.fulfill({ contentType: "text/html", body: `<!doctype html>${usual}` }),
    );
    await host.goto(new URL("host.html", site.url).href);
    const frame = host.frames()[1];
    await frame.waitForSelector(".off data[value*='.']");
    await settled(frame);
    const inFrame = await frame
        .locator("[data-name=error] data")
        .evaluateAll((all) => all.map(({ value }) => Number(value)));
    assert.deepEqual(inFrame, shown);
    const heights = () =>
        host.evaluate(() => {
            const frame = document.querySelector("iframe");
            const inside = frame.contentDocument.documentElement;
            return [
                frame.clientHeight,
                inside.scrollHeight,
                inside.scrollWidth - inside.clientWidth,
            ];
        });
    await rested(host);
    const [outer, inner, across] = await heights();
    assert.ok(outer === inner && outer !== 720, `${outer} for ${inner}`);
    assert.equal(across, 0);
    await frame.locator(".details summary").first().click();
    await host.waitForFunction(
        (before) => document.querySelector("iframe").clientHeight > before,
        outer,
    );
    await host.close();

    await reopen(/src="([^"]*)"/.exec(other)[1].replaceAll("&amp;", "&"));
    assert.deepEqual(await errors(), shown);
    for (const [part, selector] of Object.entries(hidden))
        assert.equal(await page.locator(selector).isVisible(), part === "header", part);
    assert.equal(await page.locator(".numbers").first().isVisible(), false);
    assert.equal(await page.locator(".details > summary").first().isVisible(), true);
});

test("#preset=lis-softmax&view=linear: a link can ask for one picture alone, with its colours", async () => {
    const seen = () =>
        page
            .locator(".panel:visible")
            .evaluateAll((all) => all.map(({ dataset }) => dataset.backend));
    assert.deepEqual(await seen(), ["linear"]);
    assert.equal(await page.locator("#weights-legend").isVisible(), true);
    for (const selector of [".top", ".page-header", "#presets", "#settings", "footer", ".details"])
        assert.equal(await page.locator(selector).first().isVisible(), false, selector);
    assert.equal(await page.locator("#whole").isVisible(), true, "a way to the whole page");
    await page.waitForURL(/view=linear/);
    await reopen(page.url());
    assert.deepEqual(await seen(), ["linear"], "its own link shows the same");
});

test("#view=sketch: a link to one picture that names no input shows the page's opening", async () => {
    const { tokens } = await page.evaluate(() => ({
        tokens: document.querySelector("[data-backend=sketch] .readout").textContent,
    }));
    assert.match(tokens, /“\d+”|“<sep>”/, "a trained head's numbers");
    await page.focus("#whole a");
    assert.equal(await page.getAttribute("#whole a", "href"), `${site.url}#enlarged=sketch`);
});

test("code to embed that is shown follows its parts", async () => {
    await page.click("#share summary");
    const shown = () => page.inputValue("#share textarea");
    assert.match(await copy("embed"), /view=softmax"/);
    await page.check("#share [name=numbers]");
    assert.match(
        await shown(),
        /without=header%2Cpresets%2Cinput%2Csmall%2Csettings%2Cmore%2Cfooter"/,
    );
    assert.match(await page.textContent("#share [role=status]"), /copy it again/);
    await page.uncheck("#share [name=numbers]");
    assert.match(await shown(), /view=softmax"/);
    const link = await copy("link");
    await page.uncheck("#share [name=numbers]");
    assert.equal(await shown(), link, "a link has no parts");
});

test("#preset=none&embed=1&without=presets,input,nothing,__proto__: an embedded page stays so as it is used, and leads to the whole of it", async () => {
    assert.equal(await page.locator("#presets").isVisible(), false);
    assert.equal(await page.locator(".page-header").isVisible(), true);
    await change(() => page.fill("#sketch-size", "12"));
    await page.waitForURL(/embed=1&without=presets%2Cinput&sketch.size=12/);
    await page.focus("#whole a");
    assert.equal(await page.getAttribute("#whole a", "href"), `${site.url}#sketch.size=12`);
    await reopen("#embed=0");
    assert.equal(await page.locator("#presets").isVisible(), true);
    assert.equal(await page.locator("#whole").isVisible(), false);
});

test("#embed=1&open=streaming: an embedded page says what is wrong, and keeps a part that its reader folds away", async () => {
    assert.equal(await page.isVisible("#longer"), false);
    await page.click("#streaming summary");
    assert.equal(await page.getAttribute("#streaming", "open"), null);
    assert.equal(await page.isVisible("#streaming"), true);
    await page.evaluate(() => {
        const text = document.querySelector("#text");
        text.value = "";
        text.dispatchEvent(new Event("input"));
    });
    await page.locator("#input-problem").waitFor();
    assert.equal(await page.isVisible("#summary"), false);
});

/** The view saved as one file, opened from a disk by a browser without a network; `panels`: those with numbers. */
async function openFile(panels = 4) {
    const coming = page.waitForEvent("download");
    await page.click("[data-share=file]");
    const file = await coming;
    assert.equal(file.suggestedFilename(), "attention.html");
    const folder = await mkdtemp(join(tmpdir(), "attn-view-"));
    const path = join(folder, "attention.html");
    await file.saveAs(path);
    const opened = await (await site.newContext({ offline: true })).newPage();
    const wrong = [];
    opened.on("pageerror", (error) => wrong.push(String(error)));
    opened.on("console", (line) => line.type() === "error" && wrong.push(line.text()));
    await opened.goto(pathToFileURL(path).href);
    await opened
        .locator(".panel [data-name=error] data")
        .nth(panels - 1)
        .waitFor({ state: "attached" }); // it is folded
    assert.deepEqual(wrong, []);
    const { size } = await stat(path);
    await rm(folder, { recursive: true });
    return { opened, size };
}

const allNumbers = (from, name) =>
    from
        .locator(`.panel [data-name=${name}] data`)
        .evaluateAll((all) => all.map(({ value }) => Number(value)));

test("#preset=sink&sketch.size=20&difference=1&colours=log: one file computes the same view from a disk: numbers, readings and parameters", async (t) => {
    const shown = await allNumbers(page, "error");
    const readings = await page.locator(".readout").allTextContents();
    await page.click("#share summary");
    const { opened, size } = await openFile();
    t.diagnostic(`${(size / 1000).toFixed(0)} kB`);
    assert.ok(size <= 1.5e6, `${size} bytes`);
    const inFile = await allNumbers(opened, "error");
    assert.equal(inFile.length, shown.length);
    // SIMD here, relaxed SIMD there: f32 rounds otherwise, 64 products of up to some tens.
    shown.forEach((error, i) =>
        assert.ok(Math.abs(inFile[i] - error) <= 1e-4, `${inFile}, ${shown}`),
    );
    const [, linear, sparse] = await opened.locator(".readout").allTextContents();
    assert.deepEqual([linear, sparse], readings.slice(1, 3));
    assert.equal(await opened.inputValue("#sketch-size"), "20");
    const rules = await opened.locator("#linear-rule option").allTextContents();
    assert.deepEqual(rules, ["linear", "gated"]);
    for (const time of await allNumbers(opened, "time")) assert.ok(time > 0 && time < 1000, time);
    assert.equal(await opened.locator("#difference-legend").isVisible(), true);
    await opened.click("[data-backend=sketch] .details > summary");
    await opened.fill("#sketch-size", "64");
    await opened.waitForFunction(
        () => +document.querySelector("[data-backend=sketch] [data-name=error] data").value < 1e-4,
    );
    assert.match(await opened.getAttribute("h1 + p a", "href"), /#preset=sink&/);
    await opened.close();
});

/** What is pinned, step by step: of each panel its numbers, its keys, and how many formulas and pictures it has. */
async function steps(from, count = 4) {
    await from.waitForFunction(
        (n) => document.querySelectorAll(".row:not(.old) .row-error data").length === n,
        count,
    );
    return from.locator(".row").evaluateAll((rows) =>
        rows.map((row) => {
            const all = (selector) => [...row.querySelectorAll(selector)];
            return {
                numbers: all("data").map(({ value }) => Number(value)),
                names: all("th, figcaption, .sees").map(({ textContent }) => textContent),
                drawn: [all("math").length, all("figure svg").length, all("canvas").length],
            };
        }),
    );
}

/** The two builds round f32 otherwise: as above, by the size of a number. */
function assertNear(found, wanted, what) {
    assert.equal(found.length, wanted.length, what);
    wanted.forEach((number, i) => {
        const isSame = Object.is(found[i], number);
        const most = 1e-4 * Math.max(1, Math.abs(number));
        assert.ok(
            isSame || Math.abs(found[i] - number) <= most,
            `${what}: ${found[i]}, not ${number}`,
        );
    });
}

function assertSameSteps(found, wanted) {
    wanted.forEach(({ numbers, names, drawn }, i) => {
        assertNear(found[i].numbers, numbers, `row of panel ${i}`);
        assert.deepEqual([found[i].names, found[i].drawn], [names, drawn]);
    });
}

const lines = (from) =>
    from
        .locator("#strands line")
        .evaluateAll((all) =>
            all.map(({ dataset }) => [dataset.query, dataset.key, dataset.weight].map(Number)),
        );

test("#preset=sink&row=9.2&strands=linear&open=sparse.rows: one file has the row step by step, lines and what is unfolded", async () => {
    const shown = await steps(page);
    const strands = await lines(page);
    const recall = await allNumbers(page, "recall");
    const errorsOfRows = await page.locator(".of-row").allTextContents();
    await page.click("#share summary");
    const { opened, size } = await openFile();
    assert.ok(size <= 1.5e6, `${size} bytes`);
    assert.equal(
        await opened.textContent("#pin span"),
        await page.textContent("#pin span"),
        "which row it is",
    );
    assertSameSteps(await steps(opened), shown);
    await opened.locator("#strands line").first().waitFor({ state: "attached" }); // some lie: no height
    assertNear((await lines(opened)).flat(), strands.flat(), "lines");
    assert.equal(await opened.inputValue("#strands-of"), "linear");
    assertNear(await allNumbers(opened, "recall"), recall, "recall");
    const ofRows = await opened.locator(".of-row").allTextContents();
    assert.equal(ofRows.slice(1, 3).join(), errorsOfRows.slice(1, 3).join());
    const open = (from) => from.$$eval(".panel .rows", (all) => all.map((fold) => fold.open));
    assert.deepEqual(await open(opened), await open(page));
    assert.deepEqual(await open(opened), [false, false, true, false]);
    assert.equal(await opened.locator(".take").count(), 2, "of lines and of heads");

    // Another row, by a click on a token: as in the page.
    for (const each of [page, opened]) await each.locator("#strands text").nth(20).click();
    await page.waitForFunction(() => !document.querySelector(".row.old"));
    await opened.waitForFunction(() => !document.querySelector(".row.old"));
    const said = await page.textContent("#pin span");
    assert.match(said, /number 20/);
    assert.equal(await opened.textContent("#pin span"), said);
    assertSameSteps(await steps(opened), await steps(page));
    await opened.locator(".row .term").first().click();
    assert.match(await opened.textContent("#explanation"), /\w+/);
    await opened.keyboard.press("Escape");
    await opened.keyboard.press("Escape");
    assert.equal(await opened.locator("#pin").isVisible(), false);
    assert.equal(await opened.locator(".row").first().isVisible(), false);

    const drawn = () => opened.$eval(".panel canvas", (canvas) => canvas.toDataURL());
    const light = await drawn();
    await opened.emulateMedia({ colorScheme: "dark" });
    await rested(opened);
    assert.notEqual(await drawn(), light, "pictures have the colours of the dark");
    const coming = opened.waitForEvent("download");
    await opened.click("#strands [data-format=png]");
    assert.equal((await coming).suggestedFilename(), "strands.png");
    await opened.close();
});

const headNumbers = (from) =>
    from
        .locator("#heads button[data-head] data")
        .evaluateAll((all) => all.map(({ value }) => Number(value)));

test("#preset=lis-softmax&heads=linear: one file has the heads side by side, and each in the panels by a click", async () => {
    const buttons = (from) => from.locator("#heads button[data-head]");
    await buttons(page).nth(11).waitFor();
    const shown = await headNumbers(page);
    await page.click("#share summary");
    const { opened } = await openFile();
    await buttons(opened).nth(11).waitFor();
    assert.equal(await opened.inputValue("#heads-of"), "linear");
    assertNear(await headNumbers(opened), shown, "heads");
    assert.deepEqual(
        await opened.locator("#heads b").allTextContents(),
        await page.locator("#heads b").allTextContents(),
    );
    assert.equal(await opened.locator("#strands").isVisible(), true);
    assert.equal(await opened.getAttribute("#strands", "open"), null);
    const readings = await opened.locator(".readout").allTextContents();
    await change(() => buttons(page).nth(7).click());
    await buttons(opened).nth(7).click();
    await opened.waitForFunction(
        (before) => document.querySelector(".readout").textContent !== before,
        readings[0],
    );
    const pressed = (from) => from.getAttribute("#heads [aria-pressed=true]", "data-head");
    assert.equal(await pressed(opened), "1.3");
    assert.equal(await pressed(page), "1.3");
    assert.deepEqual(
        await opened.locator(".readout").allTextContents(),
        await page.locator(".readout").allTextContents(),
    );
    assertNear(await allNumbers(opened, "recall"), await allNumbers(page, "recall"), "recall");
    await opened.close();
});

test("#preset=sink&keys=40&hidden=3-5: one file goes by the rules", async () => {
    const shown = await allNumbers(page, "error");
    assert.equal(shown.length, 2);
    await page.click("#share summary");
    const { opened } = await openFile(2);
    const inFile = await allNumbers(opened, "error");
    // As above.
    shown.forEach((error, i) => assert.ok(Math.abs(inFile[i] - error) <= 1e-4, `${inFile}`));
    assert.match(
        await opened.locator("[data-backend=sketch] .problem").textContent(),
        /does not do (key lengths|masks)/,
    );
    assert.deepEqual(await opened.locator("#problem-rules li").allTextContents(), [
        "Sink · 48 queries, 48 keys · dimension 32",
        "Causal: no looking ahead",
        "Keys that count, the first so many: 40",
        "Mask: keys that no query sees: 3-5",
    ]);
    await opened.close();
});

test("#dim=8: one file of a long text: the same queries as the page, and no run that stops its tab", async () => {
    await change(() => page.fill("#text", words(6000))); // of 24 queries in a cell some are looked at
    const shown = await page.locator(".readout").allTextContents();
    await page.click("#share summary");
    const { opened } = await openFile();
    const [, ...inFile] = await opened.locator(".readout").allTextContents();
    assert.deepEqual(inFile.slice(0, 2), shown.slice(1, 3));
    const [told] = await allNumbers(opened, "time");
    assert.equal(told, 0, "there is no run that would stop the tab");
    const problem = opened.locator(".panel .problem").first();
    assert.match(await problem.textContent(), /takes 1 GFLOP, which is too long for a page/);
    await opened.close();
});

test("a text that closes scripts does no harm in one file", async () => {
    await change(() => page.fill("#text", "</script> <!-- <script> alert( 1 ) \u2028 ${x} `"));
    await page.click("#share summary");
    const { opened } = await openFile();
    assert.equal(await opened.locator(".panel").count(), 4);
    assert.deepEqual(await opened.locator("script").count(), 2);
    await opened.close();
});

test("what is too large for one file is said", async () => {
    await change(() => page.fill("#text", words(4000)));
    await page.click("#share summary");
    await page.click("[data-share=file]");
    await page
        .locator("#share [role=status]", { hasText: /has \d\.\d MB, and 1.5 MB is/ })
        .waitFor();
});

testOrigins();
