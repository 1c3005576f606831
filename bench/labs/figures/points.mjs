// Gives a folder of `attn lab run reasoning` the cells that the figures here have, so that it goes on from them:
//
//     attn lab run reasoning --minutes 0 -o results
//     node bench/labs/figures/points.mjs results
//     attn lab run reasoning -o results
//
// They are of the build that wrote the folder's .points only as far as it gives the same bits.

import { appendFileSync, existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const here = new URL(".", import.meta.url);
const numbers = {
    task: ["lis", "ed", "ed_local", "arithmetic"], // enum reasoning_kind
    attention: ["softmax", "linear", "sparse"],
};
const folder = process.argv[2];
if (!folder || !existsSync(folder)) {
    console.error("usage: node points.mjs FOLDER");
    process.exit(2);
}

/** The lines of a .points for rows of a CSV that have results. */
function linesOf(csv) {
    const [names, ...rows] = csv.trimEnd().split("\n");
    const columns = names.split(",").slice(0, -1); // the last says what failed
    const first = Math.max(1, columns.indexOf("right"));
    return rows.flatMap((row, index) => {
        const cells = row.split(",").slice(0, columns.length);
        if (cells.slice(first).every((cell) => cell === "")) return [];
        const values = cells.map((cell, i) => {
            const number = numbers[columns[i]]?.indexOf(cell) ?? cell;
            return number === "" ? "nan" : number;
        });
        return [`${index} ${values.join(" ")}\n`];
    });
}

/** The first setting of a figure that a .points does not have. */
function otherSetting({ parameters, seed }, header) {
    const lines = Object.entries(parameters).map(([name, value]) => `set ${name}=${value}`);
    return [`seed=${seed}`, ...lines].find((line) => !header.includes(line));
}

for (const file of readdirSync(here).filter((name) => /^reasoning-.*\.csv$/.test(name))) {
    const points = join(folder, file.replace("csv", "points"));
    if (!existsSync(points)) continue;
    const [header, kept] = readFileSync(points, "utf8").split("\n\n");
    const figure = JSON.parse(readFileSync(new URL(file.replace("csv", "json"), here), "utf8"));
    const other = otherSetting(figure, header.split("\n"));
    const known = new Set(kept.split("\n").map((line) => line.split(" ")[0]));
    const lines = linesOf(readFileSync(new URL(file, here), "utf8"));
    const added = other ? [] : lines.filter((line) => !known.has(line.split(" ")[0]));
    appendFileSync(points, added.join(""));
    const what = other ? `left alone, as the figure is of ${other}` : `${added.length} points`;
    console.log(`${points}: ${what}`);
}
