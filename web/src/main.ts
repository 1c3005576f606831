/** Opens the page. */

import { element, find, message } from "./dom";
import { Engine } from "./engine";
import { Page } from "./page";

async function open(): Promise<void> {
    await new Page(new Engine()).open();
}

open().catch((error: unknown) => {
    const line = element("p", { className: "problem", role: "alert" }, message(error));
    find(document, "#panels", HTMLElement).replaceChildren(line);
});
