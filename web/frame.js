// What stands around each page: head, way to the others, notices and footer, put in when the page is served
// or built. A page's own file has what is its own, as a whole document.

import { basename } from "node:path";
import { pages } from "./pages.js";

/** No text becomes code, and nothing is fetched from elsewhere; blob: is what a picture is saved by. */
const policy = [
    "default-src 'self'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self' blob:",
    "connect-src 'self'",
    "worker-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types default",
].join("; ");

const head = `
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <link rel="manifest" href="./libattn.webmanifest" />
    <link rel="icon" href="./icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="./src/style.css" />`;

const notices = `
    <noscript>
      <p class="problem">
        All is computed in your browser: that needs JavaScript, which is switched off.
      </p>
    </noscript>
    <p class="problem unstarted">
      The page has not started. Opened from a disk it cannot: browsers load its parts from a web
      server alone, such as <code>node web/serve.mjs</code> or any other, for files in a folder.
    </p>`;

const footer = `
    <footer class="page-footer">
      <p id="about"></p>
      <p>Everything is computed in this page; nothing leaves it.</p>
    </footer>`;

/** Puts it around every page. */
export function frame() {
    return {
        name: "frame",
        transformIndexHtml: {
            order: "pre", // style sheets and icons become the build's own files
            handler: (html, { filename }) => framed(html, basename(filename)),
        },
    };
}

/** A page that computes nothing says so in its own footer, and needs no JavaScript. */
function framed(html, file) {
    const computes = !html.includes("<footer");
    const parts = [
        ["<head>", `<head>${head}`],
        ["</header>", `${nav(file)}\n    </header>${computes ? notices : ""}`],
        ...(computes ? [["</main>", `</main>${footer}`]] : []),
    ];
    return parts.reduce((text, [mark, whole]) => {
        if (!text.includes(mark)) throw new Error(`${file} has no ${mark}`);
        return text.replace(mark, () => whole); // the first one
    }, html);
}

function nav(here) {
    const links = pages.map(({ file, name }) => {
        const current = file === here ? ' aria-current="page"' : "";
        return `<li><a href="./${file}"${current}>${name}</a></li>`;
    });
    return `      <nav aria-label="Pages"><ul>${links.join("")}</ul></nav>`;
}
