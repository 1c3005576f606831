// Makes STATEMENTS.md: all theorems, lemmas, figures and algorithms of the four papers, and where each is: the panels
// that declare to be about it, with their verdicts, a test, or why there is none.
//
//     node bench/labs/statements.mjs build/attn > bench/labs/STATEMENTS.md

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Which paper a lab's statements are of. */
export const paperOf = {
    separation: "2310.11685",
    "softmax-regression": "2304.13276",
    sparsification: "2304.04397",
    constructions: "2402.13934",
    programs: "2402.13934",
    complexity: "2402.13934",
    reasoning: "2402.13934",
};

const read = (name) => readFileSync(new URL(name, import.meta.url), "utf8");

/** The papers' statements, as statements.json lists them. */
export const papers = JSON.parse(read("statements.json"));

/** Panels by the paper and the names of the statements that they are about. */
export function panelsOf(labs) {
    const found = new Map();
    for (const { name: lab, panels } of labs)
        for (const { id, states, own } of panels)
            for (const statement of states?.split("; ") ?? []) {
                const key = `${paperOf[lab]} ${statement}`;
                found.set(key, [...(found.get(key) ?? []), { lab, id, own }]);
            }
    return found;
}

/** `holds` or what else the shipped run of a panel says; "" where none is shipped. */
function verdictOf(lab, id) {
    try {
        return JSON.parse(read(`figures/${lab}-${id}.json`)).verdict;
    } catch (error) {
        if (error.code === "ENOENT") return "not shipped";
        throw error;
    }
}

function where({ test, why }, panels) {
    const runs = panels.map(
        ({ lab, id, own }) => `\`${lab}\` \`${id}\`: ${verdictOf(lab, id)}${own ? " (own)" : ""}`,
    );
    return [...runs, ...(test ? [`\`${test}\``] : []), ...(why ? [why] : [])].join("; ");
}

/** A cell of a table, in which a bar would end it. */
const cell = (text) => (text ?? "").replaceAll("|", "\\|");

function section({ arXiv, statements }, panels) {
    const rows = statements.map((statement) => {
        const { name, says, note } = statement;
        const of = panels.get(`${arXiv} ${name}`) ?? [];
        return `| ${[name, says, where(statement, of), note].map(cell).join(" | ")} |`;
    });
    return `## arXiv:${arXiv}

| statement | says | where | note |
|---|---|---|---|
${rows.join("\n")}
`;
}

/** The whole file. */
export function statements(labs) {
    const panels = panelsOf(labs);
    return `# Statements of the papers, and where each is

Made by \`node bench/labs/statements.mjs build/attn\` from the panels' declarations, their shipped runs and
[statements.json](statements.json). Panels are those of [README.md](README.md); a test is a file and its case.
\`(own)\` marks what the library claims beside the statement: that verdict is not the paper's. Definitions and
assumptions are left out.

${papers.map((paper) => section(paper, panels)).join("\n")}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const [attn] = process.argv.slice(2);
    if (!attn) throw new Error("usage: node statements.mjs ATTN");
    const options = { encoding: "utf8", maxBuffer: 2 ** 26 };
    const labs = JSON.parse(execFileSync(attn, ["lab", "list", "--json"], options));
    process.stdout.write(statements(labs));
}
