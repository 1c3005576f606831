// RESULTS.md is what the generator makes of the runs in bench/results; how runs are named, chosen and told.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { families } from "../peers/rows/rows.mjs";
import { bar, withFigure } from "./figure.mjs";
import { kindOf } from "./machine.mjs";
import { pageOf } from "./page.mjs";
import { refusalOf, wholeFamilies } from "./record.mjs";
import { readRuns, writeRun } from "./runs.mjs";
import { sketchTables } from "./sketch.mjs";
import { topics } from "./topics.mjs";

const pageFile = join(import.meta.dirname, "..", "RESULTS.md");

test("RESULTS.md is what the generator makes of bench/results", () => {
    assert.equal(readFileSync(pageFile, "utf8"), pageOf(readRuns()), "node bench/report/page.mjs");
});

test("each run has its machine and date in its name, and names only families and topics there are", () => {
    const ids = new Set(families.map(({ id }) => id));
    const topicIds = new Set([...topics.map(({ id }) => id), "archive"]);
    const runs = readRuns();
    assert.ok(runs.length > 0);
    for (const { file, machine, date, results, tables } of runs) {
        assert.match(date, /^\d{4}-\d\d-\d\d$/);
        assert.match(file, new RegExp(`^${machine.kind}-${date}(-[2-9]\\d*)?\\.json$`));
        for (const { family } of results) assert.ok(ids.has(family), `${file}: ${family}`);
        for (const { topic, columns, rows } of tables) {
            assert.ok(topicIds.has(topic), `${file}: ${topic}`);
            for (const row of rows) assert.equal(row.length, columns.length, `${file}: ${row[0]}`);
        }
    }
});

test("every family of rows belongs to one topic", () => {
    const all = topics.flatMap((topic) => topic.families);
    assert.deepEqual(all.toSorted(), families.map(({ id }) => id).toSorted());
});

const machine = { kind: "m", name: "M", cpus: 2, system: "s" };
const [
    {
        rows: [row],
    },
] = families;
const result = (contender, ms, more) => ({
    ...{ family: "full", row: row.id, work: row.label, contender, ...row.task },
    ...{
        ms,
        gflops: 1 / ms,
        percent_of_peak: 50,
        peak: 100,
        error: 1e-7,
        about: `${contender} 1.0`,
    },
    ...more,
});
const run = (date, results, tables = []) => ({ machine, date, commit: date, results, tables });

test("the page has the newest run of a machine, and lists the rows that lose", () => {
    const old = run("2026-01-01", [result("libattn", 10), result("oneDNN", 5)]);
    const newer = run("2026-01-02", [result("libattn", 8), result("oneDNN", 9)]);
    const loses = pageOf([old]);
    assert.match(loses, /\| M \| `full` \| .* \| 10\.0 \| oneDNN 1\.0 \| 0\.500 \|/);
    const wins = pageOf([old, newer]);
    assert.match(wins, /a peer is faster\n\nNone\.\n/);
    assert.ok(wins.includes("2026-01-02") && !wins.includes("2026-01-01"));
});

test("of tables the newest of each title is told, with numbers as their columns ask", () => {
    const table = (rows) => ({
        ...{ topic: "sketch", title: "T", columns: ["work", "ms", "share, %", "error"], rows },
    });
    const page = pageOf([
        run("2026-01-01", [], [table([["old", 1, 2, 3]])]),
        run(
            "2026-01-02",
            [],
            [
                table([
                    ["new", 1234.5, 45.6, 1.23e-7],
                    ["none", null, null, null],
                ]),
            ],
        ),
    ]);
    assert.ok(page.includes("| work | ms | share | error |"));
    assert.ok(page.includes("| new | 1235 | 46% | 1.2e-7 |\n| none |  |  |  |"));
    assert.ok(!page.includes("| old |"));
});

test("a table with a figure gets bars, and times beside the straight line of each group", () => {
    const table = {
        ...{ topic: "decode", title: "T", columns: ["sizes", "heads", "ms"] },
        figure: { x: "heads", y: "ms", by: "sizes" },
        rows: [
            ["a", "1", 1],
            ["a", "2", 3],
            ["a", "3", 3],
            ["b", "8", 5],
        ],
    };
    assert.deepEqual(
        withFigure(table).rows.map((row) => row.at(-1)),
        [1, 1.5, 1, 1],
    );
    const page = pageOf([run("2026-01-01", [], [table])]);
    assert.ok(page.includes("| sizes | heads | ms |  | times the straight line |"));
    assert.ok(page.includes(`| a | 1 | 1.00 | ${"█".repeat(10)} | 1.00 |`));
    assert.ok(page.includes(`| a | 2 | 3.00 | ${"█".repeat(30)} | 1.50 |`));
    assert.equal(withFigure({ rows: [] }).rows.length, 0);
    assert.equal(bar(1 / 240), "▏");
    assert.equal(bar(0), "");
});

test("a run is written to a file of its own and read back in order", () => {
    const folder = mkdtempSync(join(tmpdir(), "attn-runs-"));
    try {
        const first = run("2026-01-02", [result("libattn", 10, { failure: "", peak: NaN })]);
        const table = { topic: "sketch", title: "T", columns: ["a", "b"], rows: [["x", 1]] };
        for (let i = 0; i < 11; i++) writeRun(i ? run("2026-01-02", [], [table]) : first, folder);
        writeRun(run("2026-01-01", []), folder);
        assert.ok(readdirSync(folder).includes("m-2026-01-02-11.json"));
        const runs = readRuns(folder);
        assert.deepEqual(
            runs.map(({ file }) => file),
            [
                "m-2026-01-01.json",
                "m-2026-01-02.json",
                ...Array.from({ length: 10 }, (_, i) => `m-2026-01-02-${i + 2}.json`),
            ],
        );
        const { failure, peak, ms } = runs[1].results[0];
        assert.deepEqual([failure, peak, ms], [undefined, undefined, 10]);
        assert.deepEqual(runs[2].tables, [table]);
    } finally {
        rmSync(folder, { recursive: true });
    }
});

test("only whole families of a commit beside peers are recorded", () => {
    const [full, causal] = families;
    const all = [...full.rows, causal.rows[0]].map(({ id }, i) => ({
        row: id,
        family: i < full.rows.length ? "full" : "causal",
    }));
    const whole = wholeFamilies(all);
    assert.deepEqual([...new Set(whole.map(({ family }) => family))], ["full"]);
    assert.equal(refusalOf("abc1234", ["--quick", "full"], whole), "");
    assert.match(refusalOf("abc1234-dirty", [], whole), /no commit/);
    assert.match(refusalOf("abc1234", ["--own"], whole), /peers/);
    assert.match(refusalOf("abc1234", ["--against=HEAD~1"], whole), /two commits/);
    assert.match(refusalOf("abc1234", [], []), /whole/);
});

test("the kind of a machine comes from its family and model numbers, else from its name", () => {
    const cpuinfo = (vendor, family, model) =>
        `vendor_id\t: ${vendor}\ncpu family\t: ${family}\nmodel\t\t: ${model}\nmodel name\t: x\n`;
    const amd = (family, model) => kindOf(cpuinfo("AuthenticAMD", family, model), "AMD EPYC");
    assert.deepEqual(amd(25, 1), { kind: "zen3", name: "Zen 3, AMD EPYC" });
    assert.equal(amd(25, 0x11).kind, "zen4");
    assert.equal(amd(25, 0xa0).kind, "zen4");
    assert.equal(amd(26, 2).kind, "zen5");
    assert.equal(kindOf(cpuinfo("GenuineIntel", 6, 0xcf), "Xeon").kind, "emerald-rapids");
    assert.deepEqual(kindOf("", "Apple M2 (R)"), { kind: "apple-m2", name: "Apple M2 (R)" });
    assert.equal(kindOf(cpuinfo("AuthenticAMD", 99, 1), "").kind, "unknown");
});

test("what attn_sketch_rows prints becomes tables with numbers", () => {
    const { tables } = sketchTables(
        "algebra by x: y\n\n| work | time | asked | beside |\n|---|---|---|---|\n" +
            "| a | 1.5 ms | 2.2 ms: reached | z |\n| b | 1.5e+03 ms | 1e+03 ms: missed |  |\n| c | 7 ms |  |  |\n" +
            "\nNumPy 1\n\n| work | time |\n|---|---|\n| d | 25.4 ms |\n",
    );
    assert.deepEqual(tables[0].rows, [
        ["a", 1.5, 2.2, "yes", "z"],
        ["b", 1500, 1000, "missed", ""],
        ["c", 7, null, "", ""],
    ]);
    assert.deepEqual([tables[0].note, tables[1].note], ["algebra by x: y", "NumPy 1"]);
    assert.deepEqual(tables[1].rows, [["d", 25.4]]);
});
