// Makes RESULTS.md: what the shipped run of each panel found.
//
//     node bench/labs/results.mjs > bench/labs/RESULTS.md

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("figures/", import.meta.url);

/* In the order of the manual. */
const LABS = [
    "separation",
    "softmax-regression",
    "sparsification",
    "constructions",
    "programs",
    "complexity",
    "reasoning",
];

const runs = () =>
    readdirSync(folder)
        .filter((name) => name.endsWith(".json"))
        .map((name) => JSON.parse(readFileSync(new URL(name, folder), "utf8")))
        .filter(({ panel, verdict }) => panel && verdict);

const cell = (text) => (text ?? "").replaceAll("|", "\\|").replaceAll(/\s+/g, " ").trim();

function row({ panel, verdict, found }) {
    const of = panel.own ? "own" : (panel.states ?? "");
    return `| \`${panel.id}\` | ${cell(`${panel.title}: ${panel.y.label}`)} | ${cell(of)} | ${cell(panel.plain)} | ${verdict} | ${cell(found)} |`;
}

const byId = ({ panel: a }, { panel: b }) => a.id.localeCompare(b.id, "en", { numeric: true });

/** The page's text. */
export function results() {
    const all = runs();
    const sections = LABS.map((lab) => {
        const rows = all.filter((run) => run.lab === lab).sort(byId);
        return `## ${lab}

| panel | draws | statement | in plain words | verdict | found |
|---|---|---|---|---|---|
${rows.map(row).join("\n")}
`;
    });
    return `# What the experiments found

Made by \`node bench/labs/results.mjs\` from the shipped runs in [figures](figures/). [README.md](README.md) defines the
experiments. \`own\` marks claims of the library; \`illustration\` marks figures that no statement covers.

${sections.join("\n")}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(results());
