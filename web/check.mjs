/**
 * Does the built page work? Serves it, opens it in a headless Chromium, waits for its numbers and
 * saves a picture of it: `node check.mjs [PICTURE.png]`, build/demo.png by default.
 */

import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { serve } from "./serve.mjs";
import { launchChromium, settled } from "./test/browser.mjs";

const picture = process.argv[2] ?? fileURLToPath(new URL("../build/demo.png", import.meta.url));

async function check() {
    const server = await serve();
    const browser = await launchChromium();
    try {
        const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
        await page.goto(server.url);
        await settled(page);
        for (const panel of await page.locator(".panel").all()) await report(panel);
        await mkdir(dirname(picture), { recursive: true });
        await page.screenshot({ path: picture, fullPage: true });
        console.log(`the page is in ${picture}`);
    } finally {
        await browser.close();
        await server.close();
    }
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
