/** Around the page: without a server, without JavaScript, without a network. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { serve } from "../serve.mjs";
import { settled } from "./browser.mjs";
import { openSite } from "./site.mjs";
import { countBytes } from "./watch.mjs";

const site = openSite();
const pages = ["index.html", "labs.html", "story.html", "thinking.html", "training.html"];

test("opened from a disk, a page says what it needs", async () => {
    for (const name of pages) {
        const page = await site.browser.newPage();
        await page.goto(new URL(`../dist/${name}`, import.meta.url).href);
        const line = page.locator(".unstarted");
        await line.waitFor({ timeout: 8000 });
        assert.match(await line.textContent(), /web\s+server/);
        await page.close();
    }
});

test("without JavaScript a page says that it needs it", async () => {
    for (const name of pages) {
        const context = await site.browser.newContext({ javaScriptEnabled: false });
        const page = await context.newPage();
        await page.goto(site.url + name);
        const text = await page.locator("noscript").textContent();
        assert.match(text, /needs JavaScript/);
        assert.ok(await page.locator("noscript").boundingBox(), "it is seen");
        await context.close();
    }
});

test("no text becomes a script's address: the policy is enforced", async () => {
    for (const name of pages) {
        const page = await site.newPage();
        await page.goto(site.url + name);
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
    const page = await site.newPage();
    const tell = countBytes(page);
    await page.goto(site.url);
    await settled(page);
    t.diagnostic(`${tell()} bytes`);
    assert.ok(tell() > 50_000 && tell() <= 250_000, `${tell()} bytes`);
    await page.close();
});

test("after a first visit pages work without a network", async () => {
    const server = await serve();
    const context = await site.browser.newContext();
    const page = await context.newPage();
    await page.goto(server.url);
    await settled(page);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.evaluate(async () => {
        const { controller } = navigator.serviceWorker;
        if (controller) return;
        await new Promise((resolve) => {
            navigator.serviceWorker.addEventListener("controllerchange", resolve, { once: true });
        });
    });
    const kept = () =>
        page.evaluate(async () => {
            const [name] = await caches.keys();
            const requests = await (await caches.open(name)).keys();
            return requests.filter(({ url }) => url.endsWith(".model")).length;
        });
    assert.equal(await kept(), 0, "models are not loaded unasked");
    await page.goto(`${server.url}thinking.html`);
    await page.waitForSelector("main[aria-busy=false]");
    assert.equal(await kept(), 1);
    await server.close();
    await page.reload();
    await page.waitForSelector("main[aria-busy=false]");
    assert.match(await page.textContent("#words"), /right\.$/);
    await page.goto(server.url);
    await settled(page);
    assert.equal(await page.locator("[data-name=error] data[value]:not([value=''])").count(), 4);
    assert.equal(await page.evaluate(() => crossOriginIsolated), true);
    await page.goto(`${server.url}labs.html#lab=separation&panel=7b&set.trials=2`);
    await page.locator("#figure svg").waitFor();
    await page.click("#run");
    await page.waitForSelector(".lab-result[data-points='10']");
    await context.close();
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
