// The table of the papers' statements: no statement is without a panel, a test or a reason, and no panel is about a
// statement that the papers do not have.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { it } from "node:test";

import { results } from "../../bench/labs/results.mjs";
import { panelsOf, paperOf, papers, statements } from "../../bench/labs/statements.mjs";
import { nativeOnly, succeed } from "./lab.mjs";

const root = new URL("../../", import.meta.url);
const read = (name) => readFileSync(new URL(name, root), "utf8");
const labs = () => JSON.parse(succeed(["list", "--json"]));
const all = papers.flatMap(({ arXiv, statements: of }) => of.map((each) => ({ arXiv, ...each })));
const nameOf = ({ arXiv, name }) => `${arXiv} ${name}`;

it("the table follows from the panels' declarations and their shipped runs", nativeOnly, () => {
    assert.equal(read("bench/labs/STATEMENTS.md"), statements(labs()));
});

it("each row of the table has its four cells, with every word in them", nativeOnly, () => {
    const rows = statements(labs())
        .split("\n")
        .filter((line) => line.startsWith("| ") && !line.startsWith("| statement |"))
        .map((line) => line.slice(2, -2).split(/(?<!\\) ?\| ?/));
    assert.equal(rows.length, all.length);
    for (const [i, [name, says, , note, ...more]] of rows.entries()) {
        assert.deepEqual(more, [], name);
        assert.equal(says.replaceAll("\\|", "|"), all[i].says, name);
        assert.equal(note.replaceAll("\\|", "|"), all[i].note ?? "", name);
    }
});

it("the table marks panels about what the library claims itself", nativeOnly, () => {
    const table = statements(labs());
    const marks = { time: true, memory: true, "grown-time": true, work: false };
    for (const [id, own] of Object.entries(marks))
        for (const [, mark] of table.matchAll(
            new RegExp(`\`complexity\` \`${id}\`: holds( \\(own\\))?`, "g"),
        ))
            assert.equal(mark !== undefined, own, id);
    assert.match(table, /`softmax-regression` `layer`: holds \(own\)/);
});

it("each statement has a panel, a test or a reason", nativeOnly, () => {
    const panels = panelsOf(labs());
    assert.equal(new Set(all.map(nameOf)).size, all.length);
    for (const statement of all) {
        const { test, why } = statement;
        const has = panels.has(nameOf(statement)) || test || why;
        assert.ok(has, `${nameOf(statement)} is nowhere`);
        assert.ok(!why || why.length > 10, nameOf(statement));
        if (!test) continue;
        const [file, name] = test.split(": ");
        assert.match(read(file), new RegExp(`cmocka_unit_test\\(${name}\\)`), nameOf(statement));
    }
});

it("panels are about statements that their paper has", nativeOnly, () => {
    const known = new Set(all.map(nameOf));
    for (const key of panelsOf(labs()).keys()) assert.ok(known.has(key), key);
    for (const { name, panels } of labs()) {
        assert.ok(paperOf[name], name);
        for (const { id, states, own, where } of panels)
            assert.ok((states || own) && where, `${name} ${id}`);
    }
});

it("the table of results is that of the shipped runs", () => {
    assert.equal(read("bench/labs/RESULTS.md"), results());
});

it("shipped runs are of panels as they are declared", nativeOnly, () => {
    const declared = new Map(
        labs().flatMap(({ name, panels }) => panels.map((panel) => [`${name}-${panel.id}`, panel])),
    );
    const folder = new URL("bench/labs/figures/", root);
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
        const { panel } = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
        const now = declared.get(file.replace(".json", ""));
        assert.ok(now, `${file} is of no panel`);
        for (const key of [
            "plain",
            "claim",
            "states",
            "where",
            "criterion",
            "ours",
            "own",
            "fixed",
        ])
            assert.deepEqual(panel[key], now[key], `${file}: ${key}`);
    }
});

it("a verdict is said in a few words", () => {
    const folder = new URL("bench/labs/figures/", root);
    for (const file of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
        const { sure, verdict } = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
        assert.ok(verdict && sure.length > 5 && sure.length <= 60, `${file}: ${sure}`);
        assert.doesNotMatch(sure, /[;.]/, file);
    }
});

it("the manual's numbers are those of the shipped runs", () => {
    const manual = read("bench/labs/README.md");
    const run = (name) => JSON.parse(read(`bench/labs/figures/${name}.json`)).points;
    const lis = run("reasoning-softmax").find(
        ({ task, n, d }) => task === "lis" && n === 10 && d === 64,
    );
    assert.ok(manual.includes(`(${(100 * lis.right).toFixed(1)}%)`));
    for (const { right, d, task, n } of run("reasoning-softmax"))
        if (d === 64 && !(task === "lis" && n === 10)) assert.ok(right >= 0.98, `${task} ${n}`);
    assert.ok(manual.includes(`Width ${run("programs-arithmetic")[0].width}`));
    const shares = (n, attention) =>
        ["ed_local", "ed"].map((task) => {
            const { right } = run("reasoning-figure-2").find(
                (of) => of.task === task && of.n === n && of.attention === attention && of.d === 64,
            );
            return Math.round(100 * right);
        });
    assert.match(manual, /71% and 34% of ED_LOCAL\s+right, 45% and 23% of ED;/);
    assert.deepEqual(
        [shares(4, "linear"), shares(4, "sparse")],
        [
            [71, 45],
            [34, 23],
        ],
    );
    assert.match(manual, /20% of ED_LOCAL right and 54% of ED, linear attention 19% and 17%/);
    assert.deepEqual(
        [shares(6, "sparse"), shares(6, "linear")],
        [
            [20, 54],
            [19, 17],
        ],
    );
    assert.ok(manual.includes(`${4 * 11 * 11 - 11} results`));
    assert.match(
        manual,
        /fail in 50%, 65% and 51% of the trials, where the\s+formula has 36%, 41% and 32%:/,
    );
    const few = [
        ["4c", 50, 36],
        ["4d", 65, 41],
        ["5e", 51, 32],
    ];
    for (const [id, trials, formula] of few) {
        const { found } = JSON.parse(read(`bench/labs/figures/separation-${id}.json`));
        assert.ok(found.startsWith(`Of these trials ${trials}% fail`), id);
        assert.ok(found.endsWith(`By formula ${formula}% fail.`), id);
    }
    for (const { length, linear, sparse } of run("programs-distance-width")) {
        const W = Math.ceil(Math.sqrt(length));
        assert.deepEqual([linear, sparse], [48 * W + 51, 47 * W + 47]);
    }
});
