/** All pages by axe-core's rules, in light and dark, as they open and as they are after some use. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { fileOf, pageOf } from "../pages.js";
import { settled } from "./browser.mjs";
import { randomNpy } from "./npy.mjs";
import { change, drop } from "./reader.mjs";
import { openSite } from "./site.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const site = openSite();

/** What is wrong with the page as it stands, a line each. */
async function violations(page) {
    await page.evaluate(axe);
    const found = await page.evaluate(async () => (await globalThis.axe.run()).violations);
    return found.flatMap(({ id, impact, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${impact} ${id} ${target}: ${failureSummary}`),
    );
}

const uses = {
    "index.html": {
        async opens(page) {
            await settled(page);
        },
        async "with a preset"(page) {
            await change(page, () => page.click("[data-preset=normaliser]"));
        },
        async "with differences, commands, files and a wrong value"(page) {
            await page.check("#difference");
            const folds = await page.locator("summary:visible").all();
            for (const summary of folds) await summary.click();
            await change(page, () => drop(page, { "x.npy": randomNpy([2, 3, 9, 8], 1) }));
            await change(page, () => page.fill("#sparse-local", "-3"));
            await drop(page, { "x.npy": Buffer.from("no array") });
            await page.locator("#input-problem").waitFor();
        },
    },
    "story.html": {
        async opens(page) {
            await page.locator("#scores .figure svg").waitFor();
        },
        async "at its end"(page) {
            await page.locator("#costs").scrollIntoViewIfNeeded();
            await page.locator("#costs table").waitFor();
        },
        async "with a text too long"(page) {
            await page.fill("#text", "word ".repeat(200));
            await page.locator("#problem").waitFor();
        },
    },
    "labs.html#lab=separation&panel=7b&set.trials=5": {
        async opens(page) {
            await page.locator("#figure svg").waitFor();
        },
        async "with a figure, a table and a wrong value"(page) {
            await page.click("#numbers summary");
            await page.click("#run");
            await page.waitForSelector(".lab-result[aria-busy=false]");
            await page.fill("#set-trials", "0");
        },
    },
    "figures.html": {
        async opens(page) {
            await page.locator("#separation-3a").waitFor();
        },
        async "with what made a figure"(page) {
            await page.click("#separation-3a summary");
        },
    },
    "training.html": {
        async opens(page) {
            await page.locator("#answers svg").waitFor();
            await page.locator(".learner .heads canvas").nth(7).waitFor();
        },
        async "with models that have learned"(page) {
            await page.click("#go");
            await page.waitForFunction(
                () => Number(document.querySelector("[data-name=step] data").value) > 10,
            );
            await page.click("#go");
        },
    },
    "thinking.html#model=ed-softmax&question=ab+ac&token=8": {
        async opens(page) {
            await page.waitForSelector("main[aria-busy=false]");
        },
        async "with what is no question"(page) {
            await page.fill("#question", "ab");
            await page.press("#question", "Enter");
            await page.locator("#problem").waitFor();
        },
    },
};

const inAllLanguages = Object.entries(uses).flatMap(([address, steps]) => {
    const [file, hash = ""] = address.split(/(?=#)/);
    const { name, languages } = pageOf(file);
    return languages.map((language) => [fileOf(name, language) + hash, steps]);
});

for (const colorScheme of ["light", "dark"]) {
    for (const width of [390, 1366]) {
        for (const [address, steps] of inAllLanguages) {
            test(`${address}, ${colorScheme}, ${width} pixels wide: axe finds nothing`, async () => {
                const viewport = { width, height: 900 };
                const page = await site.newPage({ colorScheme, viewport });
                await page.goto(site.url + address);
                for (const [name, step] of Object.entries(steps)) {
                    await step(page);
                    assert.deepEqual(await violations(page), [], name);
                }
                await page.close();
            });
        }
    }
}
