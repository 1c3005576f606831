/** Makes the one file of a view: style, program and arrays in it, and nothing that is to be fetched. */

import { escaped } from "../../escaped.js";
import { find } from "../dom";
import type { SavedView } from "./saved";

const mostBytes = 1e6;

const policy = [
    "default-src 'none'",
    "script-src 'unsafe-inline' 'wasm-unsafe-eval'",
    "style-src 'unsafe-inline'",
    "img-src data:",
].join("; ");

export async function oneFile(view: SavedView): Promise<string> {
    const sheets = [...document.querySelectorAll<HTMLLinkElement>("link[rel=stylesheet]")];
    const [program, ...styles] = await Promise.all(
        ["one-file.js", ...sheets.map(({ href }) => href)].map(read),
    );
    const parts = ["#weights-legend", "#difference-legend", "#pooling", "#panel"].map(
        (selector) => find(document, selector, HTMLElement).outerHTML,
    );
    const [weights, difference, pooling, template] = parts;
    const file = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>libattn: a view of attention</title>
<style>${styles.join("\n")}</style>
<main>
<h1>libattn: a view of attention</h1>
<p>Computed where this file is opened, on the arrays in it. It was saved from <a href="${escaped(view.address)}">a page that has more</a>.</p>
<section class="legends" aria-label="Colours">${weights}${difference}${pooling}</section>
<section id="panels" class="panels" aria-label="Backends"><noscript><p class="loading">This needs JavaScript.</p></noscript></section>
</main>
${template}
<script type="application/json" id="view">${JSON.stringify(view).replaceAll("<", "\\u003c")}</script>
<script>${(program ?? "").replaceAll("</script", "<\\/script")}</script>
</html>
`;
    const bytes = new Blob([file]).size;
    if (bytes > mostBytes)
        throw new Error(
            `one file of this input has ${(bytes / 1e6).toFixed(1)} MB, and 1 MB is the most: take a smaller one`,
        );
    return file;
}

async function read(address: string): Promise<string> {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${address}: ${response.status}`);
    return response.text();
}
