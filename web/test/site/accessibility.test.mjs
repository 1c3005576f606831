/** All pages by axe-core's rules, in light and dark, as they open and as they are after some use. */

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { zipSync } from "fflate";
import { someOf } from "../../../wasm/test/share.mjs";
import { fileOf, pageOf } from "../../pages.js";
import { settled } from "../support/browser.mjs";
import { randomNpy } from "../support/npy.mjs";
import { change, drop } from "../support/reader.mjs";
import { openSite } from "../support/site.mjs";

const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const site = openSite();

/** What is wrong with the page as it stands, a line each; `rules`: those that are not as by default. */
async function violations(page, rules = {}) {
    await page.evaluate(axe);
    const run = async (rules) =>
        (await globalThis.axe.run({ rules, resultTypes: ["violations"] })).violations;
    const found = await page.evaluate(run, rules);
    return found.flatMap(({ id, impact, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${impact} ${id} ${target}: ${failureSummary}`),
    );
}

/** Folds within folds, too. */
async function unfoldAll(page) {
    const closed = page.locator("details:not([open]) > summary:visible");
    while ((await closed.count()) > 0) await closed.first().click();
}

const uses = {
    "index.html": {
        async opens(page) {
            await settled(page);
        },
        async "with a preset"(page) {
            await page.click("#open-settings");
            await change(page, () => page.click("[data-preset=normaliser]"));
            await page.click("#settings .close");
        },
        async "with a row step by step"(page) {
            const { width, height } = page.viewportSize();
            await page.setViewportSize({ width: Math.min(width, 1280), height }); // where formulas scroll
            await page.goto("about:blank");
            await page.goto(`${site.url}#row=3.2`);
            await settled(page);
            const rows = () => document.querySelectorAll(".row:not(.old) .formulas").length === 4;
            await page.waitForFunction(rows);
        },
        async "with differences, commands, files and a wrong value"(page) {
            await page.check("#difference");
            await unfoldAll(page);
            await page.click("#open-settings");
            await unfoldAll(page);
            await change(page, () => drop(page, { "x.npy": randomNpy([2, 3, 9, 8], 1) }));
            await change(page, () => page.fill("#sparse-local", "-3"));
            await drop(page, { "x.npy": Buffer.from("no array") });
            await page.locator("#input-problem").waitFor();
        },
    },
    "index.html#embed=1": {
        async opens(page) {
            await settled(page);
        },
        async "with parts folded out and no input"(page) {
            await unfoldAll(page);
            await page.evaluate(() => {
                const text = document.querySelector("#text");
                text.value = "";
                text.dispatchEvent(new Event("input"));
            });
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

/** In the page: from now on the library's worker is asked for nothing. */
function withhold() {
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (letter, ...rest) {
        if (letter[0] !== "call") postMessage.call(this, letter, ...rest);
    };
}

/** States that come and go. */
const passing = {
    async "enlarged and zoomed"(page) {
        await settled(page);
        const enlarge = page.locator("[data-backend=linear] .enlarge, [data-method=linear]");
        await enlarge.locator("visible=true").click();
        await page.click("#zoom-in");
        await page.locator("#zoom output", { hasText: "queries" }).waitFor();
        await settled(page);
    },
    async "with an explanation"(page) {
        await page.click(".enlarged .details > summary");
        await page.locator(".enlarged .numbers .term").first().click();
        await page.locator("#explanation:popover-open").waitFor();
    },
    async "with arrays to pick from"(page) {
        const arrays = ["a", "b", "k", "v"].map((name, i) => [`${name}.npy`, randomNpy([9, 8], i)]);
        const npz = Buffer.from(zipSync({ ...Object.fromEntries(arrays), "q.npy": arrays[0][1] }));
        await change(page, () => drop(page, { "x.npz": npz }));
        await page.locator("#picker").waitFor();
    },
    async "as it computes, with pictures of before"(page) {
        await change(page, () => page.click("[data-own=text]"));
        await page.evaluate(withhold);
        await page.fill("#text", "other words");
        await page.locator(".stale-note:visible").first().waitFor();
        await page.locator("#progress:not(.idle)", { hasText: "Computing" }).waitFor();
    },
    async stopped(page) {
        await page.click("#progress button");
        await page.locator("#progress", { hasText: "Stopped" }).waitFor();
    },
};

/** The page of an address in each language, English first. */
function inLanguages(address) {
    const [file, hash = ""] = address.split(/(?=#)/);
    const { name, languages } = pageOf(file);
    return languages.map((language) => fileOf(name, language) + hash);
}

const all = [...Object.entries(uses), ["index.html#dim=16", passing]];

function testStates(address, steps, colorScheme, width, rules) {
    test(`${address}, ${colorScheme}, ${width} pixels wide: axe finds nothing`, async () => {
        const viewport = { width, height: 900 };
        const page = await site.newPage({ colorScheme, viewport });
        await page.goto(site.url + address);
        for (const [name, step] of Object.entries(steps)) {
            await step(page);
            assert.deepEqual(await violations(page, rules), [], name);
        }
        await page.close();
    });
}

/* Each scheme and each layout once. What is shown in dark and narrow alone, or in light and wide, is not seen. */
const looks = [
    ["light", 390],
    ["dark", 1366],
];
for (const [i, [address, steps]] of all.entries()) {
    const some = someOf(`looks of ${address} for axe`, [looks[i % 2], looks[1 - (i % 2)]]);
    for (const look of some) testStates(address, steps, ...look);
}

/* Words of another language can break rules; colours and widths are those of English. */
const ofWords = { "color-contrast": { enabled: false } };
const translated = Object.entries(uses).flatMap(([address, steps]) =>
    inLanguages(address)
        .slice(1)
        .map((other) => [other, steps]),
);
for (const [address, steps] of someOf("pages in German for axe", translated))
    testStates(address, steps, "light", 390, ofWords);

test("a view in one file, light and dark: axe finds nothing", async () => {
    const page = await site.newPage();
    await page.goto(
        `${site.url}index.html#preset=lis-softmax&row=3.2&strands=softmax&heads=linear`,
    );
    await settled(page);
    await page.click("#share > summary");
    const coming = page.waitForEvent("download");
    await page.click("[data-share=file]");
    const folder = await mkdtemp(join(tmpdir(), "attn-axe-"));
    const path = join(folder, "attention.html");
    await (await coming).saveAs(path);
    await page.goto(pathToFileURL(path).href);
    await page.locator(".panel .off data").nth(3).waitFor();
    await page.locator(".row-error data").nth(3).waitFor();
    await page.locator("#heads button[data-head]").nth(11).waitFor();
    for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await violations(page), [], colorScheme);
    }
    await page.close();
    await rm(folder, { recursive: true });
});
