/** Heads and rows looked at closely: the numbers are those of the command line's weights and outputs. */

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readNpy } from "libattn/data";
import { exactAttention } from "../../../tests/exact/exact.mjs";
import { npy, randomNumbers } from "../support/npy.mjs";
import {
    change,
    cli,
    drop,
    noCli,
    page,
    panel,
    picture,
    readNumber,
    reopen,
    rested,
    run,
    testOrigins,
} from "../support/panels.mjs";

const [heads, queries, dim] = [3, 20, 8];
const eps = 2 ** -23;
const ofHead = (array, head) => array.slice(head * queries * dim, (head + 1) * queries * dim);
const q = randomNumbers([heads, queries, dim], 1).map((x) => 3 * x);
const k = randomNumbers([heads, queries, dim], 2).map((x) => 3 * x);
const v = randomNumbers([heads, queries, dim], 3);
const files = Object.fromEntries(
    Object.entries({ q, k, v }).map(([name, numbers]) => [
        `${name}.npy`,
        npy([heads, queries, dim], numbers),
    ]),
);

/** Of a head: exact weights and output, and bounds of those in f32. */
function exact(head) {
    const sizes = { batch: 1, heads: 1, kvHeads: 1, queries, keys: queries, dim, valueDim: dim };
    const [query, key, value] = [q, k, v].map((array) => ofHead(array, head));
    return exactAttention(sizes, { query, key, value });
}

const rowsOf = (array, width) =>
    Array.from({ length: queries }, (_, i) => Array.from(array.slice(i * width, (i + 1) * width)));
const mean = (numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

/** What the command line's backend computes of a head: rows of weights, and of its output. */
async function computed(backend, head) {
    const folder = await mkdtemp(join(tmpdir(), "page-"));
    try {
        const names = [];
        for (const [name, array] of Object.entries({ q, k, v })) {
            names.push(`--${name}`, join(folder, `${name}.npy`));
            await writeFile(names.at(-1), npy([queries, dim], ofHead(array, head)));
        }
        const [out, weights] = ["out.npy", "weights.npy"].map((name) => join(folder, name));
        await run(cli, ["run", backend, ...names, "-o", out, "--weights", weights]);
        const read = async (file) => (await readNpy(await readFile(file))).data;
        return {
            weights: rowsOf(await read(weights), queries),
            out: rowsOf(await read(out), dim),
        };
    } finally {
        await rm(folder, { recursive: true });
    }
}

async function openHeads(backend) {
    await change(() => drop(files));
    await page.click("#heads summary");
    await page.selectOption("#heads-of", backend);
    await page.waitForFunction(
        (count) => document.querySelectorAll("#heads [data-head]").length === count,
        heads,
    );
}

const numberOf = async (head, name) =>
    Number(
        await page
            .locator(`#heads [data-head="0.${head}"] [data-name=${name}] data`)
            .getAttribute("value"),
    );

const entropy = (row) => row.reduce((sum, w) => sum - (w > 0 ? w * Math.log2(w) : 0), 0);
const distance = (row, i) => row.reduce((sum, w, j) => sum + w * Math.abs(i - j), 0);

test("with several heads each number says of which it is", async () => {
    await reopen("#preset=lis-softmax");
    const labels = await page.locator("[data-backend=linear] .numbers dt").allTextContents();
    const of = (start) => labels.find((label) => label.startsWith(start));
    assert.equal(of("Error"), "Error against exact, all heads");
    assert.match(of("Top-8"), /, this head$/);
    assert.match(of("Weight"), /, this head$/);
    await reopen("#text=a+b+c+d");
    const alone = await page.locator("[data-backend=linear] .numbers dt").allTextContents();
    assert.ok(alone.includes("Error against exact"), alone.join());
});

test("one head has none beside it", async () => {
    assert.equal(await page.locator("#heads").isVisible(), false);
});

test("softmax's heads: error, entropy and distance are those of exact weights", async () => {
    await openHeads("softmax");
    for (let head = 0; head < heads; head++) {
        const { weights, weightsBound, out, outBound } = exact(head);
        const rows = rowsOf(weights, queries);
        const bounds = rowsOf(weightsBound, queries);
        // What a weight may be off by moves w log w by its slope, and the sum by which both are divided.
        const most = mean(
            bounds.map((row, i) =>
                row.reduce((sum, bound, j) => {
                    const slope = Math.abs(Math.log2(rows[i][j])) + 2;
                    return sum + bound * (slope + entropy(rows[i]));
                }, 0),
            ),
        );
        const found = await numberOf(head, "entropy");
        const wanted = mean(rows.map(entropy));
        assert.ok(Math.abs(found - wanted) <= most, `head ${head}: ${found}, not ${wanted}`);
        const away = await numberOf(head, "distance");
        const far = mean(rows.map(distance));
        const mostFar = mean(bounds.map((row) => queries * row.reduce((a, b) => a + b, 0)));
        assert.ok(Math.abs(away - far) <= 2 * mostFar, `head ${head}: ${away}, not ${far}`);
        const norm = (array) => Math.hypot(...array);
        assert.ok((await numberOf(head, "error")) <= norm(outBound) / norm(out), `head ${head}`);
    }
});

test("a click shows a head in the panels, and a link has it", async () => {
    await openHeads("sparse");
    const before = await picture("sparse");
    const other = page.locator('#heads [data-head="0.2"]');
    assert.equal(await other.getAttribute("aria-pressed"), "false");
    await other.click();
    await page.locator('#heads [data-head="0.2"][aria-pressed=true]').waitFor();
    assert.equal(await page.inputValue("#head"), "2");
    await page.waitForURL(/head=2.*heads=sparse/);
    await page.waitForFunction(() => !document.querySelector(".panel.stale"));
    assert.notEqual(await picture("sparse"), before);
    await reopen("#preset=lis-softmax&heads=nobody");
    assert.equal(await page.getAttribute("#heads", "open"), "");
    await page.locator("#heads [data-head]").nth(11).waitFor();
    const names = await page.locator("#heads b").allTextContents();
    assert.deepEqual([names[0], names[11]], ["Layer 1, head 1", "Layer 3, head 4"]);
});

test(
    "sparse: recall, dropped weight and errors of rows, heads' numbers",
    { skip: cli ? false : noCli },
    async () => {
        await openHeads("sparse");
        const { weights, out } = await computed("sparse", 0);
        const truth = exact(0);
        const rows = rowsOf(truth.weights, queries);
        const top = (row) =>
            row
                .map((weight, key) => ({ weight, key }))
                .filter(({ weight }) => weight > 0)
                .sort((one, other) => other.weight - one.weight)
                .slice(0, 8)
                .map(({ key }) => key);
        const recalls = rows.map((row, i) => {
            const kept = top(weights[i]);
            return top(row).filter((key) => kept.includes(key)).length / 8;
        });
        const shown = async (name) =>
            Number(await panel("sparse").locator(`[data-name=${name}] data`).getAttribute("value"));
        assert.ok(Math.abs((await shown("recall")) - mean(recalls)) < 1e-12);
        const lost = rows.map((row, i) =>
            row.reduce((sum, weight, j) => sum + (weights[i][j] === 0 ? weight : 0), 0),
        );
        assert.ok(mean(lost) > 0.01, "the pattern drops something");
        assert.ok(Math.abs((await shown("dropped")) - mean(lost)) <= queries * eps);

        const wanted = rowsOf(truth.out, dim).map((row, i) => {
            const off = row.map((each, c) => out[i][c] - each);
            return Math.hypot(...off) / Math.hypot(...row);
        });
        const reading = await panel("sparse").locator(".of-row").textContent();
        const [, middle, most] = /median (.+), most (.+)$/.exec(reading);
        const sorted = wanted.toSorted((one, other) => one - other);
        const isNear = (text, error) => {
            const difference = Math.abs(readNumber(text) - error);
            assert.ok(difference <= 0.005 * error + 4 * queries * eps, `${text}, not ${error}`);
        };
        isNear(most, sorted.at(-1));
        isNear(middle, sorted[queries >> 1]);
        await panel("sparse").locator("canvas").focus();
        await page.keyboard.press("Home");
        await page.keyboard.press("ArrowDown");
        const ofRow = await panel("sparse").locator(".of-row").textContent();
        isNear(/error of this row: (\S+)$/.exec(ofRow)[1], wanted[1]);

        const mostOff = 4 * (dim + queries) * eps;
        assert.ok(
            Math.abs((await numberOf(0, "entropy")) - mean(weights.map(entropy))) <=
                mostOff * Math.log2(queries) * 8,
        );
        assert.ok(
            Math.abs((await numberOf(0, "distance")) - mean(weights.map(distance))) <=
                mostOff * queries,
        );
        const norm = (all) => Math.hypot(...all.flat());
        const off = rowsOf(truth.out, dim).map((row, i) => row.map((each, c) => each - out[i][c]));
        const error = norm(off) / norm(rowsOf(truth.out, dim));
        assert.ok(Math.abs((await numberOf(0, "error")) - error) <= mostOff);
    },
);

test("many heads have room, and by keyboard one is chosen after the other", async () => {
    const shape = [1, 32, 40, 4];
    await change(() => drop({ "x.npy": npy(shape, randomNumbers(shape, 1)) }));
    await page.click("#heads summary");
    await page.locator("#heads [data-head]").nth(31).waitFor();
    const widths = await page
        .locator("#heads [data-head]")
        .evaluateAll((all) => all.map((each) => [each.clientWidth, each.scrollWidth]));
    for (const [client, scroll] of widths)
        assert.ok(client >= 100 && scroll <= client, `${scroll} in ${client}`);
    await page.focus('#heads [data-head="0.1"]');
    for (const head of [2, 3]) {
        await page.keyboard.press("Tab");
        await page.keyboard.press("Enter");
        await page.locator(`#heads [data-head="0.${head}"][aria-pressed=true]`).waitFor();
        await rested(); // what is drawn late is drawn
        const focus = () => document.activeElement.dataset.head;
        assert.equal(await page.evaluate(focus), `0.${head}`);
    }
    assert.equal(await page.inputValue("#head"), "3");
});

test("numbers of some rows say of how many", async () => {
    await openHeads("sparse");
    const told = () => page.locator("#heads .figure > p").allTextContents();
    const reading = () => panel("sparse").locator(".of-row").textContent();
    const worst = () => panel("sparse").locator(".worst").textContent();
    assert.deepEqual(await told(), []);
    assert.match(await reading(), /most \S+$/);
    assert.match(await worst(), /^Worst row: /);
    const shape = [2, 600, 4]; // of 1200 rows 64 are compared, of a head 300 and 100 looked at
    await change(() => drop({ "x.npy": npy(shape, randomNumbers(shape, 1)) }));
    await page.locator('#heads [data-head="0.1"]').waitFor();
    await page.locator("#heads .figure > p").waitFor();
    assert.deepEqual(await told(), ["Of each head 100 of 600 rows are looked at."]);
    assert.match(await reading(), /most \S+, of 300 rows$/);
    assert.match(await worst(), /^Worst of 64 rows: /);
});

testOrigins();
