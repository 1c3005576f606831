/** The page in German: who gets it, that it is whole, and that it fits. */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { someOf } from "../../../wasm/test/share.mjs";
import { fileOf, pages } from "../../pages.js";
import { settled } from "../support/browser.mjs";
import { randomNpy } from "../support/npy.mjs";
import { drop } from "../support/reader.mjs";
import { rested } from "../support/rest.mjs";
import { openSite } from "../support/site.mjs";

const site = openSite();

async function open(address, options = {}) {
    const page = await site.newPage({ viewport: { width: 1600, height: 1000 }, ...options });
    await page.goto(site.url + address);
    await page.waitForFunction(() => document.documentElement.style.display !== "none");
    return page;
}

const germans = { locale: "de-AT" };
const languageOf = (page) => page.evaluate(() => document.documentElement.lang);

test("the language is the link's, else the browser's, and a German page stays", async () => {
    for (const [address, options, language] of [
        ["", {}, "en"],
        ["index.html", {}, "en"],
        ["index.html", { locale: "fr-FR" }, "en"],
        ["", germans, "de"],
        ["index.html#dim=16", germans, "de"],
        ["index.html#lang=de", {}, "de"],
        ["index.html#lang=en", germans, "en"],
        ["index.html#lang=xx", germans, "de"],
        ["index.de.html", {}, "de"],
        ["index.de.html#lang=en", germans, "en"],
    ]) {
        const page = await open(address, options);
        await page.waitForURL(language === "de" ? /index\.de\.html/ : /\/(index\.html)?(#|$)/);
        assert.equal(await languageOf(page), language, `${address} ${options.locale}`);
        if (address.includes("dim")) {
            await settled(page);
            assert.equal(await page.inputValue("#dim"), "16");
        }
        await page.close();
    }
});

test("a German reader sees no English page flash by", async () => {
    const context = await site.newContext(germans);
    const seen = [];
    await context.exposeFunction("tell", (language) => seen.push(language));
    await context.addInitScript(() => {
        const look = () => {
            const { lang, style } = document.documentElement ?? {};
            if (lang && document.body && style.display !== "none") globalThis.tell(lang);
            globalThis.unrest.requestAnimationFrame(look);
        };
        look();
    });
    const page = await context.newPage();
    await page.goto(site.url);
    await page.waitForURL(/index\.de\.html/);
    await settled(page);
    assert.deepEqual([...new Set(seen)], ["de"]);
    await context.close();
});

test("the switch takes along what is shown, and is remembered", async () => {
    const page = await open("index.html#dim=16&causal=1");
    await settled(page);
    await page.click(".language a");
    await page.waitForURL(/index\.de\.html/);
    await settled(page);
    await page.check("#difference");
    await page.waitForURL(/difference=1/);
    await page.reload();
    await settled(page);
    assert.equal(await languageOf(page), "de");
    assert.deepEqual(
        [await page.inputValue("#dim"), await page.isChecked("#causal")],
        ["16", true],
    );
    assert.ok(await page.isChecked("#difference"));
    assert.match(page.url(), /lang=de/);
    await page.goto(`${site.url}thinking.html`);
    await page.click("nav a >> nth=0");
    await page.waitForURL(/index\.de\.html/);
    await settled(page);
    await page.click(".language a");
    await page.waitForURL(/index\.html#.*lang=en/);
    await page.close();
});

/** All that is open, and a row step by step. */
async function unfold(page) {
    await settled(page);
    await page.click("[data-preset=lis-softmax]");
    const settings = page.locator("#open-settings");
    const isFolded = await settings.isVisible();
    if (isFolded) await settings.click();
    await page.selectOption("#colours", "own");
    await page.waitForFunction(() => !document.querySelector("#pareto[hidden]"));
    await settled(page);
    await page.$$eval("details", (all) => all.forEach((fold) => (fold.open = true)));
    await page.dispatchEvent("[data-method=sparse]", "click");
    await page.locator("[data-backend=sparse] canvas").first().focus();
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await page.fill("[name=left]", "-7");
    await page.fill("[name=hidden]", "x");
    await page.locator(".row .formulas").nth(3).waitFor();
    await page.locator("#streaming table").waitFor();
    await page.locator("#longer svg").waitFor();
    await page.locator("#pareto svg").waitFor();
    await page.locator("#heads button[data-head]").nth(11).waitFor();
    if (isFolded) await page.click("#settings .close");
    await page.locator("[data-backend=sparse] .numbers .term").first().click();
    await page.locator("#explanation:popover-open").waitFor();
    await settled(page);
}

/** Every text that is there to be read or heard, seen or not; code, numbers and formulas are in no language. */
const textsOf = (page) =>
    page.evaluate(() => {
        const names = [
            "aria-label",
            "placeholder",
            "title",
            "aria-valuetext",
            "aria-roledescription",
        ];
        const parts = ["::before", "::after"]; // style sheets have words, too
        const texts = [document.title];
        const code =
            "script, style, pre, textarea, math, .controls option, .strands text, #feature_map, #chain, #numbers th";
        const foreign = `${code}, .reference, [lang]:not(:root)`;
        const walk = (root) => {
            for (const node of root.childNodes) {
                if (node instanceof Text) texts.push(node.data);
                if (!(node instanceof Element)) continue;
                texts.push(...names.map((name) => node.getAttribute(name) ?? ""));
                if (node.matches(foreign)) continue;
                texts.push(...parts.map((part) => getComputedStyle(node, part).content));
                walk(node instanceof HTMLTemplateElement ? node.content : node);
            }
        };
        walk(document.body);
        const isText = (text) => /\p{L}{3}/u.test(text) && !["none", "normal"].includes(text);
        return [...new Set(texts.map((text) => text.trim().replace(/\s+/g, " ")))].filter(isText);
    });

/** What German says as English does, and names. */
const same = [
    /^(libattn|Problem|Dimension|Batch|Token|Tokens|Query|Queries|Key|Keys|Kernel|Logit|Seed|auto|Heatmap)$/i,
    /^(Streaming|Buckets|Features|Parameter|Normalisierer|Sink|ALiBi|Median)$/i,
    /^(■ )?(softmax|linear|sparse|sketch|GFLOP\/s|NaN|PNG|SVG|CSV|JSON|NPY|wasm\w+( \d+x\d+)?( (decode|prefill))?)$/i,
    /^(exp|auto \(\d+\)|[\d.]+ [KMG]iB|text|score)$/i,
    /^(Training|Pause|Experiment|rule|[\d ]*<sep>)$/,
    /^(gaussian|ams|osnap|leverage|srht|delta)(, d \/ 4)?$/,
    /^(F_\w+\(D\d\) > 0|5\.\d: (exp\(Ax\)|(1 \/ )?alpha)|(M =|4) n\^1\.5 .*|2 sqrt q .*)$/,
    /^(sqrt \w|L\^0\.25) \((Theorem|Proposition) [\d.]+\)$/,
];

/** Words that no German sentence has. */
const english = /\b(the|of|with|and|are|is|none|key that|weights?|rows?|token's|computed)\b/i;

/** What is to be read of each page: `look` is called whenever there is something new. */
const readings = {
    async index(page, look) {
        await unfold(page);
        await look();
    },
    async story(page, look) {
        await page.locator("#scores .figure svg").waitFor();
        for (const section of await page.locator("main > section").all()) {
            await section.scrollIntoViewIfNeeded();
            await section.locator(".words > *, .words", { hasText: /\w/ }).first().waitFor();
        }
        await look();
    },
    async thinking(page, look) {
        const thought = () => page.waitForSelector("main[aria-busy=false]");
        await thought();
        const models = await page.locator("#model option").all();
        for (const model of someOf("models whose words are read", models)) {
            await page.selectOption("#model", await model.getAttribute("value"));
            await thought();
            await look();
        }
        for (const question of ["ab ac", "abc ab"]) {
            await page.fill("#question", question);
            await page.press("#question", "Enter");
            await thought();
            for (const token of ["2", "8"]) {
                await page.fill("#token", token);
                await look();
            }
        }
    },
    async training(page, look) {
        for (const task of ["lis", "arithmetic"]) {
            await page.selectOption("#task", task);
            await page.locator(".learner .heads canvas").nth(7).waitFor();
            await look();
        }
        await page.click("#go");
        await look();
        await page.click("#go");
        await page.fill("#seed", "-1");
        await look();
    },
    figures: (_, look) => look(),
    async labs(page, look) {
        const values = (selector) =>
            page.locator(`${selector} option`).evaluateAll((all) => all.map(({ value }) => value));
        await page.locator("#figure svg").waitFor();
        await page.click("#numbers summary");
        for (const lab of await values("#lab")) {
            await page.selectOption("#lab", lab);
            for (const panel of someOf(
                `panels of ${lab} whose words are read`,
                await values("#panel"),
            )) {
                await page.selectOption("#panel", panel);
                await look();
            }
        }
        await page.selectOption("#lab", "separation");
        await page.selectOption("#panel", "7b");
        await page.fill("#set-trials", "5");
        await page.click("#run");
        await page.waitForSelector(".lab-result[aria-busy=false]");
        await page.hover("#figure svg");
        await look();
        for (const wrong of ["0", "2.5"]) {
            await page.fill("#set-trials", wrong);
            await page.fill("#seed", "x");
            await look();
        }
    },
};

/** Nothing is wider than the page, however long the words. */
async function fits(page, width) {
    await page.setViewportSize({ width, height: 1000 });
    await rested(page); // figures have the page's width
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
}

for (const { name, languages } of pages) {
    if (languages.length === 1) continue;
    test(`nothing of the German ${name} is left in English, nor wider than a phone or a screen`, async () => {
        const texts = [];
        for (const language of ["en", "de"]) {
            const width = language === "de" ? 360 : 1400;
            const page = await open(fileOf(name, language), { viewport: { width, height: 900 } });
            const all = new Set();
            await readings[name](page, async () => {
                for (const text of await textsOf(page)) all.add(text);
                const wide = await page.evaluate(() => document.documentElement.scrollWidth);
                assert.equal(wide, width);
            });
            texts.push([...all]);
            if (language === "de") await fits(page, 1400);
            await page.close();
        }
        const [other, german] = texts;
        assert.ok(german.length > 20 && german.length > 0.8 * other.length, `${german.length}`);
        const left = german.filter(
            (text) => other.includes(text) && !same.some((each) => each.test(text)),
        );
        assert.deepEqual(left, []);
        assert.deepEqual(
            german.filter((text) => english.test(text)),
            [],
        );
    });
}

test("the German story goes on to the German page", async () => {
    const page = await open("story.de.html");
    await page.locator("#scores .figure svg").waitFor();
    await page.click("#play");
    await page.waitForURL(/index\.de\.html#/);
    await page.close();
});

test("a view saved as one file is in German, too", async () => {
    const page = await open(
        "index.de.html#preset=lis-softmax&row=3.2&strands=softmax&heads=linear",
    );
    await settled(page);
    await page.$eval("#share", (fold) => (fold.open = true));
    const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.click("[data-share=file]"),
    ]);
    const folder = await mkdtemp(join(tmpdir(), "attn-words-"));
    await download.saveAs(join(folder, "attention.html"));
    await page.goto(pathToFileURL(join(folder, "attention.html")).href);
    await page.waitForFunction(() => document.querySelectorAll(".panel .numbers dt").length > 20);
    await page.locator(".row-error data").nth(3).waitFor();
    await page.locator("#heads button[data-head]").nth(11).waitFor();
    assert.equal(await languageOf(page), "de");
    const texts = await textsOf(page);
    assert.ok(texts.includes("Fehler gegen exakt, alle Köpfe"), texts.join());
    assert.ok(texts.includes("Fehler dieser Zeile"), texts.join());
    assert.deepEqual(
        texts.filter((text) => english.test(text)),
        [],
    );
    await page.close();
    await rm(folder, { recursive: true });
});

/** What controls of the page bring about, by backend; params in links are by backend, too. */
const refusals = {
    "window=3,2": { linear: "Backend „linear“ kann keine gleitenden Fenster" },
    "softcap=2": { linear: "Backend „linear“ kann keinen Softcap" },
    "window=3,2&causal=1": {
        softmax: "Problem: Ein Fenster von 2 Keys nach rechts widerspricht „Kausal“",
    },
    "sparse.block=-3": { sparse: "Parameter „block“: -3 ist außerhalb von 0..65536" },
    "sparse.block=2.5": { sparse: "Parameter „block“: 2.5 ist keine ganze Zahl" },
    "linear.rule=gated": {
        linear: "linear: Regel „gated“ hängt von der Reihenfolge der Token ab, sie braucht „Kausal“",
    },
    "linear.rule=gated&causal=1": {
        linear: "linear: Regel „gated“ braucht das Array decay oder retnet=1",
    },
    "linear.retnet=1": {
        linear: "linear: retnet=1 braucht eine gated-Regel ohne das Array decay",
    },
};

test("what the library refuses is said in German, for all that the page's controls bring about", async () => {
    for (const [link, said] of someOf("refusals in German", Object.entries(refusals))) {
        const page = await open(`index.de.html#text=a+b+c&${link}`);
        await settled(page);
        for (const [backend, line] of Object.entries(said)) {
            const problem = page.locator(`[data-backend=${backend}] .problem`).first();
            assert.equal(await problem.textContent(), line, link);
        }
        await page.close();
    }
});

test("what files are refused for is said in German, too", async () => {
    const page = await open("index.de.html");
    await settled(page);
    const array = (...shape) => randomNpy(shape, 1);
    for (const [files, line] of [
        [
            { "x.safetensors": Buffer.from("0123456789") },
            "x.safetensors ist abgeschnitten oder keine safetensors-Datei: Ihr Kopf hat 3978425819141910832 Bytes, und 2 sind da",
        ],
        [{ "x.npy": Buffer.from("no array") }, "Q, x.npy: die Datei ist keine .npy-Datei"],
        [
            { "x.npy": array(9, 8).subarray(0, -4) },
            "Q, x.npy: die Datei hat 284 Bytes an Daten, ihre Form braucht 288",
        ],
        [{ "x.npz": Buffer.from("no archive") }, "x.npz: sie ist kein Zip-Archiv"],
        [
            { "q.npy": array(9, 8), "k.npy": array(9, 7), "v.npy": array(9, 8) },
            "Q (9, 8) und K (9, 7) passen nicht zusammen: 8 und 7 Spalten (d)",
        ],
        [
            { "q.npy": array(3, 9, 8), "k.npy": array(2, 9, 8), "v.npy": array(2, 9, 8) },
            "Q (3, 9, 8) hat 3 Köpfe, kein Vielfaches der 2 von K",
        ],
    ]) {
        await drop(page, files);
        await page
            .waitForFunction(
                (wanted) => document.querySelector("#input-problem").textContent === wanted,
                line,
            )
            .catch(async () => assert.equal(await page.textContent("#input-problem"), line));
    }
    await page.close();
});

/** Of each table a text that no other has. */
const tables = {
    "index, German": "Verlorenes Gewicht",
    "thinking, English": "reads no tokens one by one",
    "thinking, German": "liest Token nicht einzeln",
    "training, English": "Loss of the last",
    "training, German": "Verlust im letzten",
    "labs, English": "Run again begins them",
    "labs, German": "Noch einmal „Ausführen“",
};

/** What is there last of each page. */
const ready = {
    index: ".panel .off data[value*='.']",
    story: "#scores[aria-busy=false] .words data",
    thinking: "main[aria-busy=false]",
    training: ".learner .heads canvas",
    labs: "#figure svg",
    figures: ".figures > li",
};

test("a page loads its own words alone, and German ones only if it is German", async () => {
    const loaded = async (address) => {
        const page = await site.newPage();
        const urls = new Set();
        page.on("request", (request) => {
            if (request.url().endsWith(".js")) urls.add(request.url());
        });
        await page.goto(site.url + address);
        await page.locator(ready[address.split(".")[0]]).first().waitFor();
        await rested(page);
        await page.close();
        const texts = [...urls].map(async (url) => (await fetch(url)).text());
        const all = (await Promise.all(texts)).join();
        return Object.keys(tables).filter((name) => all.includes(tables[name]));
    };
    const common = ["index, German"];
    for (const name of ["index", "story", "figures"]) {
        assert.deepEqual(await loaded(fileOf(name)), [], name);
        const german = name === "figures" ? [] : common;
        assert.deepEqual(await loaded(fileOf(name, "de")), german, name);
    }
    for (const name of ["thinking", "training", "labs"]) {
        const own = `${name}, English`;
        assert.deepEqual(await loaded(fileOf(name)), [own], name);
        const both = [...common, own, `${name}, German`];
        assert.deepEqual(await loaded(fileOf(name, "de")), both, name);
    }
});
