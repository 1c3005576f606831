// Markdown tables, and files that are replaced whole.

import { readFileSync, renameSync, writeFileSync } from "node:fs";

/** A table in Markdown: `titles` and `rows` of texts. */
export const table = (titles, rows) =>
    [titles, titles.map(() => "---"), ...rows]
        .map((cells) => `| ${cells.join(" | ")} |`)
        .join("\n");

/** Puts each text of `texts` between the marks of its name in the file, all of them or none. */
export function writeMarked(file, texts) {
    let readme = readFileSync(file, "utf8");
    for (const [name, text] of Object.entries(texts)) {
        const marked = new RegExp(`(<!-- ${name}: [^>]*-->\n)[^]*?(\n<!-- end of ${name} -->)`);
        if (!marked.test(readme)) throw new Error(`${file} has no marks for ${name}`);
        readme = readme.replace(marked, (_, begin, end) => `${begin}\n${text}\n${end}`);
    }
    replaceFile(file, readme);
}

/** Writes a file anew: whoever reads it meanwhile, or after a failure, has the old one or the new one. */
export function replaceFile(file, text) {
    writeFileSync(`${file}.new`, text, { flush: true });
    renameSync(`${file}.new`, file);
}
