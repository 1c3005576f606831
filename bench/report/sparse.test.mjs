// Tables of sparse attention from results in which something failed: all else is in them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { peaksOf } from "../peers/measure/peaks.mjs";
import { resultsOf } from "../peers/results/results.mjs";
import { contenderOf, families } from "../peers/rows/rows.mjs";
import { sparseTables } from "./sparse.mjs";

const sparse = families.filter(({ id }) => id.startsWith("sparse-"));

/** All rows, measured: every contender takes a second, and those fail of which `fails(row, name)` says so. */
const measured = (fails) =>
    sparse.flatMap((family) =>
        family.rows.flatMap((row) => {
            const entries = row.names.map((name) => ({
                contender: contenderOf(name, row),
                about: "libattn 1.0, 1000000 pairs",
                error: 0,
                failure: fails(row.id, name) ? "ended by SIGKILL" : "",
                times: [1],
            }));
            const contenders = entries.map(({ contender }) => contender);
            const peaks = peaksOf(contenders, family).map((contender) => ({
                ...{ contender, about: "", failure: "", times: [0.01] },
            }));
            return JSON.parse(JSON.stringify(resultsOf({ family, row, entries, peaks })));
        }),
    );

const linesOf = (text) => text.split("\n").filter((line) => line.startsWith("| "));

test("nothing is said of failures where there are none", () => {
    const text = sparseTables(measured(() => false));
    assert.doesNotMatch(text, /Not timed|NaN|undefined/);
    assert.match(text, /\| Eq\. 6 \| 1000 \| 1000 \| 1\.00 \|/);
});

test("a contender that fails leaves its cells empty and is named, and all other rows are as they were", () => {
    const whole = linesOf(sparseTables(measured(() => false)));
    for (const family of sparse)
        for (const row of family.rows)
            for (const name of row.names) {
                const one = (id, contender) => id === row.id && contender === name;
                const text = sparseTables(measured(one));
                const failed = `${name}, ${row.label} in \`${family.id}\` (ended by SIGKILL)`;
                assert.ok(text.includes(`Not timed: ${failed}.`));
                assert.doesNotMatch(text, /NaN|undefined|Infinity/, `${row.id}: ${name}`);
                const gone = whole.filter((line) => !linesOf(text).includes(line));
                assert.ok(gone.length <= 1, `${row.id}: ${name}`);
            }
});

test("where all of a kind fail, the rest is a table", () => {
    for (const word of ["dense", "SparseAttention", "SIMD128", "1 thread", "libattn"]) {
        const text = sparseTables(measured((_, name) => name.includes(word)));
        assert.doesNotMatch(text, /NaN|undefined|Infinity| 0\.0+% /, word);
    }
});
