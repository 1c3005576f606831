/** What the page's share buttons give. */

import { page } from "./panels.mjs";

/** Asks for a link, code or elements, and gives the text that is copied. */
export async function copy(what) {
    await page.click(`[data-share=${what}]`);
    await page.locator("#share [role=status]", { hasText: /Copied|Selected/ }).waitFor();
    return page.inputValue("#share textarea");
}
