/** Elements of the npm package that the page gives as code: on the page itself, and pasted into another. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { init } from "libattn";
import { embed } from "libattn/data";
import { copy } from "../support/copied.mjs";
import { randomNpy } from "../support/npy.mjs";
import {
    backends,
    change,
    drop,
    openPage,
    opener,
    page,
    reopen,
    saving,
    show,
    site,
    testOrigins,
} from "../support/panels.mjs";
import { take } from "../support/taking.mjs";
import { words } from "../support/watch.mjs";

test("elements compute the weights of their panels, of a text and of arrays", async () => {
    const views = "#share attn-view";
    const weights = () =>
        page.$$eval(views, (all) => all.map((view) => [...view.weights.slice(0, 400)]));
    const drawn = () =>
        page.waitForFunction(
            (selector) => [...document.querySelectorAll(selector)].every((view) => view.weights),
            views,
        );
    await page.fill("#text", 'a "b" <c> & the rest');
    await change(() => page.check("#causal"));
    await change(() => page.fill("#sparse-block", "2"));
    await page.click("#share summary");
    const code = await copy("elements");
    assert.match(
        code,
        /<attn-view backend="softmax" params="{[^<]*}" causal="" text="a &quot;b&quot; /,
    );
    assert.match(code, /backend="sparse" params="{[^<]*&quot;block&quot;:2/);
    assert.match(code, /import { defineView } from "libattn\/view";/);
    await drawn();
    const ofText = await weights();
    assert.equal(ofText.length, 4);
    const attn = await init();
    const { x, rows } = await embed('a "b" <c> & the rest', 64);
    const sizes = { batch: 1, heads: 1, queries: rows, keys: rows, dim: 64, valueDim: 64 };
    const bound = (rows + 64 + 16) * 2 ** -23; // tests/support/reference.c, twice: two builds
    const settings = await page.$$eval(views, (all) =>
        all.map(({ backend, params }) => ({ backend, params })),
    );
    for (const [at, given] of settings.entries()) {
        const plan = await attn.plan({ ...given, ...sizes, causal: true });
        const expected = await plan.weights({ query: x, key: x });
        for (const [cell, weight] of ofText[at].entries())
            assert.ok(Math.abs(weight - expected[cell]) <= bound, `${given.backend} ${cell}`);
        plan.dispose();
    }
    attn.dispose();

    await change(() => page.click("[data-preset=sink]"));
    const ofArrays = await copy("elements");
    assert.match(ofArrays, /const query = { shape: \[1, 1, 48, 32\], data: floats\("/);
    assert.ok(!ofArrays.includes("text="));
    await drawn();
    for (const row of await weights()) assert.ok(row.some((weight) => weight > 0.2));

    await page.click("#rules summary");
    await change(() => page.fill("#rules [name=softcap]", "5"));
    await page.click("[data-share=elements]");
    await page.locator("#share [role=status]", { hasText: /Causal and the scale alone/ }).waitFor();
});

/** A page in a folder with the package beside it: what is copied is pasted there as it is. */
async function paste(code, files = {}) {
    const host = await site.newPage();
    const wrong = [];
    host.on("pageerror", (error) => wrong.push(String(error)));
    host.on("console", (line) => line.type() === "error" && wrong.push(line.text()));
    await host.route("**/pasted/**", (route) => {
        const name = new URL(route.request().url()).pathname.replace(/^.*\/pasted\//, "");
        const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Pasted</title><link rel="icon" href="data:,"><body>${code}`;
        if (name === "index.html") return route.fulfill({ contentType: "text/html", body: page });
        if (files[name]) return route.fulfill({ body: files[name] });
        const [, inPackage] = /^node_modules\/libattn\/(dist\/[\w.-]+)$/.exec(name) ?? [];
        return inPackage
            ? route.fulfill({ path: join(packageFolder, inPackage) })
            : route.fulfill({ status: 404 });
    });
    await host.goto(new URL("pasted/index.html", site.url).href);
    await drawnViews(host, "attn-view");
    assert.deepEqual(wrong, []);
    return host;
}

const packageFolder = fileURLToPath(new URL("../../../wasm/", import.meta.url));

async function drawnViews(on, selector) {
    await on.waitForFunction((views) => {
        const all = [...document.querySelectorAll(views)];
        return all.length > 0 && all.every(({ weights, problem }) => weights || problem);
    }, selector);
}

const viewsOn = (on, selector) =>
    on.$$eval(selector, (all) =>
        all.map((view) => ({
            backend: view.backend,
            problem: view.problem,
            weights: Array.from(view.weights ?? []),
            words: view.shadowRoot.querySelector(".readout").textContent,
        })),
    );

/** The elements of the page, those of the other page that have the copied code, and the `count` files saved with it. */
async function bothViews(count = 0, more = () => "") {
    const saved = [];
    page.on("download", (file) => saved.push(file));
    await page.click("#share summary");
    const code = await copy("elements");
    await drawnViews(page, "#share attn-view");
    const own = await viewsOn(page, "#share attn-view");
    while (saved.length < count) await page.waitForEvent("download");
    const files = {};
    for (const file of saved) {
        const chunks = await (await file.createReadStream()).toArray();
        files[file.suggestedFilename()] = Buffer.concat(chunks);
    }
    const host = await paste(code + more(code), files);
    const pasted = await viewsOn(host, "attn-view");
    await host.close();
    return { own, pasted, files, code };
}

function assertSameViews(pasted, own) {
    assert.equal(own.length, 4);
    assert.deepEqual(pasted, own);
    for (const { problem, weights } of own) {
        assert.equal(problem, null);
        assert.ok(weights.some((weight) => weight > 0));
    }
}

for (const link of [
    "text=a+%3C%2Fscript%3E+%22b%22&dim=16",
    "preset=sink&sketch.size=20",
    "preset=lis-sparse&batch=1&head=2",
])
    test(`#${link}: elements work where their code is pasted as it is`, async () => {
        const { own, pasted, files } = await bothViews();
        assert.deepEqual(Object.keys(files), []);
        assertSameViews(pasted, own);
    });

test("elements of files have their arrays in the code, and the tokens' script ends nowhere else", async () => {
    const random = (seed) => randomNpy([2, 24, 16], seed);
    await change(() => drop({ "q.npy": random(1), "k.npy": random(2), "v.npy": random(3) }));
    await change(() => page.selectOption("#head", "1"));
    const other = '<attn-view data-arrays="other" text="one two"></attn-view>';
    const { own, pasted, files } = await bothViews(0, () => other);
    assert.deepEqual(Object.keys(files), []);
    assertSameViews(pasted.slice(0, 4), own);
    assert.equal(pasted[4].weights.length, 4, "another element has what it had");
});

test("elements of large files read them beside their page, and they are saved with the code", async () => {
    const random = (seed) => randomNpy([8, 96, 64], seed);
    await change(() => drop({ "a.q.npy": random(1), "a.k.npy": random(2), "a.v.npy": random(3) }));
    const { own, pasted, files, code } = await bothViews(3);
    assert.deepEqual(Object.keys(files).sort(), ["k.npy", "q.npy", "v.npy"]);
    assert.ok(code.length < 5000, `${code.length} letters`);
    assert.match(code, /q\.npy, k\.npy and v\.npy, .* belong beside its page/);
    const status = await page.textContent("#share [role=status]");
    assert.match(status, /^(Copied|Selected).*q\.npy, k\.npy and v\.npy/);
    assertSameViews(pasted, own);
});

/** The cells of a picture that is saved, a pixel each. */
async function savedCells(backend) {
    const { bytes } = await take(page, await saving(backend), "svg");
    const [, image] = /href="(data:image\/png;base64,[^"]*)"/.exec(String(bytes));
    return page.evaluate(async (base64) => {
        const letters = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        const cells = await createImageBitmap(new Blob([letters], { type: "image/png" }));
        const context = new OffscreenCanvas(cells.width, cells.height).getContext("2d");
        context.drawImage(cells, 0, 0);
        return [...context.getImageData(0, 0, cells.width, cells.height).data];
    }, image.split(",")[1]);
}

for (const colorScheme of ["light", "dark"])
    test(
        opener(`elements and saved pictures have the page's colours where it is ${colorScheme}`),
        async () => {
            show(await openPage({ colorScheme }, `${site.url}#preset=sink&colours=own`));
            await page.click("#share summary");
            await copy("elements");
            await drawnViews(page, "#share attn-view");
            const elements = await page.$$eval("#share attn-view", (views) =>
                views.map((view) => {
                    const cells = view.shadowRoot.querySelector(".weights");
                    const { width, height } = cells;
                    const { data } = cells.getContext("2d").getImageData(0, 0, width, height);
                    return [...data];
                }),
            );
            for (const [at, backend] of backends.entries()) {
                assert.ok(new Set(elements[at]).size > 8, backend);
                assert.deepEqual(elements[at], await savedCells(backend), backend);
            }
        },
    );

test("elements speak the page's language, also of what is wrong", async () => {
    await reopen("index.de.html#lang=de&preset=none");
    await page.click("#share summary");
    const say = async (selector) => {
        await page.click("[data-share=elements]");
        await page.locator("#share [role=status]", { hasText: /Kopiert|Markiert/ }).waitFor();
        const parts = page.locator(`#share attn-view ${selector}`);
        await page.waitForFunction(() =>
            [...document.querySelectorAll("#share attn-view")].every(
                ({ ariaBusy }) => ariaBusy === "false",
            ),
        );
        return Promise.all(
            (await parts.all()).map((part) =>
                part.evaluate((each) => each.ariaLabel ?? each.textContent),
            ),
        );
    };
    const labels = await say(".frame");
    assert.equal(labels.length, 4);
    for (const label of labels)
        assert.match(
            label,
            /^\w+: \d+ × \d+ Gewichte; \d+ % auf der Diagonale; am meisten angeschaut „.+“, \d+ %; das größte „.+“ → „.+“, [\d.e-]+; Fehler gegen exakt [\d.e-]+\. Pfeiltasten gehen von Zelle zu Zelle\.$/,
        );
    await change(() => page.fill("#text", words(1100)));
    for (const problem of await say(".problem"))
        assert.equal(problem, "1100 × 1100 Gewichte sind mehr, als ein Element zeigt: 1048576");
});

test("elements go as soon as they are of another text, preset, problem or parameter", async () => {
    await page.click("#share summary");
    for (const act of [
        () => page.fill("#text", "another text"),
        () => page.check("#causal"),
        () => page.fill("#sketch-size", "9"),
        () => page.click("[data-preset=copy]"),
    ]) {
        await copy("elements");
        assert.equal(await page.locator("#share attn-view").count(), 4);
        await change(act);
        assert.equal(await page.locator("#share attn-view").count(), 0);
        assert.equal(await page.isVisible("#share textarea"), false);
    }
});

testOrigins();
