/* libattn-labs: what is declared, runs in workers, wrong input, and the numbers of `attn lab`. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { AttnError, lab, labs } from "libattn-labs";
import { patience } from "../../test/patience.mjs";

const run = promisify(execFile);
const small = ["separation", { trials: 10 }, { panel: "7b", seed: 7 }];
const withOptions = (options) => [small[0], small[1], { ...small[2], ...options }];

test("six experiments are declared, with all that a page needs", async () => {
    const all = await labs();
    assert.deepEqual(
        all.map(({ name }) => name),
        [
            "separation",
            "softmax-regression",
            "sparsification",
            "constructions",
            "programs",
            "complexity",
        ],
    );
    for (const { params, panels, summary, reference } of all) {
        assert.ok(panels.length > 0 && summary.length > 20 && reference.length > 5);
        assert.equal(new Set(params.map(({ name }) => name)).size, params.length);
        for (const { id, grid, columns, x_param, fixed, x, y, claim, criterion } of panels) {
            assert.ok(claim.endsWith(".") && criterion.endsWith("."), id);
            assert.ok(grid.length > 1 && grid.every(Number.isFinite), id);
            assert.equal(columns[0].name, "x");
            assert.ok(
                columns.some(({ mark }) => mark === "line" || mark === "points"),
                id,
            );
            assert.ok(x.label && y.label);
            for (const name of [x_param, ...Object.keys(fixed)].filter((name) => name !== null)) {
                assert.ok(
                    params.some((param) => param.name === name),
                    name,
                );
            }
        }
    }
});

test("a run has a row for each point, and says how far it is", async () => {
    const { panels } = (await labs())[0];
    const { grid, columns } = panels.find(({ id }) => id === "7b");
    const seen = [];
    const result = await lab(...withOptions({ onProgress: (progress) => seen.push(progress) }));
    assert.deepEqual(
        result.rows.map(([x]) => x),
        grid,
    );
    assert.deepEqual(
        result.columns,
        columns.map(({ name }) => name),
    );
    assert.equal(result.params.trials, 10);
    assert.equal(result.params.d, undefined, "d is the axis");
    assert.equal(result.seed, 7);
    assert.match(result.note, /\w+ trials/);
    assert.equal(result.verdict, "illustration"); // as the paper draws it
    assert.match(result.sure, /^0 of 10 points are within the premises$/);
    assert.deepEqual(
        result.within,
        grid.map(() => false), // 9 columns of signs are too few
    );
    assert.match(result.found, /of these trials \d+(?:\.\d+)?% fail/i);
    assert.deepEqual(
        seen.map(({ done }) => done),
        grid.map((_, i) => i + 1),
    );
    for (const { index, row, total, fraction, secondsLeft } of seen) {
        assert.deepEqual(row, result.rows[index]);
        assert.equal(total, grid.length);
        assert.ok(fraction > 0 && fraction <= 1 && secondsLeft >= 0);
    }
    assert.equal(seen.at(-1).fraction, 1);
    assert.equal(seen.at(-1).secondsLeft, 0);
});

test("workers, the order and the other points make no difference; the seed does", async () => {
    const { rows } = await lab(...small);
    assert.deepEqual((await lab(...withOptions({ workers: 3 }))).rows, rows);
    const some = await lab(...withOptions({ xs: [26, 5, 9] }));
    assert.deepEqual(
        some.rows,
        [26, 5, 9].map((x) => rows.find((row) => row[0] === x)),
    );
    const marked = await lab(
        "separation",
        { trials: 1 },
        { panel: "7d-inside", xs: [2, 0.5, 1.2, 1] },
    );
    assert.deepEqual(marked.within, [true, false, true, false]);
    const other = await lab(...withOptions({ seed: 2n ** 64n - 1n }));
    assert.notDeepEqual(other.rows, rows);
});

test("a signal stops a run at once, and keeps what had come", { timeout: patience }, async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    let points = 0;
    const long = lab(
        "separation",
        { trials: 3000 },
        {
            ...{ panel: "4a", xs: [200, 100_000], workers: 2, signal: controller.signal },
            onProgress: () => {
                points++;
                controller.abort(reason);
            },
        },
    );
    await assert.rejects(long, reason);
    assert.equal(points, 1);
    await assert.rejects(lab(...withOptions({ signal: controller.signal })), reason);
});

test("an error of onProgress ends the run", async () => {
    const onProgress = () => {
        throw new RangeError("mine");
    };
    await assert.rejects(lab(...withOptions({ onProgress, workers: 2 })), /mine/);
});

const wrong = [
    [["nothing"], "NOT_FOUND", /no experiment 'nothing' \(there are separation, /],
    [["separation", {}, { panel: "9z" }], "NOT_FOUND", /no panel '9z' \(there are 3a, 3b, /],
    [["separation", { nonsense: 1 }], "NOT_FOUND", /no parameter 'nonsense'/],
    [["separation", { trials: -1 }], "RANGE", /'trials': -1 is outside 1 to /],
    [["separation", { trials: 1.5 }], "ARGUMENT", /'trials': 1.5 is not a whole number/],
    [["separation", { trials: "many" }], "ARGUMENT", /'trials': 'many' is not a number/],
    [["separation", { trials: NaN }], "ARGUMENT", /'trials': 'NaN' is not a number/],
    [["separation", { n: 200 }, { panel: "3a" }], "ARGUMENT", /'n' is the axis/],
    [["separation", { d: 2 }, { panel: "4d" }], "RANGE", /'d'.* 3 or more, not 2/],
    [["separation", {}, { panel: "3a", xs: [200, 0] }], "RANGE", /'n': 0 is outside/],
    [["separation", {}, { xs: [] }], "RANGE", /xs has no points/],
    [["separation", {}, { seed: -1 }], "RANGE", /seed: -1/],
    [["separation", {}, { seed: 2n ** 64n }], "RANGE", /seed: 18446744073709551616/],
    [["separation", {}, { workers: 0 }], "RANGE", /workers: 0/],
];
for (const [input, code, words] of wrong) {
    test(`refused: ${String(words)}`, async () => {
        await assert.rejects(lab(...input), (error) => {
            assert.ok(error instanceof AttnError, String(error));
            assert.equal(error.code, `ATTN_ERROR_${code}`);
            assert.match(error.message, words);
            assert.doesNotMatch(error.message, /\n/);
            return true;
        });
    });
}

const noValues = [
    [[7], /name must be a string/],
    [["separation", 7], /params must be a plain object/],
    [["separation", new Map([["trials", 3]])], /params must be a plain object/],
    [["separation", { trials: {} }], /"trials" must be a string, not an object/],
    [["separation", { "a\nb": {} }], /parameter "a b" must be a string/],
    [["separation", {}, 7], /lab must be a plain object/],
    [["separation", {}, { pannel: "3b" }], /unknown "pannel"/],
    [["separation", {}, { seed: 1.5 }], /seed must be an integer/],
    [["separation", {}, { xs: ["a"] }], /a point of xs must be a finite number/],
    [["separation", {}, { signal: {} }], /AbortSignal/],
    [["separation", {}, { onProgress: 1 }], /onProgress/],
];
for (const [input, words] of noValues) {
    test(`no value: ${String(words)}`, () =>
        assert.rejects(lab(...input), { name: "TypeError", message: words }));
}

test("a process ends by itself", async () => {
    const code = `
        import { lab } from "libattn-labs";
        const { rows } = await lab("separation", { trials: 1 }, { panel: "7b", workers: 2 });
        await lab("separation", { trials: 0 }).catch((error) => console.log(rows.length, error.code));`;
    const node = ["--input-type=module", "--eval", code];
    const folder = fileURLToPath(new URL("../..", import.meta.url));
    const { stdout } = await run(process.execPath, node, { cwd: folder, timeout: patience });
    assert.equal(stdout, "10 ATTN_ERROR_RANGE\n");
});

test("the module asks its loader for a clock and nothing else", async () => {
    const module = await WebAssembly.compile(
        await readFile(new URL(import.meta.resolve("libattn-labs/labs.wasm"))),
    );
    const imports = WebAssembly.Module.imports(module);
    assert.deepEqual(imports, [{ module: "clock", name: "now", kind: "function" }]);
});

/* ---- beside the native library ------------------------------------------------------------------- */

const built = fileURLToPath(new URL("../../../build/attn", import.meta.url));
const cli = process.env.ATTN_CLI ?? (existsSync(built) ? built : null);
const unit = 2 ** -24; // of float32

const exact = () => 0;

/** A success is four decisions of a trial, and `close` counts trials in which rounding can turn one. */
const counted = (row, name) => {
    if (name === "formula") return exactly(1);
    if (name === "close") return row.close; // which rounding decides too
    if (name === "low" || name === "high") return row.close > 0 ? 1 : 0;
    return row.close / row.trials;
};

/** What the experiment itself says float can add to what it measures, on either side. */
const constructed = (row, name) => 2 * (row[`${name}_rounding`] ?? 0) || exactly(row[name]);

/**
 * Distortions are eigenvalues of Y Y^T, whose entries are sums of at most d = 512 products of floats:
 * each off by d u of its size, 1 + eps (Higham, "Accuracy and Stability of Numerical Algorithms", 3.1).
 */
const sketched = (row, name) =>
    name.endsWith("_eps") ? 512 * unit * (1 + row[name]) : 12 * 512 * unit * row.bound;

/** Formulas in double, which end in other last digits with another C library. */
const exactly = (value) => 1e-12 * Math.abs(value);

/** A and x are rounded to float at every step; what float kernels measure of f is not compared. */
const descended = (row, name) => {
    const inDouble = ["x", "loss", "gradient", "tight", "bound"].includes(name);
    return inDouble ? (row.x + 1) * unit * Math.abs(row[name]) : Infinity;
};

/** How far numbers are from 0 and 1 is float's rounding; all else follows from the weights. */
const programmed = (row, name) => (name === "off" ? 0.01 : exactly(row[name]));

const panels = [
    ["separation", "3a", 2, counted],
    ["separation", "4d", 2, counted],
    ["separation", "5b", 4, counted],
    ["separation", "7b", 20, counted],
    ["softmax-regression", "loss", 2, descended],
    ["sparsification", "size", 1, sketched],
    ["sparsification", "delta", 2, exact],
    ["constructions", "eps", 2, constructed],
    ["programs", "arithmetic", 1, programmed],
    ["complexity", "work", null, exact],
];

for (const [name, panel, trials, tolerance] of panels) {
    const skip = cli ? false : "there is no build/attn, and ATTN_CLI does not name one";
    test(`${name} ${panel} as by the command line`, { skip }, async () => {
        const folder = await mkdtemp(join(tmpdir(), "labs-"));
        const settings = trials === null ? [] : ["--trials", String(trials)];
        try {
            const command = ["lab", "run", name, "--panel", panel, "--seed", "99", ...settings];
            await run(cli, [...command, "-o", folder]);
            const file = join(folder, `${name}-${panel}.json`);
            const { points, panel: told } = JSON.parse(await readFile(file, "utf8"));
            const params = trials === null ? {} : { trials };
            const { columns, rows, verdict } = await lab(name, params, {
                ...{ panel, seed: 99, workers: 2 },
            });
            assert.ok(
                told.claim && ["holds", "fails", "undecided", "illustration"].includes(verdict),
            );
            assert.equal(rows.length, points.length);
            rows.forEach((numbers, i) => {
                const row = Object.fromEntries(numbers.map((number, c) => [columns[c], number]));
                for (const column of columns) compare(row, points[i], column, tolerance);
            });
        } finally {
            await rm(folder, { recursive: true });
        }
    });
}

function compare(here, there, column, tolerance) {
    const [value, wanted] = [here[column], there[column] ?? NaN];
    if (Object.is(value, wanted) || value === wanted) return;
    const allowed = Math.max(tolerance(here, column), tolerance(there, column));
    const what = `${column} at ${here.x}: ${value} here, ${wanted} there, +- ${allowed}`;
    assert.ok(Math.abs(value - wanted) <= allowed, what);
}
