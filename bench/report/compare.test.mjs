// Verdicts of two files of `attn bench`: what is the same decides nothing, and what is not is found.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { changeOf, compare, outside, textOf } from "./compare.mjs";

/** Numbers in [0, 1), always the same ones (mulberry32). */
function generator(seed) {
    return () => {
        seed = (seed + 0x6d2b79f5) | 0;
        let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
}

const median = (times) => times.toSorted((a, b) => a - b)[times.length >> 1];

/** A file of so many rows and rounds: noise of some percent, and in one round of five a burst of other load. */
function fileOf(random, { rows, rounds, factor = () => 1 }) {
    const noise = () => 1 + 0.04 * random() + (random() < 0.2 ? 3 * random() : 0);
    const times = Array.from({ length: rows }, (_, i) =>
        Array.from({ length: rounds }, () => (i + 1) * factor(i) * noise()),
    );
    return {
        host: "a machine",
        peak_gflops: 100,
        read_gbps: 10,
        rows: times.map((all, i) => ({
            backend: "softmax",
            n: i,
            ms: median(all),
            gflops: 50,
            percent_of_peak: 50,
            peak_of: "avx2 f32",
        })),
        rounds_ms: times,
    };
}

test("the interval is that of all ways in which numbers may lie", () => {
    // Of the 20 ways to interleave 3 and 3 numbers one has no pair the other way round: 5%.
    assert.equal(outside(3, 3, 0.1), 0);
    assert.ok(Number.isNaN(outside(3, 3, 0.09)));
    // Tables of the test: at 5%, two-sided, U of 5 and 5 is at most 2, of 8 and 8 at most 13, of 12 and 12 at most 37.
    for (const [size, critical] of [
        [5, 2],
        [8, 13],
        [12, 37],
    ])
        assert.equal(outside(size, size, 0.05), critical);
    assert.equal(outside(60, 40, 0.05), 921); // of many, too
    const { change, low, high } = changeOf([1, 2, 4], [8, 8, 8], 0.1);
    assert.deepEqual([change, low, high], [4, 2, 8]);
    assert.deepEqual(changeOf([1], [2], 0.05), { change: 2, low: 0, high: Infinity });
});

test("the same program twice: no row of any is resolved 95 times of 100", () => {
    const PAIRS = 400;
    const random = generator(1);
    let resolved = 0;
    for (let pair = 0; pair < PAIRS; pair++) {
        const [old, now] = [1, 2].map(() => fileOf(random, { rows: 10, rounds: 12 }));
        resolved += compare(old, now).rows.some(({ verdict }) => verdict !== "not resolved");
    }
    const deviation = Math.sqrt(PAIRS * 0.05 * 0.95);
    assert.ok(resolved <= 0.05 * PAIRS + 3 * deviation, `${resolved} of ${PAIRS}`);
});

test("what has changed is found, and nothing else", () => {
    const random = generator(2);
    const old = fileOf(random, { rows: 6, rounds: 20 });
    const factor = (i) => [1, 0.8, 1, 1.25, 1, 1][i];
    const { rows, alone } = compare(old, fileOf(random, { rows: 6, rounds: 20, factor }));
    assert.deepEqual(
        rows.map(({ verdict }) => verdict),
        ["not resolved", "faster", "not resolved", "slower", "not resolved", "not resolved"],
    );
    assert.ok(rows[1].low < 0.8 && rows[1].high > 0.8, "the interval has the change");
    assert.deepEqual(alone, []);
});

test("what the machine itself has changed by decides nothing", () => {
    const random = generator(3);
    const old = fileOf(random, { rows: 2, rounds: 12 });
    const slower = { rows: 2, rounds: 12, factor: () => 1.25 };
    const now = fileOf(random, slower);
    assert.deepEqual(
        compare(old, now).rows.map(({ verdict }) => verdict),
        ["slower", "slower"],
    );
    const verdicts = () => compare(old, now).rows.map(({ verdict }) => verdict);
    now.read_gbps = 10 / 1.5;
    assert.deepEqual(verdicts(), ["not resolved", "not resolved"]);
    now.read_gbps = 10;
    assert.deepEqual(verdicts(), ["slower", "slower"]);
    for (const row of now.rows) row.percent_of_peak = 50 * 1.5;
    assert.deepEqual(verdicts(), ["not resolved", "not resolved"]);
    for (const row of now.rows) row.peak_of = "avx512 f32";
    assert.deepEqual(verdicts(), ["slower", "slower"], "another instruction set");
});

test("rows of one file alone, and those without times, are counted", () => {
    const random = generator(4);
    const [old, now] = [3, 4].map((rows) => fileOf(random, { rows, rounds: 6 }));
    old.rounds_ms[0][2] = null;
    const compared = compare(old, now);
    assert.equal(compared.rows.length, 2);
    assert.equal(compared.alone.length, 2);
    assert.match(textOf(compared), /\n0 faster, 0 slower, 2 not resolved.*\n.*: 2 rows\.$/);
});

describe("refuses", () => {
    const script = join(import.meta.dirname, "compare.mjs");
    const whole = fileOf(generator(5), { rows: 1, rounds: 6 });
    for (const [what, document, says] of [
        ["another file", [1], /old\.json: is no file of attn bench --json/],
        ["no JSON", "{", /old\.json: .*JSON/],
        ["one round", { rows: [] }, /old\.json: has no rounds; measure with --rounds/],
        ["another machine", { ...whole, host: "b" }, /measured on two machines: b, and a machine/],
    ])
        test(what, () => {
            const folder = mkdtempSync(join(tmpdir(), "compare-"));
            const [old, now] = ["old.json", "new.json"].map((name) => join(folder, name));
            writeFileSync(old, typeof document === "string" ? document : JSON.stringify(document));
            writeFileSync(now, JSON.stringify(whole));
            const { status, stderr } = spawnSync(process.execPath, [script, old, now], {
                encoding: "utf8",
            });
            rmSync(folder, { recursive: true });
            assert.equal(status, 2);
            assert.match(stderr, says);
            assert.equal(stderr.trimEnd().split("\n").length, 1);
        });
});
