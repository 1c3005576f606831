/** Around the page: without a server, without JavaScript, without a network. */

import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createServer } from "vite";
import { fileOf, files, pageOf, pages } from "../../pages.js";
import { serve } from "../../serve.mjs";
import { settled } from "../support/browser.mjs";
import { openSite } from "../support/site.mjs";
import { take } from "../support/taking.mjs";
import { countBytes } from "../support/watch.mjs";

const site = openSite();
const programs = files.filter((file) => pageOf(file).name !== "figures");

/** What stands around a page: its policy, where it leads, of which page it says that it is, its notices. */
const frameOf = (page) =>
    page.evaluate(() => {
        const links = [...document.querySelectorAll("#pages a")];
        const of = (selector, name) => document.querySelector(selector)?.getAttribute(name);
        return {
            policy: of("meta[http-equiv=Content-Security-Policy]", "content"),
            manifest: Boolean(document.querySelector("link[rel=manifest]")),
            language: document.documentElement.lang,
            links: links.map((link) => link.getAttribute("href")),
            here: links.filter(({ ariaCurrent }) => ariaCurrent).map(({ pathname }) => pathname),
            notices: document.querySelectorAll("noscript, .unstarted").length,
            footers: document.querySelectorAll("body > footer").length,
        };
    });

test("pages are built, and served while they are worked on, with one frame", async (t) => {
    const development = await createServer({
        root: fileURLToPath(new URL("../..", import.meta.url)),
        ...{
            logLevel: "error",
            server: { port: 0, preTransformRequests: false }, // HTML is all that is looked at
            optimizeDeps: { noDiscovery: true, include: [] },
            cacheDir: await mkdtemp(join(tmpdir(), "attn-vite-")),
        },
    });
    t.after(async () => {
        await development.close();
        await rm(development.config.cacheDir, { recursive: true });
    });
    await development.listen();
    const [served] = development.resolvedUrls.local;
    const context = await site.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    const parsed = { waitUntil: "domcontentloaded" };
    const policies = new Set();
    for (const file of files) {
        await page.goto(site.url + file, parsed);
        const built = await frameOf(page);
        policies.add(built.policy);
        const { name, language, languages } = pageOf(file);
        const inLanguage = (each) => (each.languages.includes(language) ? language : "en");
        const others = languages.filter((each) => each !== language);
        assert.deepEqual(built.links, [
            ...pages.map((each) => `./${fileOf(each.name, inLanguage(each))}`),
            ...others.map((other) => `./${fileOf(name, other)}#lang=${other}`),
        ]);
        assert.equal(built.language, language);
        assert.deepEqual(built.here, [`/${file}`]);
        assert.equal(built.notices, programs.includes(file) ? 2 : 0, file);
        assert.deepEqual([built.footers, built.manifest], [1, true], file);
        await page.goto(served + file, parsed);
        assert.deepEqual(await frameOf(page), built, `${file} in development`);
    }
    assert.equal(policies.size, 1);
    assert.match([...policies][0], /^default-src 'self'; .*require-trusted-types-for 'script'/);
    await context.close();
});

test("opened from a disk, a page says what it needs", async () => {
    const context = await site.browser.newContext();
    const look = async (name) => {
        const page = await context.newPage();
        await page.goto(new URL(`../../dist/${name}`, import.meta.url).href);
        const line = page.locator(".unstarted");
        await line.waitFor(); // it comes after four seconds
        assert.match(await line.textContent(), /web\s*server/i, name);
    };
    await Promise.all(programs.map(look));
    await context.close();
});

test("without JavaScript a page says that it needs it", async () => {
    const context = await site.browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    for (const name of programs) {
        await page.goto(site.url + name);
        const text = await page.locator("noscript").textContent();
        assert.match(text, /JavaScript/, name);
        assert.ok(await page.locator("noscript").boundingBox(), `${name}: it is seen`);
    }
    await context.close();
});

/* All files have one policy, as the first test finds, and a page's languages one program. */
test("no text becomes a script's address: the policy is enforced", async () => {
    for (const { name } of pages) {
        const page = await site.newPage();
        await page.goto(site.url + fileOf(name), { waitUntil: "domcontentloaded" });
        const refused = await page.evaluate(() => {
            const outcomes = [];
            for (const attempt of [
                () => (document.body.innerHTML = "<p>x</p>"),
                () => new Worker("https://example.com/worker.js"),
            ]) {
                try {
                    attempt();
                    outcomes.push("done");
                } catch (error) {
                    outcomes.push(error.name);
                }
            }
            return outcomes;
        });
        assert.deepEqual(refused, ["TypeError", "TypeError"], name);
        await page.close();
    }
});

test("a first view takes at most 250 kB", async (t) => {
    const server = await serve();
    t.after(() => server.close());
    const page = await (await site.newContext()).newPage();
    const tell = countBytes(page);
    await page.goto(server.url);
    await settled(page);
    t.diagnostic(`${tell()} bytes`);
    assert.ok(tell() > 50_000 && tell() <= 250_000, `${tell()} bytes`);
    await page.context().close();
});

/** A page whose service worker has taken over. */
async function openKept(server, file = "") {
    const context = await site.browser.newContext();
    const page = await context.newPage();
    await page.goto(server.url + file);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.evaluate(async () => {
        const { controller } = navigator.serviceWorker;
        if (controller) return;
        await new Promise((resolve) => {
            navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true });
        });
    });
    return page;
}

/** Models that the browser keeps. */
const keptModels = (page) =>
    page.evaluate(async () => {
        const names = await caches.keys();
        const all = await Promise.all(names.map((name) => caches.open(name)));
        const requests = await Promise.all(all.map((cache) => cache.keys()));
        const urls = requests.flat().map(({ url }) => url);
        return urls.filter((url) => url.endsWith(".model"));
    });

test("after a first visit pages work without a network", async () => {
    const server = await serve({ packs: false });
    const page = await openKept(server);
    assert.deepEqual(await keptModels(page), [], "models are not loaded unasked");
    await page.goto(`${server.url}thinking.html`);
    await page.waitForSelector("main[aria-busy=false]");
    assert.equal((await keptModels(page)).length, 1);
    await server.close();
    await page.reload();
    await page.waitForSelector("main[aria-busy=false]");
    await page.locator("#words", { hasText: /right\.$/ }).waitFor(); // it plays
    await page.goto(server.url);
    await settled(page);
    assert.equal(await page.locator("[data-name=error] data[value]:not([value=''])").count(), 4);
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    await page.click("#open-settings");
    await page.click("[data-preset=lis-linear]");
    const said = page.getByText("it did not come, and this browser has not kept it");
    await said.first().waitFor();
    await page.goto(`${server.url}labs.html#lab=separation&panel=7b&set.trials=2`);
    await page.locator("#figure svg").waitFor();
    await page.click("#run");
    await page.waitForSelector(".lab-result[data-points='10']");
    await page.context().close();
});

test("the page of figures, which computes nothing, keeps all pages, too", async () => {
    const server = await serve({ packs: false });
    const page = await openKept(server, "figures.html");
    await server.close();
    await page.reload();
    assert.ok((await page.locator(".figures > li").count()) > 0);
    const card = page.locator("#separation-4a");
    for (const format of ["csv", "png"])
        assert.ok((await take(page, card, format)).bytes.length > 1000, format);
    await page.goto(`${server.url}labs.html`);
    await page.waitForSelector("#run:enabled");
    await page.context().close();
});

test("a new build keeps the models that it has, too, and no others", async (t) => {
    const root = await mkdtemp(join(tmpdir(), "attn-build-"));
    t.after(() => rm(root, { recursive: true }));
    await cp(new URL("../../dist", import.meta.url), root, { recursive: true });
    const server = await serve({ root, packs: false });
    const page = await openKept(server);
    await page.goto(`${server.url}thinking.html`);
    await page.waitForSelector("main[aria-busy=false]");
    const before = await keptModels(page);
    assert.equal(before.length, 1);
    await page.evaluate(async () => {
        const name = (await caches.keys()).find((each) => each.endsWith("models"));
        await (await caches.open(name)).put("assets/old.model", new Response("old"));
    });
    const worker = join(root, "service-worker.js");
    const text = await readFile(worker, "utf8");
    await writeFile(worker, text.replace('VERSION = "libattn-', 'VERSION = "libattn-new-'));
    await page.evaluate(async () => {
        await (await navigator.serviceWorker.getRegistration()).update();
    });
    await page.evaluate(async () => {
        const isOld = (name) => !name.startsWith("libattn-new-") && !name.endsWith("models");
        while ((await caches.keys()).some(isOld) || (await caches.match("assets/old.model")))
            await new Promise((resolve) => setTimeout(resolve, 100));
    });
    assert.deepEqual(await keptModels(page), before);
    await page.context().close();
    await server.close();
});

test("the page can be installed: its manifest has all that browsers ask for", async () => {
    const page = await site.newPage();
    await page.goto(site.url);
    const manifest = await page.evaluate(async () => {
        const { href } = document.querySelector("link[rel=manifest]");
        return (await fetch(href)).json();
    });
    for (const name of ["name", "short_name", "start_url", "display", "icons"]) {
        assert.ok(manifest[name]?.length > 0, name);
    }
    const icon = await page.evaluate(async (src) => (await fetch(src)).ok, manifest.icons[0].src);
    assert.equal(icon, true);
    await page.close();
});
