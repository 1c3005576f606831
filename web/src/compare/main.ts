/** Opens the page. */

import "../shell/trusted"; // first: workers are started by what follows
import { element, find, message } from "../dom/dom";
import { Engine } from "../engine/engine";
import { Page } from "./page";
import { readWithout, showWithout } from "../share/parts";
import { tellHeight } from "../share/height";
import { start } from "../shell/start";

async function open(): Promise<void> {
    start();
    showWithout(readWithout(new URLSearchParams(location.hash.slice(1))));
    tellHeight();
    await new Page(new Engine()).open();
}

open().catch((error: unknown) => {
    const line = element("p", { className: "problem", role: "alert" }, message(error));
    find(document, "#panels", HTMLElement).replaceChildren(line);
});
