/** The gallery: what runs have found of each panel, and the page that runs it again. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { labs } from "libattn-labs";
import { runnerImport } from "vite";
import { readFigures, readRun } from "../../figures.js";
import { variantsOf } from "../../variants.js";
import { openSite } from "../support/site.mjs";
import { jsonOf, lines, look, take } from "../support/taking.mjs";

const site = openSite();

test("each figure that was run has its claim, its verdict, its picture and its command", async () => {
    const figures = await readFigures();
    const page = await site.newPage();
    const missing = [];
    page.on("requestfailed", (request) => missing.push(request.url()));
    await page.goto(`${site.url}figures.html`);
    const ids = await page.locator("[data-run]").evaluateAll((all) => all.map(({ id }) => id));
    assert.deepEqual(ids.toSorted(), figures.map(({ name }) => name).toSorted());
    for (const { name, panel, verdict, found, command } of figures) {
        const card = page.locator(`#${name}`);
        const around = page.locator(".figures > li", { has: card }).or(page.locator(`li#${name}`));
        const text = await around.textContent();
        const said = [panel.title, panel.plain, panel.claim, panel.where, panel.ours ?? ""];
        for (const part of [...said, verdict, found, command])
            assert.ok(text.includes(part), `${name}: ${part}`);
        assert.equal(await card.getAttribute("data-verdict"), verdict);
        assert.equal(await card.locator(".measured").count(), Number(panel.serial), name);
        const picture = await card.locator("image").getAttribute("href");
        const response = await page.request.get(new URL(picture, page.url()).href);
        assert.match(await response.text(), new RegExp(`>${name}\\. `), "the picture of this card");
    }
    assert.deepEqual(missing, []);
    await page.close();
});

test("no word of a picture is cut at its edge", async () => {
    const page = await site.newPage();
    const cut = [];
    for (const { name } of await readFigures()) {
        await page.setContent(await readRun(`${name}.svg`, "utf8"));
        const texts = await page.evaluate(() => {
            const picture = document.querySelector("svg");
            const edge = picture.getBoundingClientRect();
            const isOut = ({ left, right, top, bottom }) =>
                left < edge.left || right > edge.right || top < edge.top || bottom > edge.bottom;
            const texts = [...picture.querySelectorAll("text")];
            return texts
                .filter((text) => isOut(text.getBoundingClientRect()))
                .map(({ textContent }) => textContent);
        });
        cut.push(...texts.map((text) => `${name}: ${text}`));
    }
    assert.deepEqual(cut, []);
    await page.close();
});

test("statements of papers, illustrations and the library's own claims are counted apart", async () => {
    const figures = await readFigures();
    const count = (own, verdict) =>
        figures.filter((each) => each.panel.own === own && each.verdict === verdict).length;
    const page = await site.newPage();
    await page.goto(`${site.url}figures.html`);
    const numbers = (await page.textContent("#counts")).match(/\d+/g).map(Number);
    const verdicts = ["holds", "fails", "undecided"];
    const [ofPapers, own] = [false, true].map((is) => verdicts.map((each) => count(is, each)));
    const sum = (all) => all.reduce((a, b) => a + b);
    assert.deepEqual(numbers, [
        ...[sum(ofPapers), ...ofPapers, count(false, "illustration")],
        ...[sum(own), ...own],
    ]);
    assert.equal(sum(numbers) - sum(ofPapers) - sum(own), figures.length);
    await page.close();
});

test("a strip has a square for each statement, leads to it, and shows those of one verdict", async () => {
    const figures = await readFigures();
    const page = await site.newPage();
    await page.goto(`${site.url}figures.html`);
    const cards = variantsOf(figures);
    const squares = page.locator(".claims li");
    assert.equal(await squares.count(), figures.length);
    const seen = (selector) => page.locator(`${selector}:visible`).count();
    for (const verdict of ["holds", "fails", "undecided", "illustration"]) {
        const count = figures.filter((each) => each.verdict === verdict).length;
        const shown = cards.filter(([each]) => each.verdict === verdict).length;
        await page.check(`#only-${verdict}`);
        assert.deepEqual([await seen(".claims li"), await seen(".figures > li")], [count, shown]);
        assert.equal(await seen(`.figures > [data-verdict=${verdict}]`), shown);
    }
    await page.check("#only-all");
    await page.click('.claims a[href="#separation-4a"]');
    assert.match(page.url(), /#separation-4a$/);
    const { y } = await page.locator("#separation-4a").boundingBox();
    assert.ok(y >= 0 && y < page.viewportSize().height, `${y}`);
    await page.close();
});

test("figures that differ by a letter share a card, which opens the one that is asked for", async () => {
    const figures = await readFigures();
    const lists = variantsOf(figures).map((all) => all.map(({ name }) => name));
    assert.deepEqual(lists.flat().toSorted(), figures.map(({ name }) => name).toSorted());
    const page = await site.newPage();
    await page.goto(`${site.url}figures.html`);
    const cards = await page
        .locator(".figures > li")
        .evaluateAll((all) =>
            all.map((card) =>
                [card, ...card.querySelectorAll("[data-run]")]
                    .filter((each) => each.matches("[data-run]"))
                    .map(({ id }) => id),
            ),
        );
    assert.deepEqual(cards.toSorted(), lists.toSorted());
    const isOpen = (name) => page.locator(`#${name} image`).isVisible();
    assert.deepEqual([await isOpen("separation-5a"), await isOpen("separation-5c")], [true, false]);
    const card = page.locator(".figures > li", { has: page.locator("#separation-5a") });
    assert.equal(
        await card.locator("h3").textContent(),
        "Self-attention, X = ones, over n, d, m, a1, a0, c",
    );
    await page.click('.claims a[href="#separation-5c"]');
    assert.deepEqual([await isOpen("separation-5a"), await isOpen("separation-5c")], [false, true]);
    await card.locator("summary", { hasText: /over a0$/ }).click();
    assert.deepEqual([await isOpen("separation-5c"), await isOpen("separation-5e")], [false, true]);
    await page.close();
});

test("variants have one verdict and differ by one letter or number, no word and no more of them", () => {
    const panel = {
        title: "Error over n",
        plain: "Less is off.",
        claim: "As D1 says.",
        own: false,
    };
    const figure = (changed, more = {}) => ({
        ...{ lab: "a", verdict: "holds", panel: { ...panel, ...changed } },
        ...more,
    });
    const count = (...all) => variantsOf([figure({}), ...all]).length;
    assert.equal(count(figure({ title: "Error over m" }), figure({ claim: "As D12 says." })), 1);
    for (const other of [
        figure({ title: "Error over length" }),
        figure({ title: "Error over m", claim: "As D2 says." }),
        figure({ title: "Error over n m" }),
        figure({ title: "Error over m" }, { verdict: "fails" }),
        figure({ title: "Error over m" }, { lab: "b" }),
    ])
        assert.equal(count(other), 2, JSON.stringify(other));
});

test("a card of measured times says on which machine, in both languages", async () => {
    const { module } = await runnerImport(
        fileURLToPath(new URL("../../gallery.js", import.meta.url)),
    );
    const figures = await readFigures();
    const { panel, ...work } = figures.find(({ name }) => name === "complexity-work");
    const measured = { ...work, panel: { ...panel, serial: true }, name: "measured" };
    const said = { ...measured, host: "Some <processor>, 3 cores", tier: "avx2" };
    const page = await site.newPage();
    for (const [language, line] of [
        ["en", /^These times are of Some <processor>, 3 cores, with avx2 kernels: /],
        ["de", /^Diese Zeiten sind von Some <processor>, 3 Kerne, mit Kernels für avx2: /],
    ]) {
        await page.setContent(module.cards([said, { ...work, panel }], language));
        const shown = page.locator("#measured > .measured");
        assert.match(await shown.textContent(), line);
        assert.ok(await shown.isVisible());
        assert.equal(await page.locator(".measured").count(), 1, "counted work is of no machine");
    }
    await page.close();
});

test("the German gallery has the same cards, in German, and leads to German runs", async () => {
    const page = await site.newPage();
    const cards = async (file) => {
        await page.goto(site.url + file);
        return page.locator("[data-run]").evaluateAll((all) =>
            all.map((card) => ({
                name: card.id,
                verdict: card.dataset.verdict,
                said: card.querySelector(".verdict").textContent,
                command: card.querySelector("code").textContent,
                run: card.querySelector("a[href*='labs.']")?.getAttribute("href") ?? "",
            })),
        );
    };
    const german = {
        ...{ holds: "trifft zu", fails: "trifft nicht zu" },
        ...{ undecided: "unentschieden", illustration: "ohne Urteil" },
    };
    const wanted = (await cards("figures.html")).map(({ verdict, run, ...rest }) => ({
        ...{ ...rest, verdict, said: german[verdict] },
        run: run.replace("labs.html", "labs.de.html"),
    }));
    assert.deepEqual(await cards("figures.de.html#lang=de"), wanted);
    await page.click(".language a");
    await page.waitForURL(/figures\.html#lang=en/);
    assert.equal(await page.evaluate(() => localStorage.getItem("language")), "en");
    await page.close();
});

test("each panel of the browser's experiments but those of time is there, and leads to its run", async () => {
    const page = await site.newPage();
    await page.goto(`${site.url}figures.html`);
    const addresses = page.locator(".figures a[href*='labs.']");
    const links = await addresses.evaluateAll((all) => all.map(({ hash }) => hash));
    const panels = (await labs()).flatMap(({ name, panels }) =>
        panels
            .filter(({ serial }) => !serial)
            .map(({ id }) => `#${new URLSearchParams({ lab: name, panel: id })}`),
    );
    for (const panel of panels) assert.ok(links.includes(panel), panel);
    await page.click("#softmax-regression-radius a[href*='labs.']");
    await page.waitForSelector("#run:enabled");
    assert.match(await page.textContent("#title"), /^radius: /);
    await page.close();
});

test("a figure is saved as the files of its run, and as pixels", async () => {
    const page = await site.newPage();
    await page.goto(`${site.url}figures.html`);
    const name = "separation-4a";
    const card = page.locator(`#${name}`);
    const saved = {};
    for (const format of ["svg", "csv", "json"]) {
        saved[format] = await take(page, card, format);
        assert.equal(saved[format].name, `${name}.${format}`);
        assert.ok(saved[format].bytes.equals(await readRun(`${name}.${format}`)), format);
    }
    const [head, ...rows] = lines(saved.csv);
    const { points } = jsonOf(saved.json);
    assert.equal(rows.length, points.length);
    for (const [i, row] of rows.entries())
        for (const [j, column] of head.entries()) assert.equal(Number(row[j]), points[i][column]);
    const png = await take(page, card, "png");
    assert.equal(png.name, `${name}.png`);
    const [drawn, pixels] = [
        await look(page, saved.svg, "image/svg+xml"),
        await look(page, png, "image/png"),
    ];
    assert.deepEqual([pixels.width, pixels.height], [2 * drawn.width, 2 * drawn.height]);
    assert.ok(pixels.colours > 20, `${pixels.colours} colours`);
    await page.close();
});

test("each figure's links are its run's files, and there without a program", async () => {
    const context = await site.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    for (const file of ["figures.html", "figures.de.html"]) {
        await page.goto(site.url + file);
        assert.equal(await page.locator(".take button:visible").count(), 0);
        const links = await page
            .locator(".take a")
            .evaluateAll((all) => all.map(({ href, download }) => ({ href, download })));
        assert.equal(links.length, 3 * (await readFigures()).length);
        for (const { href, download } of links) {
            const response = await page.request.get(href);
            assert.ok((await response.body()).equals(await readRun(download)), download);
        }
    }
    await context.close();
});

test("what is wrong with a PNG is said beside its button", async () => {
    const page = await site.newPage();
    await page.goto(`${site.url}figures.html`);
    await page.route("**/*.svg", (route) => route.fulfill({ body: "no picture" }));
    const card = page.locator("#separation-4a");
    await card.locator("[data-format=png]").click();
    await card.locator(".take [role=status]", { hasText: /\w/ }).waitFor();
    await page.close();
});
