// The words of pages in several languages: {{key}} in a page's file is what src/words/LANGUAGE/pages.ts says. A page
// in another language than English is made of the English one's file when it is asked for.

import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { escaped } from "./escaped.js";
import { fileOf, files, pageOf } from "./pages.js";
import { pages as german } from "./src/words/de/pages";
import { pages as english } from "./src/words/en/pages";

const tables = { en: english, de: german };

export const languages = Object.keys(tables);

/** In place of the words of the page's language those of this one: for a program that is to be a single file. */
export function wordsOf(language) {
    const table = fileURLToPath(new URL(`src/words/${language}/words.ts`, import.meta.url));
    return {
        name: "words-of",
        enforce: "pre",
        resolveId: (id) => (id.endsWith("/words/words") ? table : null),
    };
}

/** Puts them into pages that have a table. */
export function words() {
    let root = "";
    const isMade = (id) => files.includes(basename(id)) && pageOf(basename(id)).language !== "en";
    const original = (id) => readFile(resolve(root, fileOf(pageOf(basename(id)).name)), "utf8");
    return {
        name: "words",
        enforce: "pre",
        configResolved(config) {
            root = config.root;
        },
        resolveId: (id) => (isMade(id) ? resolve(root, basename(id)) : null),
        load: (id) => (isMade(id) ? original(id) : null),
        configureServer({ middlewares, transformIndexHtml }) {
            middlewares.use((request, response, next) => {
                const id = request.url.replace(/[?#].*/, "");
                if (!isMade(id)) return next();
                original(id)
                    .then((html) => transformIndexHtml(id, html))
                    .then((html) => response.setHeader("Content-Type", "text/html").end(html))
                    .catch(next);
            });
        },
        transformIndexHtml: {
            order: "pre",
            handler: (html, { filename }) => filled(html, pageOf(basename(filename))),
        },
    };
}

/** Refuses a page that asks for a word that there is not, and words that no page asks for. */
function filled(html, { name, language }) {
    const table = tables[language][name] ?? {};
    const unused = new Set(Object.keys(table));
    const text = html.replace(/\{\{(\w+)\}\}/g, (_, key) => {
        if (!Object.hasOwn(table, key)) throw new Error(`${name}.html: no word ${key}`);
        unused.delete(key);
        return escaped(table[key]);
    });
    if (unused.size > 0) throw new Error(`${name}.html asks for no ${[...unused].join()}`);
    return text.replace('<html lang="en">', `<html lang="${language}">`);
}
