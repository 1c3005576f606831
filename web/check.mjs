/**
 * Does the built page work? Serves it, opens it in a headless Chromium, waits for its numbers and saves pictures of
 * it, light, dark and on a phone: `node check.mjs [PICTURE.png]`, build/demo.png, build/demo-dark.png and
 * build/demo-phone.png by default. Those of the README are of `node web/check.mjs web/screenshot.png`.
 */

import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "./serve.mjs";
import { launchChromium, settled } from "./test/support/browser.mjs";

const picture = process.argv[2] ?? fileURLToPath(new URL("../build/demo.png", import.meta.url));
const mostBytes = 200_000; // of a picture: readers of the README load them all

const desk = { width: 1280, height: 880 };
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

/** By what is added to the name of a file. */
const looks = {
    "": { viewport: desk, colorScheme: "light" },
    "-dark": { viewport: desk, colorScheme: "dark" },
    "-phone": { ...phone, colorScheme: "light" },
};

async function check() {
    const server = await serve();
    const browser = await launchChromium();
    try {
        await mkdir(dirname(picture), { recursive: true });
        for (const [name, look] of Object.entries(looks)) {
            const page = await browser.newPage(look);
            await page.goto(server.url);
            await settled(page);
            if (name === "")
                for (const panel of await page.locator(".panel").all()) await report(panel);
            await save(page, picture.replace(/(\.png)?$/, `${name}.png`));
            await page.close();
        }
    } finally {
        await browser.close();
        await server.close();
    }
}

/** What is seen without scrolling, or, where pictures are further down, with them. */
async function save(page, path) {
    await page.locator(".panel canvas").first().scrollIntoViewIfNeeded();
    await page.screenshot({ path });
    const { size } = await stat(path);
    if (size > mostBytes)
        throw new Error(`${path} has ${size} bytes, and ${mostBytes} is the most`);
    console.log(`the page is in ${path}`);
}

/** One line about a panel; throws when it has no numbers. */
async function report(panel) {
    const name = await panel.getAttribute("data-backend");
    const problem = await panel.locator(".problem:visible").allTextContents();
    const [error, time] = await Promise.all(
        ["error", "time"].map((line) => panel.locator(`[data-name=${line}] dd`).allTextContents()),
    );
    if (!error.length || !time.length) throw new Error(`no numbers for ${name}: ${problem}`);
    console.log([`${name}: error ${error}, ${time}`, ...problem].join("; "));
}

check().catch((error) => {
    console.error(`check: ${error.message}`);
    process.exitCode = 1;
});
