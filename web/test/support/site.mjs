/** The built page, served, and a browser: what the tests of a file share. */

import { after, before } from "node:test";
import { serve } from "../../serve.mjs";
import { launchChromium } from "./browser.mjs";
import { watchRest } from "./rest.mjs";
import { Spares } from "./spares.mjs";

/**
 * { url, browser, newContext(options), newPage(options) }, which are there once the tests begin. `timingBudget`: for how
 * many milliseconds pages time their backends; null: as long as they do for a visitor, who opens each for the first time.
 * Of a context's options, `moves` is of watchRest().
 */
export function openSite({ timingBudget = 60 } = {}) {
    const site = {};
    let server;
    before(async () => {
        server = await serve({ packs: false });
        site.url = server.url;
        site.text = `${server.url}#preset=none`; // the first page with its own text
        site.browser = await launchChromium();
        site.newContext = async ({ moves, ...options } = {}) => {
            const context = await site.browser.newContext(options);
            await watchRest(context, { moves });
            context.on("page", waitNowAndThen);
            await context.addInitScript(forgoServiceWorker);
            if (timingBudget !== null) await context.addInitScript(timeFor, timingBudget);
            return context;
        };
        const spares = new Spares(server.url, site.newContext);
        const open = async (options) => (await site.newContext(options)).newPage();
        site.newPage = timingBudget === null ? open : (options) => spares.take(options);
    });
    after(async () => {
        await site.browser?.close();
        await server?.close();
    });
    return site;
}

/** A condition is not looked at at each frame, which is the default: the browser would prepare frames all the while. */
function waitNowAndThen(page) {
    const wait = page.waitForFunction.bind(page);
    page.waitForFunction = (condition, argument, options) =>
        wait(condition, argument, { polling: 50, ...options });
}

/** In the page: one would fetch all files anew for each test. */
function forgoServiceWorker() {
    delete Navigator.prototype.serviceWorker;
}

/** In the page. */
function timeFor(milliseconds) {
    globalThis.timingBudget = milliseconds;
}
