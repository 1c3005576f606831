// WebAssembly's peak (wasm_peak.mjs) in headless Chromium, whose engine is not the version that Node has.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { launchChromium } from "../../web/test/browser.mjs";

/** A page's clock tells tenths of a millisecond: these take some 30 ms. */
const ROUNDS = 20_000_000;

/** 1e9 operations a second, the best of several measurements. */
export async function chromiumPeak() {
    const source = await readFile(join(import.meta.dirname, "wasm_peak.mjs"), "base64");
    const browser = await launchChromium();
    try {
        const page = await browser.newPage();
        return await page.evaluate(
            async ([url, rounds]) => (await import(url)).wasmPeak(rounds),
            [`data:text/javascript;base64,${source}`, ROUNDS],
        );
    } finally {
        await browser.close();
    }
}
