// What the repository says of papers is what PAPERS.md says: one place for authors and titles.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const read = (file) => readFileSync(join(root, file), "utf8");

const papers = new Map();
for (const row of read("PAPERS.md").matchAll(
    /^\| (\d{4}\.\d{5}) \| (.+?) \| (\d{4}) \| (.+?) \|$/gm,
)) {
    const [, number, authors, year, title] = row;
    assert.ok(!papers.has(number), `${number} stands twice`);
    papers.set(number, { authors, year, title });
}

/** A file as running text: comments' stars and line ends are gone, and strings are whole again. */
const textOf = (file) =>
    read(file)
        .replaceAll(/"\s*\n\s*"/g, "")
        .replaceAll(/\s*\n\s*(?:\*|\/\/|#)?\s*/g, " ")
        .replaceAll('\\"', '"');

const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root })
    .toString()
    .trim()
    .split("\n")
    .filter((file) => /\.(?:c|h|cpp|js|mjs|ts|md|html|css|cmake|txt|json|sh)$/.test(file))
    .filter((file) => !/^PAPERS\.md$|^tests\/papers\.test\.mjs$|package-lock/.test(file));

const cited = files.flatMap((file) => {
    const text = textOf(file);
    return [...text.matchAll(/arXiv:(\d{4}\.\d{5})/gi)].map(({ 1: number, index }) => ({
        file,
        number,
        before: text.slice(Math.max(0, index - 260), index),
    }));
});

test("papers are cited by numbers that PAPERS.md has", () => {
    assert.ok(cited.length > 30);
    for (const { file, number } of cited) assert.ok(papers.has(number), `${file}: ${number}`);
    for (const number of papers.keys())
        if (!cited.some((one) => one.number === number)) {
            const { title } = papers.get(number);
            assert.ok(
                files.some((file) => textOf(file).includes(title)),
                `${number} is cited nowhere`,
            );
        }
});

/** `Authors, "Title", arXiv:` or a part of it, as it stands right before the number. */
const CITATION =
    /(?:(?<authors>\p{Lu}[\p{L}-]+(?:, \p{Lu}[\p{L}-]+| et al\.)+),? )?(?:"(?<title>[^"]+)",? )?\(?$/u;

test("authors and titles beside a number are the paper's", () => {
    let authors = 0;
    for (const { file, number, before } of cited) {
        const said = before.match(CITATION)?.groups ?? {};
        const paper = papers.get(number);
        const where = `${file}, arXiv:${number}`;
        const first = paper.authors.split(", ")[0];
        const known = [paper.authors, `${first} et al.`];
        if (said.authors) {
            assert.ok(known.includes(said.authors), `${where}: ${said.authors}`);
            authors++;
        }
        if (said.title && said.authors)
            assert.ok(paper.title.startsWith(said.title), `${where}: "${said.title}"`);
    }
    assert.ok(authors >= 5, `${authors} citations with authors`);
});
