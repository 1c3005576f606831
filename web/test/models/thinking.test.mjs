/** The page of trained models: what they say, what it costs them, and what others make of their heads. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { promisify } from "node:util";
import { init } from "libattn";
import { readNpy } from "libattn/data";
import { loadModel } from "libattn-labs/models";
import { someOf } from "../../../wasm/test/share.mjs";
import { cli, noCli } from "../support/cli.mjs";
import { isPlaying, playUntil } from "../support/playing.mjs";
import { openSite } from "../support/site.mjs";
import { jsonOf, lines, look, take } from "../support/taking.mjs";

const run = promisify(execFile);

const site = openSite();
let page;
let complaints = [];
let asked = []; // addresses of models

afterEach(async () => {
    await page?.close();
    assert.deepEqual(complaints, []);
});

/** `options`: of its context; where nothing may move by itself, a thought is shown as a whole. */
async function open(choice = {}, options = { reducedMotion: "reduce" }) {
    complaints = [];
    asked = [];
    page = await site.newPage({ viewport: { width: 1400, height: 900 }, ...options });
    page.on("request", (request) => {
        if (request.url().endsWith(".model")) asked.push(request.url());
        if (!request.url().replace("blob:", "").startsWith(site.url))
            complaints.push(request.url());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (line) => {
        if (["error", "warning"].includes(line.type())) complaints.push(line.text());
    });
    await page.goto(`${site.url}thinking.html#${new URLSearchParams(choice)}`);
    await thought();
}

/** All is computed. */
async function thought() {
    await page.waitForSelector("main[aria-busy=false]");
}

async function ask(question) {
    await page.fill("#question", question);
    await page.press("#question", "Enter");
    await thought();
}

const shown = () => page.locator("#chain li:visible").allTextContents();
const words = () => page.textContent("#words");
const sizes = () =>
    page.locator("#kept data").evaluateAll((all) => all.map(({ value }) => Number(value)));
const errors = (line) =>
    page
        .locator(`.view [data-name=${line}] data`)
        .evaluateAll((all) => all.map(({ value }) => Number(value)));

/** Of the head that is chosen, rows of its small picture in which something is. */
const rowsSeen = () =>
    page.locator("#heads [aria-pressed=true] canvas").evaluate((canvas) => {
        const { width, height } = canvas;
        const copy = new OffscreenCanvas(width, height);
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const { data } = context.getImageData(0, 0, width, height);
        const pixel = (i) => data.slice(4 * i, 4 * i + 4).join();
        const paper = pixel(width - 1); // above the diagonal
        const rows = Array.from({ length: height }, (_, row) => row);
        return rows.filter((row) => rows.some((column) => pixel(row * width + column) !== paper))
            .length;
    });

/** What the address says once it has this part, which was chosen last. */
const link = async (last) => {
    await page.waitForURL(last);
    return Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1)));
};

for (const [model, question] of someOf("models held to the command line's", [
    ["arithmetic-softmax", "3 + 4 * 2"],
    ["lis-linear", "17 80 23 45 120 31"],
    ["ed-softmax", "ab ac"],
    ["ed_local-sparse", "ab ac"],
])) {
    test(`${model}: the same words, bytes and errors as the command line's`, async (t) => {
        if (!cli) return t.skip(noCli);
        const [task, attention] = model.split("-");
        await open({ model, question });
        assert.equal(asked.length, 1, "no other model is loaded");
        const options = [task, question, "--attention", attention];
        const { stdout } = await run(cli, ["lab", "solve", ...options, "--states"]);
        const [, learned] = /^it has (learned .*)\n/m.exec(stdout) ?? [];
        const [said, verdict, , , ...states] = stdout
            .replace(/^it has learned .*\n/m, "")
            .trimEnd()
            .split("\n");
        assert.deepEqual(await shown(), said.split(" "));
        assert.equal((await words()).includes(": right."), verdict.startsWith("right"));
        assert.ok((await words()).endsWith(learned ? `It has ${learned}.` : "."));
        const ahead = []; // of the command line: parameters' values, which may be as wide as addresses
        for (const [i, line] of states.entries()) {
            await page.fill("#token", String(i + 1));
            const [token, bytes] = line.trim().split(/\s+/);
            ahead.push(Number(bytes) - (await sizes())[0]);
            assert.ok((await words()).includes(`Token ${i + 1} of ${states.length}, “${token}”`));
        }
        assert.ok(ahead[0] >= 0 && ahead[0] < 100, `${ahead[0]} bytes`);
        assert.equal(new Set(ahead).size, 1, "bytes grow alike");
        const folder = await mkdtemp(join(tmpdir(), "attn-thinking-"));
        t.after(() => rm(folder, { recursive: true }));
        const lines = (await page.textContent(".command code")).split("\n");
        const script = `attn() { "$ATTN" "$@"; }\n${lines.slice(1).join("\n")} --json`;
        const env = { ...process.env, ATTN: cli };
        const compared = await run("bash", ["-ec", script], { cwd: folder, env });
        const { rows } = JSON.parse(compared.stdout.slice(compared.stdout.indexOf("{")));
        const names = await page
            .locator(".view")
            .evaluateAll((all) => all.map(({ dataset }) => dataset.backend));
        assert.deepEqual(new Set(names), new Set(rows.map(({ backend }) => backend)));
        assert.equal(names[0], attention);
        // f32: Q, K and V come of the model's sums, whose roundings another tier does in another order
        const tolerance = 2 ** -24 * 2 ** 6;
        (await errors("exact")).forEach((error, i) => {
            const row = rows.find(({ backend }) => backend === names[i]);
            assert.ok(
                Math.abs(error - row.error) <= tolerance * (1 + row.error),
                `${names[i]}: ${error}, not ${row.error}`,
            );
        });
        const own = await errors("own");
        assert.equal(own[0], 0);
        assert.ok(own.slice(1).every((error) => error > 0));
    });
}

test("tokens are read one by one, and heads grow by a row with each", async () => {
    await open();
    assert.match(await words(), /^Token 11 of 11.*The answer is 1: right\.$/);
    assert.equal(await rowsSeen(), 11);
    assert.equal(await page.isDisabled("#next"), true);
    for (let i = 0; i < 5; i++) await page.click("#back");
    assert.equal((await shown()).join(" "), "3 + 4 * 2 = 3");
    assert.match(await words(), /^Token 6 of 11, “=”, is read; the model says “3”\.$/);
    assert.equal(await rowsSeen(), 6);
    await page.click("#chain li:nth-child(2) button");
    assert.match(await words(), /the question goes on/);
    assert.equal((await shown()).join(" "), "3 + 4 * 2 =");
    assert.equal(await rowsSeen(), 2);
    await page.fill("#token", "11");
    await playUntil(page, "#words", "Token 8"); // from the question's end on
    assert.equal(await isPlaying(page), false);
    assert.match(await words(), /^Token 8 /);
});

test("a link has model, question, token and head, and shows them again", async () => {
    await open({ model: "lis-sparse", question: "40 12 90 33" });
    for (let i = 0; i < 3; i++) await page.click("#back");
    await page.click("#heads button:nth-child(7)");
    const said = [await words(), await page.textContent(".view.own .readout"), await sizes()];
    assert.match(await page.textContent("#views-title"), /^Layer 2, head 3/);
    const choice = await link(/layer=2.*head=3/);
    assert.deepEqual(Object.keys(choice), ["model", "question", "token", "layer", "head"]);
    await page.close();
    await open(choice);
    assert.deepEqual(
        [await words(), await page.textContent(".view.own .readout"), await sizes()],
        said,
    );
    assert.match(await page.textContent("#views-title"), /^Layer 2, head 3/);
});

const card = (id) => page.locator("section.card", { has: page.locator(`#${id}`) });

/** Weights of a model's heads, from its own queries and keys: one array for each head of each layer. */
async function computed(id, question, backend) {
    const model = await loadModel(id);
    const { query, key, shape, tokens } = model.solve(question);
    model.dispose();
    const [layers, heads, rows, dim] = shape;
    const problem = { batch: layers, heads, queries: rows, keys: rows, dim, causal: true };
    const plan = (await init()).plan({ backend, ...problem, scale: 1 / Math.sqrt(dim) });
    const weights = Array.from({ length: layers * heads }, (_, i) =>
        plan.weights({ query, key, batch: Math.floor(i / heads), head: i % heads }),
    );
    plan.dispose();
    return { weights, tokens, layers, heads, rows };
}

/** f32: Q and K come of the model's sums, whose roundings another tier does in another order. */
const near = (found, wanted) =>
    assert.ok(Math.abs(found - wanted) <= 2 ** -24 * 2 ** 6, `${found}, not ${wanted}`);

async function drawn(root, name) {
    const svg = await take(page, root, "svg");
    assert.equal(svg.name, `${name}.svg`);
    const text = String(svg.bytes).replace("http://www.w3.org/2000/svg", "");
    assert.doesNotMatch(text, /var\(|class=|http|url\(/);
    const { width, height } = await look(page, svg, "image/svg+xml");
    const png = await look(page, await take(page, root, "png"), "image/png");
    assert.deepEqual([png.width, png.height], [2 * width, 2 * height]);
    assert.ok(png.colours > 20, `${png.colours} colours`);
    return text;
}

test("heads are saved as they are drawn, with the weights of the tokens that are read", async () => {
    await open({ token: "6" });
    const question = await page.inputValue("#question");
    const { weights, layers, heads, rows, tokens } = await computed(
        "arithmetic-softmax",
        question,
        "softmax",
    );
    assert.equal(rows, 11);
    const text = await drawn(card("heads"), "thinking-heads");
    assert.equal(text.split('href="data:image/png;base64,').length - 1, layers * heads);
    assert.ok(text.includes(`>${layers}.${heads}</text>`));
    const { data, shape } = await readNpy((await take(page, card("heads"), "npy")).bytes);
    assert.deepEqual([...shape], [layers, heads, 6, rows]);
    const size = 6 * rows;
    data.forEach((weight, i) => near(weight, weights[Math.floor(i / size)][i % size]));
    const told = jsonOf(await take(page, card("heads"), "json"));
    assert.deepEqual(
        [told.model, told.question, told.tokensRead],
        ["arithmetic-softmax", question, 6],
    );
    const names = ["layer", "head", "query", "key", "query token", "key token", "weight"];
    assert.deepEqual(told.columns, names);
    told.rows.forEach(([layer, head, query, key, from, to, weight], i) => {
        assert.equal(((layer - 1) * heads + head - 1) * size + query * rows + key, i);
        assert.deepEqual([from, to, weight], [tokens[query], tokens[key], data[i]]);
    });
});

test("a head under another attention is saved as it is drawn, and what each has to keep", async () => {
    await open({ layer: "2", head: "3" });
    const { weights, heads, rows } = await computed("arithmetic-softmax", "3 + 4 * 2", "linear");
    const view = page.locator(".view[data-backend=linear]");
    const text = await drawn(view, "thinking-linear");
    assert.ok(text.includes(">queries</text>"));
    const { data, shape } = await readNpy((await take(page, view, "npy")).bytes);
    assert.deepEqual([...shape], [rows, rows]);
    data.forEach((weight, i) => near(weight, weights[heads + 2][i]));
    const [, ...cells] = lines(await take(page, view, "csv"));
    assert.deepEqual(
        cells.map((cell) => Number(cell[4])),
        [...data],
    );
    const told = jsonOf(await take(page, view, "json"));
    assert.deepEqual([told.backend, told.layer, told.head], ["linear", 2, 3]);
    const error = view.locator("[data-name=own] data");
    assert.equal(told.errorAgainstOwn, Number(await error.getAttribute("value")));
    assert.ok((await drawn(card("kept"), "thinking-kept")).includes(">softmax</text>"));
    const [head, ...kept] = lines(await take(page, card("kept"), "csv"));
    assert.deepEqual(head, ["backend", "tokens", "bytes"]);
    for (const token of [11, 4]) {
        await page.fill("#token", String(token));
        const bytes = kept.filter((row) => Number(row[1]) === token).map((row) => Number(row[2]));
        assert.deepEqual(bytes, await sizes());
    }
});

test("while another thought loads, what is shown chooses nothing for it", async () => {
    await open({ model: "lis-sparse", question: "40 12 90 33" });
    const disabled = await page.evaluate(() => {
        const model = document.querySelector("#model");
        model.value = "lis-softmax";
        model.dispatchEvent(new Event("change"));
        const controls = "#token, #play, #back, #next, #chain button, #heads button";
        return [...document.querySelectorAll(controls)].map((control) => control.disabled);
    });
    assert.ok(disabled.length > 12 && disabled.every(Boolean), `${disabled}`);
    await page.locator("#token:enabled").waitFor();
    await page.locator("#heads button:enabled").first().waitFor();
    assert.equal(await page.locator("#chain button:disabled").count(), 0);
});

test("the page opens playing: from the question's end to the answer, and then it rests", async () => {
    await open({}, {});
    await page.locator("#words", { hasText: "The answer is 1: right." }).waitFor();
    assert.equal(await page.textContent("#play"), "Play");
    assert.equal(await isPlaying(page), false);
    assert.equal(await rowsSeen(), 11);
    const said = await page.evaluate(() => {
        const [form, play, token] = ["#ask", "#play", "#token"].map((each) =>
            document.querySelector(each),
        );
        form.requestSubmit();
        return new Promise((resolve) => {
            const look = () =>
                play.textContent === "Pause"
                    ? resolve(Number(token.value))
                    : globalThis.unrest.requestAnimationFrame(look);
            look();
        });
    });
    assert.ok(said >= 6 && said < 11, `it plays from token 6 on, and is at ${said}`);
    assert.doesNotMatch(page.url(), /token=/, "what passes is not chosen");
    await page.click("#back");
    assert.equal(await isPlaying(page), false, "who steps by hand is left in peace");
    await link(/token=/);
});

test("a token that is chosen is a step: Back leads to the one before it", async () => {
    await open({ token: "11" });
    await page.click("#chain li:nth-child(8) button");
    await link(/token=8/);
    await page.click("#chain li:nth-child(3) button");
    await link(/token=3/);
    const says = (start) => page.locator("#words", { hasText: start }).waitFor();
    await page.goBack();
    await says("Token 8 of 11");
    await page.goForward();
    await says("Token 3 of 11");
    await thought();
    await page.click("#back");
    assert.match(await words(), /^Token 2 of 11/);
});

test("what is no question is refused in clear words, and the last picture stays", async () => {
    await open({ token: "9" });
    const last = [await shown(), await words(), await rowsSeen(), await errors("own")];
    for (const [question, reason] of [
        ["3 + 7", /7 is outside of the task's 0 to 4/],
        ["3 +", /a number is missing/],
        ["1 + 1 + 1 + 1", /operators/],
        ["", /missing|there is no/],
        ["(1 + 1", /\)|bracket/],
    ]) {
        await ask(question);
        assert.match(await page.textContent("#problem"), reason, question);
        assert.equal(await page.getAttribute("#question", "aria-invalid"), "true");
        assert.deepEqual(
            [await shown(), await words(), await rowsSeen(), await errors("own")],
            last,
        );
        assert.equal(await page.isDisabled("#play"), false);
        assert.equal(await page.locator("#chain button:disabled").count(), 0);
    }
    await page.click("#next");
    assert.match(await words(), /^Token 10 of 11/);
    await ask("(3 + 4) * 2");
    assert.equal((await shown()).join(" "), "( 3 + 4 ) * 2 = 2 * 2 = 4 <eos>");
    assert.equal(await page.isVisible("#problem"), false);
    assert.equal(await page.getAttribute("#question", "aria-invalid"), null);
    await page.selectOption("#model", "lis-softmax");
    await page.waitForFunction(() => document.querySelector("#chain").textContent.includes("80"));
    await thought();
    await ask("17 3");
    assert.match(await page.textContent("#problem"), /3 is outside of the task's 11 to 149/);
});

test("what an edit costs is said in plain words", async () => {
    await open({ model: "ed-linear" });
    const asks = await page.textContent("#asks");
    assert.match(asks, /to add or drop a letter costs 2 and to replace one 3/);
});

for (const [model, lengths, taken, refused] of [
    ["ed-linear", /shorter of 1 to 2 letters, the longer of at most 4:/, "a abcd", "ab abcde"],
    [
        "ed_local-linear",
        /shorter of 1 to 2 letters, the longer of at most 1 more:/,
        "abc ab",
        "a abc",
    ],
    [
        "ed_local-softmax",
        /shorter of 1 to 3 letters, the longer of at most 2 more:/,
        "abc abcde",
        "a abcd",
    ],
]) {
    test(`${model}: questions are of the lengths that are told`, async () => {
        await open({ model, question: taken });
        assert.match(await page.textContent("#asks"), lengths);
        assert.equal(await page.locator("#problem:visible").count(), 0);
        await ask(refused);
        assert.equal(await page.locator("#problem:visible").count(), 1);
    });
}

test("a wrong thought is told where it goes wrong", async () => {
    await open({ model: "ed-softmax", question: "ab ac" });
    assert.match(
        await words(),
        /Its answer is 2: wrong, it is 3\. It has learned pairs with a word of exactly 3 letters only\.$/,
    );
    const wrong = await page.locator("#chain .wrong").allTextContents();
    assert.ok(wrong.length > 0);
    await page.fill("#token", "8");
    assert.match(await words(), /wrong: “,” is due|ought to/);
});

test("a link that says nothing that there is shows the first model", async () => {
    await open({ model: "none", token: "x", layer: "99", head: "0" });
    assert.equal(await page.inputValue("#model"), "arithmetic-softmax");
    assert.match(await page.textContent("#views-title"), /^Layer 3, head 1/);
});

test("cells are read by the keyboard, in all views at once", async () => {
    await open();
    const canvas = page.locator(".view canvas").first();
    await canvas.focus();
    await page.keyboard.press("ArrowDown");
    const readings = await page.locator(".view .readout").allTextContents();
    assert.equal(readings.length, 4);
    assert.ok(readings.every((text) => text.startsWith("“+” → “3”")));
    await page.keyboard.press("Escape");
    assert.match(await page.locator(".view .readout").first().textContent(), /^most: “1” →/);
});

test("a link to what is no question says so, and shows nothing", async () => {
    await open({ question: "3 + 7" });
    assert.match(await page.textContent("#problem"), /7 is outside/);
    assert.deepEqual([await shown(), await page.locator(".view").count()], [[], 0]);
    assert.equal(await page.isDisabled("#play"), true);
    await ask("3 + 4 * 2");
    assert.match(await words(), /The answer is 1: right/);
});
