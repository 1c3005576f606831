/** What a reader takes away: pictures, numbers and arrays of panels and figures, as files. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { embed, readNpy } from "libattn/data";
import { npy, randomNumbers } from "../support/npy.mjs";
import {
    backends,
    change,
    drop,
    number,
    page,
    saving,
    testOrigins,
    write,
} from "../support/panels.mjs";
import { lines, look as lookAt, take as takeFrom } from "../support/taking.mjs";

const eps = 2 ** -23;

const take = (root, format) => takeFrom(page, root, format);
const look = (file, type) => lookAt(page, file, type);

/** The array that a panel saves. */
const shownBy = async (backend) => readNpy((await take(await saving(backend), "npy")).bytes);

test("a panel's numbers are its weights: .npy, CSV and JSON are the same, and softmax's the formula's", async () => {
    const text = "alpha beta gamma delta epsilon zeta";
    await write(text);
    await change(() => page.check("#causal"));
    const { x, tokens } = await embed(text, 64);
    // Chromium gives a page ten files, and then asks its reader.
    for (const backend of ["softmax", "linear", "sparse"]) {
        const root = await saving(backend);
        const files = {};
        for (const format of ["npy", "csv", "json"]) files[format] = await take(root, format);
        assert.equal(files.npy.name, `${backend}-weights.npy`);
        const { data, shape } = await readNpy(files.npy.bytes);
        assert.deepEqual([...shape], [6, 6]);
        const [head, ...rows] = lines(files.csv);
        assert.deepEqual(head, ["query", "key", "query token", "key token", "weight"]);
        assert.equal(rows.length, 36);
        rows.forEach(([query, key, one, other, weight], i) => {
            assert.deepEqual([query, key].map(Number), [Math.floor(i / 6), i % 6]);
            assert.deepEqual([one, other], [tokens[query], tokens[key]]);
            assert.equal(Number(weight), data[i]);
        });
        const told = JSON.parse(String(files.json.bytes));
        assert.deepEqual(
            told.rows.map((row) => row[4]),
            [...data],
        );
        assert.deepEqual([told.backend, told.problem.causal], [backend, true]);
        assert.equal(told.error, await number(backend, "error"));
        assert.match(told.commandLine, new RegExp(`--backends ${backend} --causal`));
        if (backend !== "softmax") continue;
        for (let i = 0; i < 6; i++) {
            const logits = Array.from({ length: i + 1 }, (_, j) => dot(x, i, j));
            const sum = logits.reduce((total, { value }) => total + Math.exp(value), 0);
            logits.forEach(({ value, size }, j) => {
                const wanted = Math.exp(value) / sum;
                const off = Math.abs(data[6 * i + j] / wanted - 1);
                assert.ok(off <= 8 * 64 * eps * (size + 1), `weight ${i}, ${j}: off by ${off}`);
            });
        }
    }
});

test("what is no finite number is empty in CSV, null in JSON, and itself in .npy", async () => {
    const numbers = [1, 2, NaN, 4, Infinity, 6, 7, 8].map((each) => each / 8);
    await change(() => drop({ "x.npy": npy([4, 2], numbers) }));
    await change(() => page.check("#causal")); // the first query sees a number
    const files = {};
    const root = await saving("softmax");
    for (const format of ["npy", "csv", "json"]) files[format] = await take(root, format);
    const { data } = await readNpy(files.npy.bytes);
    const finite = [...data].map((weight) => (Number.isFinite(weight) ? weight : null));
    assert.ok(finite.includes(null) && finite.some((weight) => weight !== null));
    const inJson = JSON.parse(String(files.json.bytes));
    const column = inJson.columns.indexOf("weight");
    assert.deepEqual(
        inJson.rows.map((row) => row[column]),
        finite,
    );
    const inCsv = lines(files.csv)
        .slice(1)
        .map((row) => row[column]);
    assert.deepEqual(
        inCsv,
        finite.map((weight) => (weight === null ? "" : String(weight))),
    );
    assert.doesNotMatch(String(files.json.bytes) + String(files.csv.bytes), /nan|inf/i);
});

test("cells with several weights say in a CSV what they are of", async () => {
    await write(Array.from({ length: 301 }, (_, i) => `w${i}`).join(" ")); // more than cells
    const [head, ...rows] = lines(await take(await saving("softmax"), "csv"));
    const names = ["query token", "key token"];
    assert.deepEqual(head, ["query", "key", ...names, "queries", "keys", "mean weight"]);
    assert.equal(rows.length, 151 ** 2);
    assert.deepEqual(rows[0].slice(0, 6), ["0", "0", "w0", "w0", "2", "2"]);
    assert.deepEqual(rows.at(-1).slice(0, 6), ["300", "300", "w300", "w300", "1", "1"]);
    const count = ([, , , , queries, keys]) => queries * keys;
    const sum = rows.reduce((total, row) => total + count(row) * row[6], 0);
    assert.ok(Math.abs(sum - 301) < 1e-3, `301 rows of weights add up to ${sum}`);
});

/** The logit of query i and key j, and the sum of its absolute terms. */
function dot(x, i, j) {
    let [value, size] = [0, 0];
    for (let c = 0; c < 64; c++) {
        const term = (x[64 * i + c] * x[64 * j + c]) / 8;
        value += term;
        size += Math.abs(term);
    }
    return { value, size };
}

test("a panel's picture is whole by itself, as SVG and as PNG", async () => {
    await write('one "two" <three> & four');
    for (const backend of ["softmax", "linear"]) {
        const root = await saving(backend);
        const svg = await take(root, "svg");
        const text = String(svg.bytes);
        assert.match(text, /href="data:image\/png;base64,/);
        assert.doesNotMatch(text.replace("http://www.w3.org/2000/svg", ""), /http|url\(|var\(/);
        for (const word of ["one", "three", "queries", "keys"])
            assert.ok(text.includes(`>${word}</text>`), word);
        const title = backend === "softmax" ? "Softmax: weights" : "Linear: weights";
        assert.ok(text.includes(`>${title}</text>`), "a title");
        const bar = [...text.matchAll(/fill="rgb\(([^)]*)\)"/g)].map(([, colour]) => colour);
        assert.ok(new Set(bar).size > 50, `${bar.length} colours of a bar`);
        assert.ok(text.lastIndexOf(">0</text>") > text.lastIndexOf("rgb("), "its values");
        const drawn = await look(svg, "image/svg+xml");
        assert.equal(drawn.width, 560);
        assert.ok(drawn.colours > 20, `${drawn.colours} colours`);
        const png = await look(await take(root, "png"), "image/png");
        assert.deepEqual([png.width, png.height], [2 * drawn.width, 2 * drawn.height]);
        assert.ok(png.colours > 20, `${png.colours} colours`);
    }
});

test("differences are saved as differences", async () => {
    await write("alpha beta gamma delta");
    const weights = {};
    for (const backend of ["softmax", "linear"]) weights[backend] = (await shownBy(backend)).data;
    await page.check("#difference");
    const file = await take(await saving("linear"), "npy");
    assert.equal(file.name, "linear-difference.npy");
    const { data } = await readNpy(file.bytes);
    data.forEach((value, i) =>
        assert.equal(value, Math.fround(weights.linear[i] - weights.softmax[i])),
    );
});

test("#open=pareto&open=longer&open=streaming&quantity=flops&token=9: figures are saved with the colours of the page, and their numbers", async () => {
    await page.waitForFunction(() => document.querySelector("#longer").ariaBusy === "false");
    const counts = {
        pareto: backends.length,
        longer: 15 * backends.length,
        streaming: backends.length,
    };
    for (const [id, count] of Object.entries(counts)) {
        const root = page.locator(`#${id}`);
        await root.locator("svg").waitFor();
        const svg = await take(root, "svg");
        assert.equal(svg.name, `${id}.svg`);
        assert.doesNotMatch(String(svg.bytes), /var\(|class=|style=/);
        assert.ok((await look(svg, "image/svg+xml")).colours > 20);
        assert.ok((await look(await take(root, "png"), "image/png")).colours > 20);
        const rows = JSON.parse(String((await take(root, "json")).bytes)).rows;
        assert.equal(rows.length, count, id);
        assert.equal(
            String((await take(root, "csv")).bytes)
                .trim()
                .split("\n").length,
            count + 1,
        );
    }
    const { rows, columns } = JSON.parse(
        String((await take(page.locator("#longer"), "json")).bytes),
    );
    const [backend, tokens, flops] = ["backend", "tokens", "flops"].map((name) =>
        columns.indexOf(name),
    );
    const longest = rows.find((row) => row[backend] === "softmax" && row[tokens] === 2 ** 20);
    assert.equal(longest[flops], 4 * 2 ** 40 * 64);
});

test("#text=one+two+three+four&strands=linear: lines are saved as they are drawn, with their weights", async () => {
    const root = page.locator("#strands");
    await root.locator("svg text").nth(7).waitFor();
    const svg = await take(root, "svg");
    assert.equal(svg.name, "strands.svg");
    for (const word of ["one", "two", "three", "four"])
        assert.equal(String(svg.bytes).split(`>${word}</text>`).length, 3, word);
    assert.equal(
        String(svg.bytes).split("<line ").length - 1,
        await root.locator("svg line").count(),
    );
    assert.ok((await look(await take(root, "png"), "image/png")).colours > 5);
    const [, ...rows] = lines(await take(root, "csv"));
    const file = await take(root, "npy");
    assert.equal(file.name, "strands.npy");
    const { data, shape } = await readNpy(file.bytes);
    assert.deepEqual([...shape], [4, 4]);
    assert.deepEqual(
        rows.map((row) => Number(row[4])),
        [...data],
    );
    const drawn = await root
        .locator("svg line")
        .evaluateAll((all) => all.map((line) => ({ ...line.dataset })));
    assert.ok(drawn.length > 4);
    for (const { query, key, weight } of drawn)
        assert.equal(data[4 * query + Number(key)], Number(weight));
    const shown = await shownBy("linear");
    assert.deepEqual([...data], [...shown.data]);
});

test("heads are saved as one picture, and their numbers", async () => {
    await change(() => page.click("[data-preset=lis-softmax]"));
    const root = page.locator("#heads");
    await root.locator("summary").click();
    await root.locator("[data-head]").nth(11).waitFor();
    const svg = await take(root, "svg");
    assert.equal(svg.name, "heads.svg");
    const text = String(svg.bytes);
    assert.equal(text.split('href="data:image/png;base64,').length - 1, 12);
    assert.doesNotMatch(text.replace("http://www.w3.org/2000/svg", ""), /http|url\(|var\(/);
    for (const word of ["Layer 1, head 1", "Layer 3, head 4"]) assert.ok(text.includes(word), word);
    const shown = await root.locator('[data-head="2.3"] [data-name=entropy]').textContent();
    assert.ok(text.includes(`>${shown}</text>`), shown);
    const drawn = await look(svg, "image/svg+xml");
    assert.ok(drawn.colours > 20, `${drawn.colours} colours`);
    const png = await look(await take(root, "png"), "image/png");
    assert.deepEqual([png.width, png.height], [2 * drawn.width, 2 * drawn.height]);
    assert.equal(lines(await take(root, "csv")).length, 1 + 12);
    const file = await take(root, "npy");
    assert.equal(file.name, "heads.npy");
    const { data, shape } = await readNpy(file.bytes);
    await change(() => root.locator('[data-head="0.0"]').click());
    const { data: first, shape: sizes } = await shownBy("softmax");
    assert.deepEqual([...shape], [3, 4, ...sizes]);
    assert.deepEqual([...data.subarray(0, first.length)], [...first]);
    await change(() => root.locator('[data-head="2.3"]').click());
    const { data: last } = await shownBy("softmax");
    assert.deepEqual([...data.subarray(11 * last.length)], [...last]);
    assert.notDeepEqual([...last], [...first]);
});

test("heads whose pictures have several weights in a cell are saved as those means", async () => {
    const [queries, each] = [100, 3];
    const shape = [2, queries, 8];
    await change(() => drop({ "x.npy": npy(shape, randomNumbers(shape, 1)) }));
    const root = page.locator("#heads");
    await root.locator("summary").click();
    await root.locator("[data-head]").nth(1).waitFor();
    const { rowsPerCell, keysPerCell } = JSON.parse(String((await take(root, "json")).bytes));
    assert.deepEqual([rowsPerCell, keysPerCell], [each, each]);
    const { data, shape: saved } = await readNpy((await take(root, "npy")).bytes);
    const side = Math.ceil(queries / each);
    assert.deepEqual([...saved], [1, 2, side, side]);
    const { data: weights } = await shownBy("softmax");
    for (const [i, mean] of data.subarray(0, side * side).entries()) {
        const [row, column] = [each * Math.floor(i / side), each * (i % side)];
        const some = [];
        for (let query = row; query < Math.min(queries, row + each); query++)
            for (let key = column; key < Math.min(queries, column + each); key++)
                some.push(weights[queries * query + key]);
        const wanted = some.reduce((sum, weight) => sum + weight, 0) / some.length;
        assert.ok(Math.abs(mean - wanted) <= some.length * eps * wanted, `${mean}, not ${wanted}`);
    }
});

test("without an input there is nothing to save, which is said", async () => {
    const root = await saving("sparse");
    await page.fill("#text", "");
    await page.locator("#input-problem:visible").waitFor();
    await root.locator("[data-format=svg]").click();
    await root.locator("[role=status]", { hasText: "nothing to save" }).waitFor();
    await root.locator("[data-format=csv]").click();
    await root.locator("[role=status]", { hasText: "nothing to save" }).waitFor();
});

testOrigins();
