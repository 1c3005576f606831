// Gives a folder of `attn lab run reasoning` the cells that the figures here have, so that it goes on from them:
//
//     attn lab run reasoning --minutes 0 -o results
//     node bench/labs/figures/points.mjs results
//     attn lab run reasoning -o results
//
// They are of the build that wrote the folder's .points only as far as it gives the same bits.

import {
    chmodSync,
    readFileSync,
    readdirSync,
    realpathSync,
    renameSync,
    rmSync,
    statSync,
    writeFileSync,
} from "node:fs";
import { join } from "node:path";

const here = new URL(".", import.meta.url);
const numbers = {
    task: ["lis", "ed", "ed_local", "arithmetic"], // enum reasoning_kind
    attention: ["softmax", "linear", "sparse"],
};

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

/** A .points: its settings and points. A last line without its end was cut off while it was written: it is none. */
function readPoints(path) {
    if (!statSync(path).isFile()) throw new Error("is no regular file"); // a pipe would be waited for
    const text = readFileSync(path, "utf8");
    const end = text.indexOf("\n\n") + 2;
    if (!text.startsWith("attn lab points 1\n") || end < 2)
        throw new Error("is no file of points, or its head is damaged");
    const lines = text.slice(end, text.lastIndexOf("\n") + 1).match(/.*\n/g) ?? [];
    const foreign = lines.find((line) => !/^\d+ /.test(line));
    if (foreign) throw new Error(`'${foreign.trimEnd().slice(0, 40)}' is no point`);
    return { head: text.slice(0, end), lines };
}

/** All of it or nothing: beside its place, which it then takes. */
function writePoints(path, text) {
    const place = realpathSync(path);
    const beside = `${place}.${process.pid}`;
    try {
        writeFileSync(beside, text, { flag: "wx" });
        chmodSync(beside, statSync(place).mode);
        renameSync(beside, place);
    } catch (error) {
        rmSync(beside, { force: true });
        throw error;
    }
}

/** The first setting of a figure that a .points does not have. */
function otherSetting({ parameters, seed }, head) {
    const lines = Object.entries(parameters).map(([name, value]) => `set ${name}=${value}`);
    return [`seed=${seed}`, ...lines].find((line) => !head.split("\n").includes(line));
}

/** Gives a .points the points that the figure of that name (*.csv, *.json) has and it has not. What was done. */
function give(path, name) {
    const { head, lines } = readPoints(path);
    const figure = JSON.parse(readFileSync(new URL(`${name}.json`, here), "utf8"));
    const other = otherSetting(figure, head);
    if (other) return `left alone, as the figure is of ${other}`;
    const indexOf = (line) => line.split(" ")[0];
    const known = new Set(lines.map(indexOf));
    const all = linesOf(readFileSync(new URL(`${name}.csv`, here), "utf8"));
    const added = all.filter((line) => !known.has(indexOf(line)));
    if (added.length) writePoints(path, head + [...lines, ...added].join(""));
    return `${added.length} points`;
}

function main([folder, ...more]) {
    if (!folder || more.length) throw new Error("usage: node points.mjs FOLDER");
    const names = readdirSync(here)
        .filter((name) => /^reasoning-.*\.csv$/.test(name))
        .map((name) => name.slice(0, -".csv".length));
    const there = readdirSync(folder).filter((file) => names.some((n) => file === `${n}.points`));
    if (!there.length)
        throw new Error(`${folder}: has no points of a figure here; first: attn lab run reasoning`);
    for (const file of there) {
        const path = join(folder, file);
        try {
            console.log(`${path}: ${give(path, file.slice(0, -".points".length))}`);
        } catch (error) {
            console.error(`${path}: ${error.message}`);
            process.exitCode = 1;
        }
    }
}

try {
    main(process.argv.slice(2));
} catch (error) {
    console.error(error.message);
    process.exitCode = 2;
}
