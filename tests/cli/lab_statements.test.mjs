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
