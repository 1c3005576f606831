/** Words of pages stand in tables: none is left in their HTML, nor in their programs. */

import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { test } from "node:test";
import ts from "typescript";
import { fileOf, pages } from "../../pages.js";

const read = (path) => readFile(new URL(`../../${path}`, import.meta.url), "utf8");

test("pages' HTML has no words of its own", async () => {
    for (const { name } of pages) {
        const html = (await read(fileOf(name))).replace(notWords, "");
        const texts = html.match(/(?<=>)[^<]+/g).map((text) => text.trim());
        const spoken =
            /\b(?:alt|aria-(?:label|roledescription|valuetext)|placeholder|title)="([^"]*)"/g;
        const attributes = [...html.matchAll(spoken)].map(([, text]) => text);
        const left = [...texts, ...attributes].filter((text) => /\p{L}{3}/u.test(text));
        assert.deepEqual(
            left.filter((text) => !names.test(text)),
            [],
            name,
        );
    }
});

/** Comments, code, and places for words. */
const notWords = /<!--.*?-->|<code>.*?<\/code>|\{\{\w+\}\}/gs;

/** Files, formats and what a reader does not read as words. */
const names = /^(libattn|\.\w+|-?\d.*)$/;

/** Of selectors, of what only a programmer reads, and of commands. */
const ofMachines = /^(find|querySelector|querySelectorAll|closest|matches|Error)$/;
const command = /^(attn | --)/;
const data = /^(ab ac|abc acd|Infinity)$/;
/** Columns of files that are saved have one name in all languages. */
const columns = /^(query token|key token|percent right)$/;

/** A sentence, or a word that begins one. */
const isSpoken = (text) =>
    /\p{L}{2,} \p{L}{2,}|^\p{Lu}\p{Ll}+$/u.test(text) &&
    ![command, data, columns].some((other) => other.test(text));

function spokenIn(node) {
    if (ts.isImportDeclaration(node)) return [];
    if (ts.isPropertyAssignment(node) && node.name.text === "className") return [];
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) {
        const { name, text } = node.expression;
        if (ofMachines.test(name?.text ?? text ?? "")) return [];
    }
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateMiddleOrTemplateTail(node);
    const own = isText || ts.isTemplateHead(node) ? [node.text].filter(isSpoken) : [];
    const below = [];
    ts.forEachChild(node, (child) => {
        below.push(...spokenIn(child));
    });
    return [...own, ...below];
}

for (const folder of ["labs", "story", "thinking", "training"]) {
    test(`programs in src/${folder} have no words of their own`, async () => {
        const files = await readdir(new URL(`../../src/${folder}/`, import.meta.url));
        for (const file of files.filter((name) => name.endsWith(".ts"))) {
            const source = await read(`src/${folder}/${file}`);
            const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest);
            assert.deepEqual(spokenIn(tree), [], file);
        }
    });
}
