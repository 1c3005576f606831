/** Presets: each shows what it says it does, in numbers. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readNpy } from "libattn/data";
import { someOf } from "../../../wasm/test/share.mjs";
import { cli, noCli } from "../support/cli.mjs";
import { randomNpy } from "../support/npy.mjs";
import {
    change,
    drop,
    errors,
    number,
    page,
    panel,
    reopen,
    run,
    testOrigins,
} from "../support/panels.mjs";

const choose = (id) => change(() => page.click(`[data-preset=${id}]`));
const rounding = 1e-4; // what f32 may lose of logits up to some hundred, relative to a weight

/** A cell's weight, by keys, which are some hundred: they are pressed in the page. */
async function weight(backend, row, column) {
    const canvas = panel(backend).locator(".picture canvas");
    await canvas.focus();
    await canvas.evaluate(
        (focused, keys) => {
            for (const [key, times] of keys)
                for (let i = 0; i < times; i++)
                    focused.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        },
        [
            ["Escape", 1],
            ["Home", 1],
            ["ArrowDown", row],
            ["ArrowRight", column],
        ],
    );
    const text = await panel(backend).locator(".readout").textContent();
    return Number(
        text
            .split("  ")
            .at(-1)
            .replace("−", "-")
            .replace(/ × 10.*/, "e-9"),
    );
}

async function isNear(backend, row, column, wanted, tolerance = 0.005) {
    const found = await weight(backend, row, column);
    const what = `${backend}: weight ${found} of key ${column} in row ${row}, not ${wanted}`;
    assert.ok(Math.abs(found - wanted) <= tolerance, what);
}

/** By presets: what each is to show, once it is chosen. */
const shows = {
    /** A head of the language model: what its table says, of this sentence's rows. */
    async "text-softmax"() {
        assert.match(
            await page.textContent("#summary"),
            /^23 queries, 23 keys · dimension 32 · 4 heads/,
        );
        assert.equal(await page.inputValue("#head"), "2");
        let sum = 0;
        for (let row = 1; row < 23; row++) sum += await weight("softmax", row, row - 1);
        assert.ok(sum / 22 > 0.5, `${sum / 22} of the weight is on the token before`);
        const [softmax, ...others] = await errors();
        assert.ok(softmax < rounding && others.every((error) => error > 0.1), `${others}`);
        const command = await panel("softmax").locator("code").textContent();
        assert.match(
            command,
            /^attn lab dump text 'In the beginning .*' --attention softmax .* --layer 1\n/,
        );
    },

    /** Previous token: all weight is one place back, which a band keeps and elu+1 does not. */
    async previous() {
        assert.equal(await page.isChecked("#causal"), true);
        for (const row of [1, 9, 31]) await isNear("softmax", row, row - 1, 1, 32 * Math.exp(-12));
        const [, linear, sparse] = await errors();
        assert.ok(sparse < 32 * Math.exp(-12), `sparse ${sparse}`);
        assert.ok(linear > 0.5, `linear ${linear}`);
    },

    /** Induction: the second half looks at what followed the token before. */
    async induction() {
        for (const row of [16, 20, 31])
            await isNear("softmax", row, row - 15, 1, 32 * Math.exp(-12));
        assert.ok((await number("sparse", "error")) > 0.5);
    },

    /** Sink: all rows look at the first key, and what sparse drops costs it. */
    async sink() {
        for (const row of [1, 24, 47]) assert.ok((await weight("softmax", row, 0)) > 0.9);
        await isNear("sparse", 24, 0, 0);
        assert.ok((await number("sparse", "error")) > 0.5);
    },

    /** Needle in a haystack: softmax finds it, and sparse gives it no weight. */
    async needle() {
        const rowError = async (backend) => {
            const data = panel(backend).locator(".row-error data");
            return Number(await data.getAttribute("value"));
        };
        assert.ok((await rowError("softmax")) < rounding);
        assert.ok((await rowError("sparse")) > 0.5, "the needle's row is pinned, and wrong");
        await isNear("softmax", 127, 42, 1, 0.01); // Escape, without a crosshair, closes the steps
        assert.equal(await weight("sparse", 127, 42), 0);
    },

    /** Identical keys: weights are even, and only sparse is wrong. */
    async identical() {
        for (const backend of ["softmax", "linear", "sketch"]) {
            for (const cell of [0, 31, 63]) await isNear(backend, 3, cell, 1 / 64, 5e-5);
            const error = await number(backend, "error");
            assert.ok(error < rounding, `${backend} ${error}`);
        }
        assert.ok((await number("sparse", "error")) > 0.5);
    },

    /** Outlier channels: softmax does not change, sketch and linear do. */
    async outliers() {
        const [softmax, linear, , sketch] = await errors();
        assert.ok(softmax < rounding, `softmax ${softmax}`);
        assert.ok(sketch > 1, `sketch ${sketch}`);
        assert.ok(linear > 0.5, `linear ${linear}`);
        for (const cell of [0, 31, 63]) await isNear("linear", 5, cell, 1 / 64, 2e-3);
    },

    /** A repeated token takes softmax's weight from the one answer, by halves at the end. */
    async repeated() {
        for (const row of [0, 1, 63, 127]) await isNear("softmax", row, 0, 127 / (127 + row));
    },

    /** A normaliser near zero is told, and the numbers are not to be believed. */
    async normaliser() {
        const line = await panel("linear").locator(".problem").textContent();
        assert.match(line, /^64 rows with a normaliser of nearly 0/);
        assert.ok((await number("linear", "error")) > 0.5);
        assert.ok((await number("softmax", "error")) < rounding);
    },
};

test("each preset shows what it says it does", async (t) => {
    for (const [id, look] of Object.entries(shows)) {
        t.diagnostic(id);
        await choose(id);
        await look();
    }
});

test("logits that rounding alone tells from the products are shown as those", async () => {
    for (const id of ["previous", "copy", "needle"]) {
        await choose(id);
        for (const backend of ["softmax", "sparse"]) {
            const rows = await panel(backend)
                .locator(".steps tbody tr")
                .evaluateAll((all) =>
                    all.map((row) => [...row.querySelectorAll("td")].map((td) => td.textContent)),
                );
            assert.ok(rows.length > 4, `${id}: ${backend}`);
            const others = rows.filter(([dot]) => dot === "0").map(([, logit]) => logit);
            assert.deepEqual(
                others,
                others.map(() => "0"),
                `${id}: ${backend}`,
            );
        }
    }
});

test("copy and saturated state: linear copies what has room in its state, and fails beyond", async () => {
    await choose("copy");
    for (const row of [16, 23, 31]) await isNear("softmax", row, row - 16, 1, 32 * Math.exp(-12));
    const fits = await number("linear", "error");
    assert.ok(fits < 32 * Math.exp(-12), `linear ${fits}, softmax's other weights aside`);
    assert.equal(await page.inputValue("#linear-feature_map"), "relu");
    await choose("saturated");
    const [softmax, linear] = await errors();
    assert.ok(softmax < rounding && linear > 0.5, `softmax ${softmax}, linear ${linear}`);
    await isNear("softmax", 64 + 20, 20, 1, 0.01);
});

test("trained heads are loaded when they are asked for", async () => {
    const requests = [];
    page.on("request", (request) => requests.push(request.url()));
    for (const [id, tokens] of [
        ["lis-softmax", 23],
        ["arithmetic-softmax", 11],
        ["lis-linear", 15],
        ["lis-sparse", 15],
    ]) {
        const loaded = () => requests.filter((url) => url.includes(`/${id}-`)).length;
        assert.equal(loaded(), 0, id);
        await choose(id);
        assert.equal(loaded(), id === "lis-softmax" ? 0 : 1, id); // the page brings what it opens with
        assert.match(
            await page.textContent("#summary"),
            new RegExp(`^${tokens} queries, ${tokens} keys · dimension 8 · 4 heads · batch of 3$`),
        );
        assert.match(await page.textContent("#batch-field"), /Layer/);
        const [softmax, ...others] = await errors();
        assert.ok(softmax < rounding, id);
        for (const error of others) assert.ok(error > 0.3, `${id}: errors ${others}`);
        await page.selectOption("#batch", "2");
        await page.selectOption("#head", "3");
        await page.waitForFunction(() => !document.querySelector(".panel.stale"));
        await isNear("softmax", 0, 0, 1, 0);
        const command = await panel("softmax").locator("code").textContent();
        const [task, attention] = id.split("-");
        assert.match(command, new RegExp(`^attn lab dump ${task} '.*' --attention ${attention}`));
        // a model's logits are over the root of its columns, and linear's own scale is 1
        assert.equal(await page.inputValue("#scale"), String(1 / Math.sqrt(8)));
    }
    assert.equal(requests.filter((url) => /models-.*\.wasm$/.test(url)).length, 1);
});

test("a preset is one click, in the link, and left by another: what it set goes with it", async () => {
    const before = await errors();
    await choose("normaliser");
    const shown = await errors();
    await page.waitForURL(/preset=normaliser/);
    await reopen(page.url());
    assert.deepEqual(await errors(), shown);
    assert.equal(await page.getAttribute("[data-preset=normaliser]", "aria-pressed"), "true");
    assert.match(await page.textContent("#caption"), /normaliser is their sum/);
    await choose("identical");
    assert.equal(await page.inputValue("#linear-feature_map"), "elu1");
    await choose("previous");
    await change(() => page.click(".preset-source .use-text"));
    assert.equal(await page.isChecked("#causal"), false);
    assert.deepEqual(await errors(), before);
    assert.equal(await page.locator("[data-preset][aria-pressed=true]").count(), 0);
    assert.equal(await page.getAttribute("[data-own=text]", "aria-pressed"), "true");
    assert.match(await page.textContent("#summary"), /tokens$/);
    await reopen("#preset=__proto__&preset=none");
    assert.deepEqual(await errors(), before);
});

test("each preset is told in one sentence, in each language", async () => {
    for (const lang of ["en", "de"]) {
        await reopen(`#lang=${lang}&preset=none`);
        const ids = await page
            .locator("[data-preset]")
            .evaluateAll((buttons) => buttons.map((button) => button.dataset.preset));
        assert.ok(ids.length >= 14);
        for (const id of someOf(`presets whose sentence is read, ${lang}`, ids)) {
            await page.click(`[data-preset=${id}]`);
            await page.locator(`[data-preset=${id}][aria-pressed=true]`).waitFor();
            const why = await page.textContent("#caption");
            assert.match(why, /^[^.!?]*(?:[.!?]\S[^.!?]*)*\.$/, `${id}: ${why}`);
        }
    }
    await reopen("#preset=none");
});

test("what is said of a preset needs no other one's words: a link leads to it alone", async () => {
    for (const [id, task] of [
        ["lis-linear", /increasing subsequence/],
        ["lis-sparse", /increasing subsequence/],
        ["saturated", /to be copied/],
    ]) {
        await choose(id);
        assert.match(await page.textContent("#caption"), task);
    }
});

test("a preset's id alone is its link, and what the reader changes is said beside it", async () => {
    const pinned = () => page.locator("#pin:visible").count();
    for (const id of ["normaliser", "needle"]) {
        await choose(id);
        const shown = await errors();
        await reopen(`#preset=${id}`);
        assert.deepEqual(await errors(), shown, id);
        assert.equal(await page.isChecked("#causal"), id === "needle", id);
        assert.equal(await pinned(), 1, id);
        await page.waitForURL((address) => address.hash === `#preset=${id}`);
    }
    await change(() => page.uncheck("#causal"));
    await page.click("#pin button");
    await page.waitForURL((address) => address.hash === "#preset=needle&causal=0&row=none");
    await reopen(page.url());
    assert.equal(await page.isChecked("#causal"), false);
    assert.equal(await pinned(), 0);
    await choose("normaliser");
    await change(() => page.selectOption("#linear-feature_map", "elu1"));
    await page.waitForURL((address) => address.hash.includes("linear.feature_map=elu1"));
    await reopen(page.url());
    assert.equal(await page.inputValue("#linear-feature_map"), "elu1");
});

/** The preset's model comes as something else. */
async function chooseBroken(id) {
    await page.route(`**/${id}-*.model`, (route) => route.fulfill({ body: "no model" }));
    await page.click(`[data-preset=${id}]`);
    await page.locator("#input-problem:visible").waitFor();
}

test("a preset that does not load leaves nothing behind: not of its own, nor of the one before", async () => {
    await change(() => page.fill("#sketch-size", "24"));
    await chooseBroken("arithmetic-softmax");
    assert.equal(await page.isChecked("#causal"), false);
    assert.equal(await page.inputValue("#sketch-size"), "24", "as the reader had it");
    await choose("copy");
    await chooseBroken("lis-linear");
    assert.equal(await page.isChecked("#causal"), false);
    assert.equal(await page.inputValue("#linear-feature_map"), "elu1");
    assert.equal(await page.locator("#pin:visible").count(), 0, "no query is there");
    await page.waitForURL((url) => url.hash.includes("preset=none") || !/preset=/.test(url.hash));
});

test("files are not computed with what a preset set", async () => {
    await choose("saturated");
    assert.equal(await page.isChecked("#causal"), true);
    await change(() => drop({ "x.npy": randomNpy([90, 8], 1) }));
    assert.equal(await page.isChecked("#causal"), false);
    assert.equal(await page.inputValue("#linear-feature_map"), "elu1");
    assert.equal(await page.locator("#pin:visible").count(), 0);
});

/** What the button saves of the input: {q, k, v}, by role. */
async function savedArrays() {
    const files = [];
    const keep = (file) => files.push(file);
    page.on("download", keep);
    await page.click(".preset-source .save");
    while (files.length < 3) await page.waitForEvent("download");
    page.off("download", keep);
    const entries = files.map(async (file) => {
        const chunks = await (await file.createReadStream()).toArray();
        return [file.suggestedFilename(), await readNpy(Buffer.concat(chunks))];
    });
    return Object.fromEntries(await Promise.all(entries));
}

test("a preset's arrays can be saved", async () => {
    await choose("copy");
    const arrays = await savedArrays();
    assert.deepEqual(Object.keys(arrays).sort(), ["k.npy", "q.npy", "v.npy"]);
    const { data, shape } = arrays["q.npy"];
    assert.deepEqual([...shape], [1, 1, 32, 32]);
    assert.equal(data[32 * 3 + 3], Math.fround(12 * Math.sqrt(32)));
});

/** The heads of the language model's first layer as C has them. */
async function dumped(text) {
    const folder = await mkdtemp(join(tmpdir(), "attn-page-"));
    const names = ["q", "k", "v"].map((role) => `${role}.npy`);
    const to = names.flatMap((name) => [`--${name[0]}`, join(folder, name)]);
    await run(cli, ["lab", "dump", "text", text, "--attention", "softmax", "--layer", "1", ...to]);
    const arrays = names.map(async (name) => [
        name,
        await readNpy(await readFile(join(folder, name))),
    ]);
    const found = Object.fromEntries(await Promise.all(arrays));
    await rm(folder, { recursive: true });
    return found;
}

const isSummary = (words) =>
    page.locator("#summary", { hasText: words }).waitFor({ state: "attached" });

test("the language model reads what is written, as C does", { skip: !cli && noCli }, async () => {
    await choose("text-softmax");
    const sentence = "And God said, Let there be light: the ship’s captain slept.";
    const wanted = await dumped(sentence);
    await page.fill("#sentence", sentence);
    await isSummary(`${wanted["q.npy"].shape.at(-2)} queries`);
    const found = await savedArrays();
    for (const [name, { data, shape }] of Object.entries(wanted)) {
        assert.deepEqual([...found[name].shape], [1, ...shape], name);
        const most = data.reduce((largest, number) => Math.max(largest, Math.abs(number)), 0);
        const isOff = (number, i) => Math.abs(number - data[i]) > rounding * most;
        assert.equal(found[name].data.findIndex(isOff), -1, name);
    }
    await page.waitForFunction(() => location.hash.includes("sentence=And+God"));
    await reopen(new URL(page.url()).hash);
    assert.equal(await page.inputValue("#sentence"), sentence);
    await isSummary(`${wanted["q.npy"].shape.at(-2)} queries`);
    assert.equal(await page.getAttribute("[data-preset=text-softmax]", "aria-pressed"), "true");
});

test("of a long text the model says what it sees, and of none that there is none", async () => {
    await reopen("#preset=text-softmax");
    await page.fill("#sentence", "the whale and the sea ".repeat(80));
    await isSummary(/the model sees the last (\d+) of (?!\1\b)\d+ tokens/);
    await page.fill("#sentence", "  ");
    await page.locator("#input-problem", { hasText: "nothing to read" }).waitFor();
    await isSummary("of"); // what was there stays
    await page.fill("#sentence", "A whale.");
    await page.locator("#input-problem").waitFor({ state: "hidden" });
});

test("an example that there is not is said to be none, and the page shows the text", async () => {
    await reopen("#preset=nowhere");
    assert.match(await page.textContent("#text-note"), /example “nowhere”, which there is not/);
    assert.equal(await page.locator(".text-source").isVisible(), true);
    await reopen("#preset=none");
    assert.equal(await page.locator("#text-note").isVisible(), false);
});

testOrigins();
