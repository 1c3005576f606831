/** Opens the page. */

import { wrap } from "comlink";
import { element, find, message } from "./dom";
import { Page } from "./page";
import type { Engine } from "./protocol";

async function open(): Promise<void> {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    await new Page(wrap<Engine>(worker)).open();
}

open().catch((error: unknown) => {
    const line = element("p", { className: "problem", role: "alert" }, message(error));
    find(document, "#panels", HTMLElement).replaceChildren(line);
});
