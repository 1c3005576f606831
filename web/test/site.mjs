/** The built page, served, and a browser: what the tests of a file share. */

import { after, before } from "node:test";
import { serve } from "../serve.mjs";
import { launchChromium } from "./browser.mjs";

/** { url, browser }, which are there once the tests begin. */
export function openSite() {
    const site = {};
    let server;
    before(async () => {
        server = await serve();
        site.url = server.url;
        site.browser = await launchChromium();
    });
    after(async () => {
        await site.browser?.close();
        await server?.close();
    });
    return site;
}
