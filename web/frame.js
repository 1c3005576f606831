// What stands around each page: head, way to the others, notices and footer, put in when the page is served
// or built. A page's own file has what is its own, as a whole document.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { NOTICE } from "./notice.js";
import { fileOf, pageOf, pages } from "./pages.js";
import { frame as german } from "./src/words/de/frame";
import { frame as english } from "./src/words/en/frame";

const tables = { en: english, de: german };

/** It has to run before anything is drawn, and fetching it would take longer than it does. */
const choosing = readFileSync(new URL("src/words/choose.js", import.meta.url), "utf8");
const hash = createHash("sha256").update(choosing).digest("base64");

/** No text becomes code, and nothing is fetched from elsewhere; blob: is what a picture is saved by. */
const policy = [
    "default-src 'self'",
    `script-src 'self' 'wasm-unsafe-eval' 'sha256-${hash}'`,
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
    <meta property="og:site_name" content="libattn" />
    <meta property="og:type" content="website" />
    <meta property="og:image" content="./screenshot.png" />
    <link rel="manifest" href="./libattn.webmanifest" />
    <link rel="icon" href="./icon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="./src/style.css" />`;

/** What comes first on every page: past all of it, whose pages these are, and the others. */
const top = (here, words) => `
    <a class="skip" href="#main">${words.skip}</a>
    <nav class="top" aria-label="${words.navigation}">
      <a class="brand" href="./${fileOf("index", here.language)}">libattn</a>${entries(here, words)}
    </nav>`;

const notices = ({ needsScript, notStarted }) => `
    <noscript>
      <p class="problem">
        ${needsScript}
      </p>
    </noscript>
    <p class="problem unstarted">
      ${notStarted("<code>node web/serve.mjs</code>")}
    </p>`;

const footer = ({ nothingLeaves }) => `
    <footer class="page-footer">
      <p id="about"></p>
      <p>${nothingLeaves}</p>
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
    const page = pageOf(file);
    const words = tables[page.language];
    const parts = [
        ["<head>", `<head>${head}${languagesOf(page)}`],
        ["<body>", `<body>${top(page, words)}`],
        ["</header>", `</header>${computes ? notices(words) : ""}`],
        [/<main(?! id)/, '<main id="main" tabindex="-1"'],
        ...(computes ? [["</main>", `</main>${footer(words)}`]] : []),
        ["</footer>", `  <p><a href="./${NOTICE}">${words.licences}</a></p>\n    </footer>`],
    ];
    return parts.reduce((text, [mark, whole]) => {
        if (text.search(mark) < 0) throw new Error(`${file} has no ${mark}`);
        return text.replace(mark, () => whole); // the first one
    }, html);
}

const othersOf = ({ languages, language }) => languages.filter((each) => each !== language);

/** The same page in other languages, and what leads there. */
function languagesOf(page) {
    const others = othersOf(page).map((language) => {
        const href = `./${fileOf(page.name, language)}`;
        return `\n    <link vite-ignore rel="alternate" hreflang="${language}" href="${href}" />`;
    });
    return others.length > 0 ? `${others.join("")}\n    <script>${choosing}</script>` : "";
}

function entries(here, { menu, pages: names, groups, inEnglish }) {
    const link = ({ name, languages }) => {
        const current = name === here.name ? ' aria-current="page"' : "";
        const isThere = languages.includes(here.language);
        const href = `./${fileOf(name, isThere ? here.language : "en")}`;
        const language = isThere ? "" : ' hreflang="en"';
        const text = isThere ? names[name] : inEnglish(names[name]);
        return `<li><a href="${href}"${current}${language}>${text}</a></li>`;
    };
    const links = pages.map((page, i) => {
        const { group } = page;
        if (group === null) return link(page);
        if (pages[i - 1]?.group === group) return ""; // it stands in its group
        const inside = pages.filter((each) => each.group === group).map(link);
        const id = `nav-${group}`;
        return `<li class="group"><span id="${id}">${groups[group]}</span><ul role="list" aria-labelledby="${id}">${inside.join("")}</ul></li>`;
    });
    const others = othersOf(here).map((language) => {
        const href = `./${fileOf(here.name, language)}#lang=${language}`;
        const attributes = `hreflang="${language}" lang="${language}"`;
        return `<li class="language"><a href="${href}" ${attributes}>${tables[language].language}</a></li>`;
    });
    return `
      <button type="button" id="menu" aria-controls="pages" aria-expanded="false">${menu}</button>
      <div id="pages"><ul role="list">${[...links, ...others].join("")}</ul></div>`;
}
