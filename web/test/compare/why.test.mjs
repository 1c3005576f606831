/** Why a head looks there: what each number of query and key adds to a logit. */

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { embed, readNpy } from "libattn/data";
import { npy } from "../support/npy.mjs";
import {
    change,
    cli,
    noCli,
    page,
    panel,
    readNumber,
    run,
    testOrigins,
    write,
} from "../support/panels.mjs";
import { pin, stepsShown } from "../support/rows.mjs";

/* Sums of 64 columns and of 16 features, forwards and backwards, and a few roundings of weights. */
const rounding = (2 * (64 + 16) + 32) * 2 ** -23;

test("why a head looks there: features add up to the logit, and to linear's product", async () => {
    await write("alpha beta gamma delta alpha");
    await pin(4, 4); // which all keep
    const parts = (backend) =>
        panel(backend)
            .locator(".features title")
            .evaluateAll((all) => all.map(({ textContent }) => textContent.split(": ")[1]));
    const marked = (backend, column) =>
        panel(backend).locator(".steps .marked data").nth(column).getAttribute("value");
    for (const [backend, column] of [
        ["softmax", 1],
        ["sparse", 1],
        ["linear", 1],
    ]) {
        const numbers = (await parts(backend)).map(readNumber);
        assert.equal(numbers.length, 64, backend);
        const sizes = numbers.map(Math.abs);
        assert.deepEqual(
            sizes,
            sizes.toSorted((one, other) => other - one),
            "the strongest first",
        );
        const sum = numbers.reduce((total, part) => total + part, 0);
        const wanted = Number(await marked(backend, column));
        const most = sizes.reduce((total, size) => total + 0.005 * size, 1e-3); // three digits each
        assert.ok(Math.abs(sum - wanted) <= most, `${backend}: ${sum} and ${wanted}`);
    }
    await change(() => page.selectOption("#linear-feature_map", "favor"));
    await stepsShown();
    assert.equal(
        await panel("linear").locator(".features").count(),
        0,
        "its features are of all columns",
    );
});

/** Of a key and a query, dim numbers each: what each column adds to the sketched logit, with the sum of its absolute terms, by T or Y = X T of `attn sketch`. */
async function sketchedParts(method, x, query, key) {
    const [dim, size, count] = [64, 16, x.length / 64];
    const folder = await mkdtemp(join(tmpdir(), "attn-row-"));
    try {
        const mixes = ["gaussian", "ams", "osnap", "srht"].includes(method);
        const identity = Float32Array.from({ length: dim * dim }, (_, i) =>
            Number(i % (dim + 1) === 0),
        );
        const stacked = Float32Array.from([...x, ...x]);
        const [given, rows] = mixes ? [identity, dim] : [stacked, 2 * count];
        const [input, output] = ["x.npy", "y.npy"].map((name) => join(folder, name));
        await writeFile(input, npy([rows, dim], given));
        const options = ["--method", method, "--size", String(size)];
        await run(cli, ["sketch", input, ...options, "-o", output]);
        const { data } = await readNpy(await readFile(output));
        const at = (row, c) => x[row * dim + c];
        const t = Array.from({ length: dim }, () => new Float64Array(size));
        for (let f = 0; f < size; f++) {
            if (mixes) {
                for (let c = 0; c < dim; c++) t[c][f] = data[c * size + f];
                continue;
            }
            // A column of Y is one of X times a weight: the one that it is nearest to.
            const every = Array.from({ length: count }, (_, row) => row);
            const y = (row) => data[row * size + f];
            const fits = Array.from({ length: dim }, (_, c) => {
                const square = every.reduce((sum, row) => sum + at(row, c) ** 2, 0);
                const weight = every.reduce((sum, row) => sum + y(row) * at(row, c), 0) / square;
                const off = every.map((row) => Math.abs(y(row) - weight * at(row, c)));
                return { c, weight, off: Math.max(...off) };
            });
            const { c, weight } = fits.sort((one, other) => one.off - other.off)[0];
            t[c][f] = weight;
        }
        const mixed = (row) =>
            Array.from({ length: size }, (_, f) =>
                t.reduce((sum, each, c) => sum + each[f] * at(row, c), 0),
            );
        const sizesOf = (row) =>
            Array.from({ length: size }, (_, f) =>
                t.reduce((sum, each, c) => sum + Math.abs(each[f] * at(row, c)), 0),
            );
        const sketched = mixed(query);
        const sizes = sizesOf(query);
        return t.map((each, c) => {
            const through = (numbers) => each.reduce((sum, t, f) => sum + t * numbers[f], 0);
            const size = each.reduce((sum, t, f) => sum + Math.abs(t) * sizes[f], 0);
            const factor = at(key, c) / Math.sqrt(dim);
            return { part: factor * through(sketched), size: Math.abs(factor) * size };
        });
    } finally {
        await rm(folder, { recursive: true });
    }
}

test(
    "why a head looks there by sketch: what each column adds is what `attn sketch` makes of it",
    { skip: cli ? false : noCli },
    async () => {
        const text = "alpha beta gamma delta epsilon alpha";
        await write(text);
        await pin(5, 3);
        await change(() => page.fill("#sketch-size", "16"));
        const { x } = await embed(text, 64);
        for (const method of ["gaussian", "srht", "osnap", "leverage"]) {
            await change(() => page.selectOption("#sketch-method", method));
            await stepsShown();
            const wanted = await sketchedParts(method, x, 5, 3);
            const told = await panel("sketch")
                .locator(".features title")
                .evaluateAll((all) => all.map(({ textContent }) => textContent));
            const shares = new Map(
                told.map((line) => {
                    const [, feature, part] = /^feature (\d+): (.*)$/.exec(line);
                    return [Number(feature), readNumber(part)];
                }),
            );
            assert.ok(shares.size > (method === "leverage" ? 4 : 60), `${method}: ${shares.size}`);
            for (const [c, { part, size }] of wanted.entries())
                assert.ok(
                    Math.abs((shares.get(c) ?? 0) - part) <=
                        0.005 * Math.abs(part) + rounding * size,
                    `${method}: column ${c}: ${shares.get(c)} and ${part}`,
                ); // three digits
            const logit = await panel("sketch")
                .locator(".steps .marked data")
                .nth(1)
                .getAttribute("value");
            const sum = wanted.reduce((total, { part }) => total + part, 0);
            const most = wanted.reduce((total, { size }) => total + size, 1);
            assert.ok(
                Math.abs(sum - Number(logit)) <= rounding * most,
                `${method}: ${sum}, ${logit}`,
            );
        }
    },
);

testOrigins();
