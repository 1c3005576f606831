// Writes REFERENCE.md of each package: every function, option and result, from its types in js/*.d.ts.
//
// usage: node reference.mjs

import { readFileSync, writeFileSync } from "node:fs";
import ts from "typescript";

/* By the package's folder, and the name that is imported: its types, and theirs that it hands on. */
const LIBATTN = {
    libattn: ["index", "problem", "arrays", "plan", "gradients", "stream", "backends"],
    "libattn/worker": ["worker"],
    "libattn/native": ["native"],
    "libattn/softmax": ["softmax"],
    "libattn/inline": ["inline"],
    "libattn/data": ["data"],
    "libattn/view": ["view"],
    "libattn/view/words": ["view-words"],
};
const LABS = {
    "libattn-labs": ["labs"],
    "libattn-labs/models": ["models"],
    "libattn-labs/training": ["training"],
};
const PACKAGES = { ".": LIBATTN, labs: LABS };

const fileOf = (folder, name) => new URL(`${folder}/${name}`, import.meta.url);

const head = ([[first]]) => `# Reference

Every function, option and result, from the types in [\`js/\`](./js/${first}.d.ts), by \`node reference.mjs\`.
A name with \`?\` may be left out.
`;

/** The text of REFERENCE.md, by the package's folder. */
export function references() {
    return Object.entries(PACKAGES).map(([folder, entries]) => {
        const sections = Object.entries(entries).map(([entry, files]) => {
            const described = files.map((name) => describeFile(folder, name));
            return `\n## ${entry}\n${described.join("")}`;
        });
        return [fileOf(folder, "REFERENCE.md"), head(Object.values(entries)) + sections.join("")];
    });
}

function describeFile(folder, name) {
    const path = `js/${name}.d.ts`;
    const text = readFileSync(fileOf(folder, path), "utf8");
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
    return [overview(file), ...described(file.statements.filter(isOffered))].join("");
}

function described(nodes) {
    return gather(nodes)
        .toSorted((a, b) => rank(a) - rank(b))
        .map(describe);
}

/** What stands above a file's imports: about the entry as a whole. */
function overview(file) {
    const first = file.statements[0];
    if (!first || !(ts.isImportDeclaration(first) || ts.isExportDeclaration(first))) return "";
    const text = docOf(first);
    return text && `\n${text}\n`;
}

/* Also what those are made of that have names. */
const isOffered = (node) => node.name !== undefined;

/** Overloads stand one after the other, as one. */
function gather(nodes) {
    const groups = new Map();
    for (const node of nodes) {
        const name = node.name.getText();
        groups.set(name, [...(groups.get(name) ?? []), node]);
    }
    return [...groups.values()];
}

/* What one calls comes first. */
const rank = ([node]) => (ts.isFunctionDeclaration(node) ? 0 : 1);

function describe(nodes) {
    const [first] = nodes;
    const name = first.name.getText();
    const doc = nodes.map(docOf).filter(Boolean).join("\n\n");
    const head = `\n### ${ts.isFunctionDeclaration(first) ? `${name}()` : name}\n`;
    const members = first.members ? gatherMembers(first) : [];
    const code = members.length > 0 ? heritage(first) : fenced(nodes);
    return [head, code, doc && `\n${doc}\n`, members.length > 0 && `\n${members.join("\n")}\n`]
        .filter(Boolean)
        .join("");
}

function fenced(nodes) {
    const lines = nodes.map((node) =>
        node
            .getText()
            .replace(/^export (declare )?/, "")
            .replace(/\/\*\*.*?\*\/\s*/gs, ""),
    );
    return `\n\`\`\`ts\n${lines.join("\n")}\n\`\`\`\n`;
}

function heritage(node) {
    const text = (node.heritageClauses ?? []).map((clause) => clause.getText()).join(" ");
    return text && `\n\`${text.replace(/\s+/g, " ")}\`\n`;
}

function gatherMembers(node) {
    const members = node.members.filter(({ name }) => name && !ts.isComputedPropertyName(name));
    return gather(members).map((nodes) => {
        const signatures = nodes.map((member) => `\`${signature(member)}\``).join("<br>\n  ");
        const doc = nodes.map(docOf).filter(Boolean).join(" ");
        return `- ${signatures}${doc && `<br>\n  ${doc.replace(/\n+/g, "\n  ")}`}`;
    });
}

/** A member's text in one line; that an option may be undefined is said by its question mark. */
function signature(member) {
    return member
        .getText()
        .replace(/\/\*\*.*?\*\//gs, "")
        .replace(/\s+/g, " ")
        .replace(/\( /g, "(")
        .replace(/,? \)/g, ")")
        .replace(/;$/, "")
        .replace(/^readonly /, "")
        .replace(/ \| undefined$/, "")
        .replace(/^([\w$]+\?: .*?) \| undefined \| null$/, "$1 | null");
}

/** The comment above a node, with its @param and @returns as sentences. */
function docOf(node) {
    return ts
        .getJSDocCommentsAndTags(node)
        .filter(ts.isJSDoc)
        .map((comment) => {
            const tags = (comment.tags ?? []).map((tag) => {
                const word = tag.tagName.text;
                const name = tag.name
                    ? `\`${tag.name.getText()}\``
                    : word[0].toUpperCase() + word.slice(1);
                return `${name}: ${plain(ts.getTextOfJSDocComment(tag.comment))}`;
            });
            return [plain(ts.getTextOfJSDocComment(comment.comment)), ...tags]
                .filter(Boolean)
                .join("\n\n");
        })
        .join("\n\n");
}

const plain = (text = "") => text.replace(/\{@link (?:full\.)?([\w.]+)\}/g, "`$1`").trim();

if (process.argv[1] === new URL(import.meta.url).pathname) {
    for (const [file, text] of references()) writeFileSync(file, text);
}
