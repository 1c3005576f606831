/** The page of figures, which computes nothing: it is kept for the next visit, as all are. */

import "../shell/trusted"; // first: what follows starts a worker
import { keep } from "../shell/keep";
import { takeAlong } from "../shell/language";
import { startTop } from "../shell/top";

startTop();
takeAlong();
keep();
for (const menu of document.querySelectorAll(".take")) {
    const button = menu.querySelector("button");
    const status = menu.querySelector("[role=status]");
    const links = [...menu.querySelectorAll<HTMLAnchorElement>("a")];
    const picture = links.find(({ download }) => download.endsWith(".svg"));
    if (!button || !status || !picture) continue;
    const give = (link: HTMLAnchorElement, asPixels: boolean) => {
        void saved(link, asPixels).then((problem) => (status.textContent = problem));
    };
    button.hidden = false;
    button.addEventListener("click", () => give(picture, true));
    for (const link of links)
        link.addEventListener("click", (event) => {
            event.preventDefault(); // a browser looks for downloads in the network, not in what it has kept
            give(link, false);
        });
}

/** What is wrong; nothing: "". */
async function saved(link: HTMLAnchorElement, asPixels: boolean): Promise<string> {
    try {
        const { saveFile, savePixels } = await import("./files");
        await (asPixels ? savePixels(link) : saveFile(link));
        return "";
    } catch (error) {
        return error instanceof Error ? error.message : String(error);
    }
}
