/** The built page, served, and a browser: what the tests of a file share. */

import { after, before } from "node:test";
import { serve } from "../serve.mjs";
import { launchChromium } from "./browser.mjs";

/** { url, browser, newContext(options), newPage(options) }, which are there once the tests begin. */
export function openSite() {
    const site = {};
    let server;
    before(async () => {
        server = await serve();
        site.url = server.url;
        site.browser = await launchChromium();
        site.newContext = async (options) => {
            const context = await site.browser.newContext(options);
            await context.addInitScript(forgoServiceWorker);
            await context.addInitScript(() => (globalThis.timingBudget = 60));
            return context;
        };
        site.newPage = async (options) => (await site.newContext(options)).newPage();
    });
    after(async () => {
        await site.browser?.close();
        await server?.close();
    });
    return site;
}

/** In the page: one would fetch all files anew for each test. */
function forgoServiceWorker() {
    delete Navigator.prototype.serviceWorker;
}
