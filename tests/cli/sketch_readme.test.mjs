// What plugins/sketch/README.md says of sizes: each promise has one from the d on that its table has, and the least sizes
// are the lab's.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { attn, isWasi, withFiles } from "./command.mjs";
import { ints } from "./csr.mjs";
import { npy } from "./npy.mjs";

const root = join(import.meta.dirname, "..", "..");
const text = (path) => readFileSync(join(root, path), "utf8");

/** Cells of the table of a section, its head first. */
function tableOf(section) {
    const readme = text("plugins/sketch/README.md");
    const [, body] = readme.split(`\n## ${section}\n`);
    assert.ok(body, section);
    const [rows] = body.match(/^(?:\|.*\n)+/m);
    const cells = rows.trim().split("\n");
    return cells.filter((_, i) => i !== 1).map((row) => row.split("|").slice(1, -1));
}

const counts = (cell) => cell.match(/\d+/g).map(Number);

/** Rows of a figure: name of a column to its number, NaN where it is empty. */
function figure(name) {
    const [head, ...rows] = text(`bench/labs/figures/${name}.csv`).trim().split("\n");
    const names = head.split(",");
    return rows.map((row) => {
        const numbers = row.split(",").map((cell) => (cell === "" ? NaN : Number(cell)));
        return Object.fromEntries(names.map((name, i) => [name, numbers[i]]));
    });
}

test("the least sizes at both d differ by no more than is said", () => {
    const rows = figure("sparsification-least");
    const said = text("plugins/sketch/README.md").match(
        /beyond a factor of ([\d.]+) \(`srht`: ([\d.]+)\)/,
    );
    const most = (names) =>
        Math.max(
            ...rows.flatMap((row) =>
                names.map((name) => {
                    const ratio = row[name] / row[`${name}_narrow`];
                    return Math.max(ratio, 1 / ratio);
                }),
            ),
        );
    const others = ["gaussian", "ams", "osnap", "leverage", "approximate", "deterministic"];
    assert.equal(said[1], most([...others, "uniform"]).toFixed(1));
    assert.equal(said[2], most(["srht"]).toFixed(1));
    for (const { x: n, deterministic } of rows) assert.equal(deterministic, n + 1);
});

/** Rows with an element each, of their own feature where there are enough: of rank min(rows, d). */
function unitRows(rows, d) {
    return {
        "data.npy": npy([rows], new Array(rows).fill(0.1)),
        "indices.npy": ints(
            Array.from({ length: rows }, (_, i) => (i < rows - 1 ? i % d : d - 1)),
            "<i8",
        ),
        "indptr.npy": ints(
            Array.from({ length: rows + 1 }, (_, i) => i),
            "<i8",
        ),
        "v.npy": npy([rows, 1], new Array(rows).fill(1)),
    };
}

/** {size, guarantee} of a plan for a sparse X. */
function planOf(method, rows, d, eps) {
    return withFiles(unitRows(rows, d), (folder) => {
        const x = [
            "--x-data",
            "data.npy",
            "--x-indptr",
            "indptr.npy",
            "--x-indices",
            "indices.npy",
        ];
        const settings = [`method=${method}`, `eps=${eps}`, "delta=0.1"];
        const args = [...x, "--v", "v.npy", "-o", "o.npy", ...settings.map((s) => `--set=${s}`)];
        const { stdout, stderr } = attn(["run", "sketch", ...args], folder);
        assert.match(stdout, /^(?:sketch size|size, at most)/m, stderr);
        return {
            size: Number(stdout.match(/^(?:sketch size|size, at most) +(\d+)$/m)[1]),
            guarantee: stdout.match(/^guarantee +(.*)$/m)[1],
        };
    });
}

/** What the deterministic sparsifier asks for, and whether it keeps all features then. */
function sparsifierOf(rank, d, eps) {
    return withFiles(unitRows(rank, d), (folder) => {
        const x = ["data.npy", "--x-indptr", "indptr.npy", "--x-indices", "indices.npy"];
        const args = [...x, "--method", "deterministic", "--eps", `${eps}`, "--json"];
        const { stdout, stderr } = attn(["sketch", ...args], folder);
        assert.notEqual(stdout, "", stderr);
        const { asked, exact } = JSON.parse(stdout);
        return { asked, exact };
    });
}

describe("when sketching helps", () => {
    const [head, ...rows] = tableOf("When sketching helps");
    const bounds = head.slice(1).map((cell) => Number(cell.match(/= ([\d.]+)/)[1]));

    for (const [label, ...cells] of rows) {
        const methods = label.match(/`[a-z]{2,}`/g).filter((name) => name !== "`rank`");
        const [, sizes = "8"] = label.match(/(?:= |rank )([\d; ]+)/) ?? [];
        for (const name of methods) {
            const method = name.slice(1, -1);
            const check = method === "deterministic" ? checkSparsifier : checkPlan;
            test(`${method}: ${sizes.trim()}`, () => {
                counts(sizes).forEach((size, s) => {
                    bounds.forEach((eps, e) => check(method, size, counts(cells[e])[s], eps));
                });
            });
        }
    }

    function checkPlan(method, rows, d, eps) {
        if (isWasi && rows > 1024) return; // the same arithmetic, slowly
        const what = `${method}, ${rows} rows, eps ${eps}`;
        const below = planOf(method, rows, d - 1, eps);
        assert.equal(below.size, Math.floor((d - 1) / 2), what);
        const asks = `none: the bound asks for ${d - 1} of ${d - 1} features`;
        assert.equal(below.guarantee, asks, what);
        const there = planOf(method, rows, d, eps);
        assert.equal(there.size, d - 1, what);
        assert.match(there.guarantee, new RegExp(` ${eps} .*, with probability 0.9$`), what);
    }

    // What it asks for knows nothing of d: at d - 1 nothing has to be computed for it.
    function checkSparsifier(method, rank, d, eps) {
        const { asked, exact } = sparsifierOf(rank, d - 1, eps);
        assert.deepEqual({ asked, exact }, { asked: d - 1, exact: 1 }, `rank ${rank}, eps ${eps}`);
    }
});
