/** What a reader does on the page of the backends. */

import { settled } from "./browser.mjs";

/** Do something that makes the page compute, and wait until it has. */
export async function change(page, action) {
    await page.evaluate(() => {
        for (const each of document.querySelectorAll(".panel")) each.dataset.seen = "";
        const notice = (changes) => changes.forEach(({ target }) => delete target.dataset.seen);
        new MutationObserver(notice).observe(document.querySelector("#panels"), {
            attributeFilter: ["aria-busy"],
            subtree: true,
        });
    });
    await action();
    await page.waitForFunction(() => document.querySelector(".panel:not([data-seen])") !== null);
    await settled(page);
}

/** Drop files on the page, as a reader does. */
export async function drop(page, files) {
    const sent = Object.entries(files).map(([name, bytes]) => [name, bytes.toString("base64")]);
    const transfer = await page.evaluateHandle((list) => {
        const data = new DataTransfer();
        for (const [name, base64] of list) {
            const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
            data.items.add(new File([bytes], name));
        }
        return data;
    }, sent);
    for (const type of ["dragover", "drop"]) {
        await page.dispatchEvent("body", type, { dataTransfer: transfer });
    }
}
