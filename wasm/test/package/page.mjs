/* A page beside a package's folder, under a policy that allows WebAssembly and nothing else that is unsafe. */
import { launchChromium } from "../../../web/test/support/browser.mjs";
import { serve } from "./server.mjs";

/** What the page writes into #result, served as index.html of the folder `site`. */
export async function resultOf(site, html) {
    const server = await serve(site, {
        texts: { "/index.html": html },
        policy: "default-src 'self'; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'",
        isolated: () => false,
    });
    const browser = await launchChromium();
    try {
        const page = await browser.newPage();
        const result = page.locator("#result");
        const failure = new Promise((resolve, reject) => page.once("pageerror", reject));
        const text = async () => {
            await page.goto(`${server.base}/index.html`);
            await result.filter({ hasText: /./ }).waitFor();
            return result.textContent();
        };
        return await Promise.race([text(), failure]);
    } finally {
        await browser.close();
        server.close();
    }
}
