/** What pictures say to whoever does not see them: words, and a table of each row. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { npy } from "../support/npy.mjs";
import {
    change,
    drop,
    openDetails,
    page,
    panel,
    readNumber,
    testOrigins,
    write,
} from "../support/panels.mjs";
import { lines, take } from "../support/taking.mjs";

/** A panel's numbers as its button for CSV gives them, by query and key. */
async function numbersOf(backend) {
    await openDetails();
    const root = panel(backend);
    await root.locator(".saving summary").click();
    const file = await take(page, root, "csv");
    await root.locator(".saving summary").click();
    const [, ...cells] = lines(file);
    const rows = [];
    for (const [query, key, , , value] of cells) {
        (rows[Number(query)] ??= [])[Number(key)] = Number(value);
    }
    return rows;
}

const told = (backend) => panel(backend).locator(".told");
const size = (values) => values.reduce((sum, value) => sum + Math.abs(value), 0);

/** What the words have to say, counted from the file. */
function counted(rows) {
    const all = size(rows.flat());
    const columns = rows[0].map((_, key) => size(rows.map((row) => row[key])) / all);
    const strongest = Math.max(...columns);
    return {
        diagonal: (100 * size(rows.map((row, i) => row[i]))) / all,
        column: 100 * strongest,
        key: columns.indexOf(strongest),
    };
}

const text = "alpha beta gamma delta epsilon zeta eta theta";

test("a word of very many letters is named by its first ones", async () => {
    await openDetails();
    await write(`${"x".repeat(59)}𝒳${"y".repeat(50_000)}`);
    const named = `${"x".repeat(59)}…`; // half a letter is none
    await told("softmax")
        .filter({ hasText: `“${named}”` })
        .waitFor();
    const shown = await page.locator(".panel[data-backend=softmax]").innerText();
    assert.ok(shown.length < 5000, `${shown.length} letters`);
});

test("the diagonal's share and the strongest column are those of the numbers", async () => {
    await openDetails();
    await write(text);
    await change(() => page.check("#causal"));
    for (const backend of ["softmax", "sparse"]) {
        await told(backend).filter({ hasText: "diagonal" }).waitFor();
        const rows = await numbersOf(backend);
        const { diagonal, column, key } = counted(rows);
        const words = await told(backend).textContent();
        const [, first, second, name] =
            /^([\d.]+) % of all weight on the diagonal; ([\d.]+) % in the column “(\w+)”, the strongest\.$/.exec(
                words,
            );
        assert.ok(Math.abs(Number(first) - diagonal) <= 0.06, `${words}: ${diagonal}`); // three digits
        assert.ok(Math.abs(Number(second) - column) <= 0.06, `${words}: ${column}`);
        assert.equal(name, text.split(" ")[key]);
        const described = await panel(backend).locator("canvas").getAttribute("aria-describedby");
        assert.equal(await page.textContent(`#${described}`), words);
    }
});

test("a table has the five largest of each row, and follows what is shown", async () => {
    await write(text);
    await openDetails();
    await panel("sketch").locator(".rows summary").click();
    const table = panel("sketch").locator(".rows table");
    await table.waitFor();
    const check = async (isDifference) => {
        const rows = await numbersOf("sketch");
        const lines = await table.locator("tbody tr").all();
        assert.equal(lines.length, rows.length);
        for (const [query, line] of lines.entries()) {
            assert.equal(await line.locator("th").textContent(), `“${text.split(" ")[query]}”`);
            const cells = await line.locator("td").allTextContents();
            const wanted = rows[query]
                .map((value, key) => ({ key, value }))
                .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
                .slice(0, 5);
            assert.equal(cells.length, 5);
            for (const [i, { key, value }] of wanted.entries()) {
                const [, name, number] = /^“(\w+)” (.*)$/.exec(cells[i]);
                assert.equal(name, text.split(" ")[key]);
                const shown = readNumber(number.replace("+", ""));
                assert.ok(
                    Math.abs(shown - value) <= 0.005 * Math.abs(value),
                    `${number}: ${value}`,
                );
                assert.equal(number.startsWith("+"), isDifference && value > 0);
            }
        }
    };
    await check(false);
    await page.check("#difference");
    await table.locator("caption", { hasText: "differences" }).waitFor();
    await check(true);
    await page.locator(".told", { hasText: "of all differences, by size," }).first().waitFor();
    assert.equal(
        await told("softmax")
            .textContent()
            .then((words) => /difference/.test(words)),
        false,
    );
});

test("cells of several weights count by how many they have", async () => {
    await openDetails();
    const [rows, dim] = [257, 2]; // 129 cells of 2, the last one of 1
    const [query, key] = [new Float32Array(rows * dim).fill(1), new Float32Array(rows * dim)];
    key.fill(3, (rows - 1) * dim);
    const files = { "q.npy": npy([rows, dim], query), "k.npy": npy([rows, dim], key) };
    await change(() => drop({ ...files, "v.npy": npy([rows, dim], query) }));
    const last = Math.exp(6 / Math.sqrt(dim));
    const all = last + rows - 1;
    const diagonal = (100 * (2 * (rows - 1) + last)) / (rows * all);
    await told("softmax").filter({ hasText: "cells of the diagonal" }).waitFor();
    const words = await told("softmax").textContent();
    const [, first, second, name] =
        /^([\d.]+) % of all weight in the cells of the diagonal; ([\d.]+) % in the column (.+), the strongest\.$/.exec(
            words,
        );
    assert.ok(Math.abs(Number(first) - diagonal) <= 0.006, `${words}: ${diagonal}`); // three digits
    assert.ok(Math.abs(Number(second) - (100 * last) / all) <= 0.06, `${words}: ${last / all}`);
    assert.match(name, /256/);
});

test("nothing is told of an input that is gone", async () => {
    await openDetails();
    await told("softmax").filter({ hasText: "diagonal" }).waitFor();
    await page.fill("#text", "");
    await told("softmax").filter({ hasText: /^$/ }).waitFor({ state: "attached" });
});

testOrigins();
