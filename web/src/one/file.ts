/** Makes the one file of a view: style, program and arrays in it, and nothing that is to be fetched. */

import { escaped } from "../../escaped.js";
import { find } from "../dom/dom";
import { programOf } from "./program.js";
import type { SavedView } from "./saved";
import { words } from "../words/words";

const { share: told } = words;
const mostBytes = 1.5e6;

const policy = [
    "default-src 'none'",
    "script-src 'unsafe-inline' 'wasm-unsafe-eval'",
    "style-src 'unsafe-inline'",
    "img-src data: blob:", // pictures that are saved as PNG
].join("; ");

export async function oneFile(view: SavedView): Promise<string> {
    const { lang: language } = document.documentElement;
    const sheets = [...document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")];
    const [program, ...styles] = await Promise.all(
        [programOf(language), ...sheets.map(({ href }) => href)].map(read),
    );
    const legends = ["#weights-legend", "#difference-legend", "#pooling"].map(partOf).join("");
    const folds = ["#strands", "#heads"].map(partOf).join("\n");
    const file = `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${told.title}</title>
<style>${styles.join("\n")}</style>
<main>
<h1>${told.title}</h1>
<p>${told.computedHere} <a href="${escaped(view.address)}">${told.whole}</a>. ${told.steps}</p>
<ul id="problem-rules">${rulesOf()
        .map((line) => `<li>${escaped(line)}</li>`)
        .join("")}</ul>
<section class="legends" aria-label="${told.colours}">${legends}</section>
<section id="panels" class="panels" aria-label="${told.backends}"><noscript><p class="loading">${told.needsScript}</p></noscript></section>
${partOf("#pin")}
${folds}
<div id="explanation" role="tooltip" popover="manual"></div>
</main>
${partOf("#panel")}
<script type="application/json" id="view">${JSON.stringify(view).replaceAll("<", "\\u003c")}</script>
<script>${(program ?? "").replaceAll("</script", "<\\/script")}</script>
</html>
`;
    const bytes = new Blob([file]).size;
    if (bytes > mostBytes) throw new Error(told.tooLarge((bytes / 1e6).toFixed(1)));
    return file;
}

/** What the view is computed on, and by which rules, as the page has them. */
function rulesOf(): string[] {
    const preset = find(document, ".preset-source", HTMLElement);
    const name = preset.hidden ? "" : find(preset, "h3", HTMLElement).textContent;
    const input = [name, find(document, "#summary", HTMLElement).textContent];
    const dim = document.querySelectorAll<HTMLSelectElement>("#dim-field:not([hidden]) select");
    const fields = document.querySelectorAll<HTMLInputElement>(
        "#scale, #causal, #rules input:not([type=file])",
    );
    const rules = [...dim, ...fields].flatMap((field) => {
        const label = field.labels?.[0]?.querySelector("span") ?? field.labels?.[0];
        const said = label?.textContent.trim() ?? "";
        if (field instanceof HTMLInputElement && field.type === "checkbox")
            return field.checked ? [said] : [];
        return field.value === "" ? [] : [`${said}: ${field.value}`];
    });
    const mask = document.querySelector("#rules .mask:not([hidden]) span")?.textContent;
    const all = [input.filter((part) => part !== "").join(" · "), ...rules];
    return mask ? [...all, mask] : all;
}

/** A part of the page, without what its program has put there. */
function partOf(selector: string): string {
    const part = find(document, selector, HTMLElement).cloneNode(true) as HTMLElement;
    for (const holder of part.querySelectorAll(".figure, select")) holder.replaceChildren();
    for (const menu of part.querySelectorAll(".take")) menu.remove();
    part.removeAttribute("open");
    return part.outerHTML;
}

async function read(address: string): Promise<string> {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${address}: ${response.status}`);
    return response.text();
}
