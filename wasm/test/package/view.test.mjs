/* <attn-view> in Chromium, under the policy that docs/hosting.md asks for: its numbers, its words and its keys. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { embed } from "libattn/data";
import { init } from "libattn";
import { summarize, topKeys } from "libattn/view";
import { colorize, paletteOf, RAMPS, rootPlace } from "libattn/view/words";
import { launchChromium } from "../../../web/test/support/browser.mjs";
import { watchRest } from "../../../web/test/support/rest.mjs";
import { assertClose } from "../support.mjs";
import { readmeExample } from "./projects.mjs";
import { serve } from "./server.mjs";

const folder = fileURLToPath(new URL("../..", import.meta.url));
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const [, policy] = readFileSync(`${folder}/docs/hosting.md`, "utf8").match(
    /```text\n(script-src .*)\n```/,
);
const text = "the cat sat on the mat";

const PAGE = `<!doctype html><html lang="en"><title>x</title><main><h1>x</h1>
    <attn-view id="sparse" text="${text}" backend="sparse" params='{ "block": 2 }' dim="16"></attn-view>
    <attn-view id="bare"></attn-view></main><script type="module" src="/main.js"></script>`;
const MAIN = `
    import { defineView } from "/dist/view.js";
    document.querySelector("#bare").text = "early"; // before the page knows the element
    defineView();
    defineView();`;

/* README's page and program. */
const readme = () => ({
    "/readme.html": `<!doctype html>${readmeExample("<attn-view", "html").replace("main.js", "readme.js")}`,
    "/readme.js": readmeExample('"libattn/view"').replace("libattn/view", "/dist/view.js"),
});

let server, browser, page;
const workers = [];
before(async () => {
    server = await serve(folder, {
        texts: { ...{ "/page.html": PAGE, "/main.js": MAIN }, ...readme() },
        policy: `${policy}; style-src 'self'`,
    });
    browser = await launchChromium();
    const context = await browser.newContext();
    await watchRest(context);
    page = await context.newPage();
    page.on("worker", (worker) => workers.push(worker.url()));
    await page.goto(`${server.base}/page.html`);
});
after(async () => {
    await browser?.close();
    server.close();
});

/** Changes a view, and what it then shows, in words and numbers. */
function change(id, properties = {}) {
    return page.evaluate(
        async ([name, given]) => {
            const view = document.getElementById(name);
            const arrays = given.arrays && { ...given.arrays };
            for (const each of ["query", "key", "value"]) {
                const { data, shape } = arrays?.[each] ?? {};
                if (data) arrays[each] = { data: Float32Array.from(data), shape };
            }
            Object.assign(view, given, arrays && { arrays });
            while (view.ariaBusy !== "false")
                await new Promise((resolve) =>
                    view.addEventListener("update", resolve, { once: true }),
                );
            const part = (selector) => view.shadowRoot.querySelector(selector);
            return {
                weights: view.weights && Array.from(view.weights),
                problem: view.problem,
                said: part(".problem").hidden ? null : part(".problem").textContent,
                role: part(".frame").getAttribute("role"),
                label: part(".frame").ariaLabel,
                isShown: !part(".frame").hidden,
                readout: part(".readout").textContent,
            };
        },
        [id, properties],
    );
}

async function expected(options) {
    const attn = await init();
    const { x, rows } = await embed(text, 16);
    const plan = attn.plan({ queries: rows, dim: 16, ...options });
    const weights = plan.weights({ query: x, key: x });
    const { out } = plan.run({ query: x, key: x, value: x });
    const error = plan.error({ query: x, key: x, value: x, out });
    attn.dispose();
    return { x, rows, weights, error };
}

/**
 * Builds of more and less vectors sum in another order: a logit of d terms is off by (d + 2) u of its terms' sizes,
 * and a weight by twice as much of itself (Higham, Accuracy and Stability, section 3.1), with some u of exp and sums.
 */
function near(got, wanted, { query, key = query, dim, scale = 1 / Math.sqrt(dim) }) {
    const largest = (x) => x.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const terms = dim * largest(query) * largest(key) * scale;
    const bound = 2 ** -24 * (4 * (dim + 2) * terms + 16);
    assertClose(
        got,
        wanted,
        wanted.map(() => bound),
        "weights",
    );
}

test("a text under a backend with parameters: the library's weights, and words that say what is seen", async () => {
    const { x, weights, error } = await expected({ backend: "sparse", params: { block: 2 } });
    const seen = await change("sparse");
    near(seen.weights, weights, { query: x, dim: 16 });
    const { diagonal, column } = summarize(weights, 6);
    assert.equal(seen.role, "img");
    assert.ok(seen.label.startsWith("sparse: 6 × 6 weights; "), seen.label);
    assert.match(seen.label, new RegExp(`${Math.round(100 * diagonal)} % on the diagonal`));
    assert.match(seen.label, new RegExp(`most looked at “${text.split(" ")[column.key]}”`));
    assert.match(seen.label, new RegExp(`error against exact ${Number(error.toPrecision(3))}`));
    assert.ok(seen.label.startsWith(seen.readout));
});

test("properties are attributes, and what changes together is computed once", async () => {
    const { x, weights } = await expected({ causal: true, scale: 0.5 });
    const updates = await page.evaluate(async () => {
        const view = document.querySelector("#sparse");
        let count = 0;
        view.addEventListener("update", () => count++);
        Object.assign(view, { backend: "softmax", params: null, causal: true, scale: 0.5 });
        const { outerHTML } = view;
        await new Promise((resolve) => view.addEventListener("update", resolve, { once: true }));
        await globalThis.unrest.ended(); // or more updates would come
        return [count, outerHTML];
    });
    assert.equal(updates[0], 1);
    assert.match(updates[1], /backend="softmax" .*causal="" scale="0.5"/);
    const logits = { query: x, dim: 16, scale: 0.5 };
    near((await change("sparse")).weights, weights, logits);
    await page.evaluate(() => document.querySelector("#sparse").removeAttribute("causal"));
    const whole = await expected({ scale: 0.5 });
    near((await change("sparse")).weights, whole.weights, logits);
});

test("arrays of several heads, with keys of fewer, and names for both", async () => {
    const attn = await init();
    const numbers = (count, by) => Array.from({ length: count }, (_, i) => Math.sin(by * i));
    const [query, key] = [numbers(2 * 3 * 4, 1), numbers(5 * 4, 2)];
    const plan = attn.plan({ heads: 2, kvHeads: 1, queries: 3, keys: 5, dim: 4 });
    const [q, k] = [query, key].map((each) => Float32Array.from(each));
    const weights = plan.weights({ query: q, key: k, head: 1 });
    attn.dispose();
    const arrays = {
        query: { data: query, shape: [2, 3, 4] },
        key: { data: key, shape: [1, 5, 4] },
        tokens: ["a", "b", "c"],
        keyTokens: ["v", "w", "x", "y", "z"],
    };
    const seen = await change("bare", { arrays, head: 1 });
    near(seen.weights, weights, { query, key, dim: 4 });
    assert.doesNotMatch(seen.label, /diagonal|error/); // not square, and no values
    assert.match(seen.label, /largest “[abc]” → “[v-z]”/);
});

test("keys move from cell to cell, which is read out with the largest of its row", async () => {
    await change("bare", { arrays: null, text, head: null, dim: 16 });
    const { weights } = await expected({});
    const frame = page.locator("#bare .frame");
    await frame.focus();
    for (const key of ["ArrowDown", "End", "ArrowLeft"]) await page.keyboard.press(key);
    const readout = page.locator("#bare .readout");
    const words = await readout.textContent();
    assert.match(words, /^“cat” → “the”: /);
    const value = weights[6 + 4];
    assert.ok(Math.abs(Number(/: ([\d.e-]+);/.exec(words)[1]) - value) <= 0.005 * value, words);
    const [first] = topKeys(weights.subarray(6, 12));
    assert.match(words, new RegExp(`most: “${text.split(" ")[first.key]}” `));
    assert.equal(await readout.getAttribute("aria-live"), "polite");
    await page.keyboard.press("Control+ArrowDown"); // the browser's, as Alt and an arrow are
    assert.equal(await readout.textContent(), words);
    await page.keyboard.press("Escape");
    assert.match(await readout.textContent(), /^softmax: 6 × 6 weights/);
    await frame.hover({ position: { x: 3, y: 3 } });
    assert.match(await readout.textContent(), /^“the” → “the”: /);
    await page.mouse.move(0, 0);
});

test("words are the page's: said at once, also of what is wrong, and English where there are none", async () => {
    const shown = (set) =>
        page.evaluate((name) => {
            const view = document.querySelector("#bare");
            view.words = {
                none: null,
                some: { diagonal: (share) => `diagonal ${share}` },
                all: {
                    token: (token) => `„${token}“`,
                    weights: (...args) => args.join(),
                    diagonal: (share) => `D ${share}`,
                    column: (key, share) => `C ${key} ${share}`,
                    largest: (query, key, weight) => `L ${query} ${key} ${weight}`,
                    error: (error) => `E ${error}`,
                    keys: "K",
                    top: (keys) => `T ${keys}`,
                    problem: (problem) => `P ${problem}`,
                },
            }[name];
            const part = (selector) => view.shadowRoot.querySelector(selector);
            const [label, readout, wrong] = [".frame", ".readout", ".problem"].map(part);
            return {
                lang: part("figure").lang,
                label: label.ariaLabel,
                readout: readout.textContent,
                wrong: wrong.textContent,
            };
        }, set);
    await change("bare", { ...{ arrays: null, params: null, head: null }, text, dim: 16 });
    const english = await shown("none");
    assert.equal(english.lang, "en");
    const [, share] = /(\d+ %) on the diagonal/.exec(english.label);
    const all = await shown("all");
    assert.match(
        all.label,
        /^softmax,false,6,6; D \d+ %; C „\w+“ \d+ %; L „\w+“ „\w+“ [\d.]+; E [\d.e-]+\. K$/,
    );
    assert.deepEqual([all.lang, all.label], ["", `${all.readout} K`]);
    const { label } = await shown("some");
    assert.equal(label, english.label.replace(`${share} on the diagonal`, `diagonal ${share}`));

    await page.locator("#bare .frame").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowDown");
    assert.match((await shown("all")).readout, /^„cat“ → „the“: [\d.]+; T „/);
    assert.match((await shown("none")).readout, /^“cat” → “the”: [\d.]+; most: “/);
    await page.keyboard.press("Escape");

    const { problem } = await change("bare", { text: " " });
    assert.equal((await shown("all")).wrong, `P ${problem}`);
    const { said } = await change("bare", { text: "\n" });
    assert.equal(said, `P ${problem}`, "and what comes later");
    assert.equal((await shown("none")).wrong, problem);
    await change("bare", { text });
});

test("it has several names, and the same one twice does no harm", async () => {
    const names = ["attn-view", "attn-one", "attn-two", "attn-two"];
    const are = await page.evaluate(async (names) => {
        const { AttnView, defineView } = await import("/dist/view.js");
        for (const name of names) defineView(name);
        return names.map((name) => document.createElement(name) instanceof AttnView);
    }, names);
    assert.deepEqual(are, [true, true, true, true]);
});

test("words that are there before the page knows the element count", async () => {
    const label = await page.evaluate(async () => {
        const view = document.createElement("attn-early");
        view.words = { keys: "KEYS" };
        document.body.append(view);
        const { AttnView } = await import("/dist/view.js");
        customElements.define("attn-early", class extends AttnView {});
        view.text = "some words";
        await new Promise((resolve) => view.addEventListener("update", resolve, { once: true }));
        const { ariaLabel } = view.shadowRoot.querySelector(".frame");
        view.remove();
        return ariaLabel;
    });
    assert.match(label, /KEYS$/);
});

test("what is wrong is said in the picture's place, and the next input is shown again", async () => {
    const square = { data: [1, 2, 3], shape: [2, 2] };
    const ones = (...shape) => ({ data: Array(shape.reduce((a, b) => a * b)).fill(1), shape });
    for (const [given, words] of [
        [{ backend: "softmux" }, /softmux/],
        [{ backend: null, text: " " }, /no text/],
        [{ text, dim: 1 }, /dim is 1, must be at least 2/],
        [{ dim: 16, arrays: { query: square, key: square } }, /query has 3 elements/],
        [{ arrays: { query: ones(2, 4), key: ones(2, 1, 3, 2) } }, /key.shape is \(2, 1, 3, 2\)/],
        [
            { arrays: { query: ones(2, 4), key: ones(3, 4), value: ones(2, 3) } },
            /value.shape is \(2, 3\)/,
        ],
        [{ arrays: null, text: "a ".repeat(1025) }, /1025 x 1025/],
        [{ text, head: 3 }, /head/],
    ]) {
        const { problem, said, weights, isShown } = await change("bare", given);
        assert.match(problem, words);
        assert.deepEqual([said, weights, isShown], [problem, null, false]);
    }
    await page.evaluate(() => document.querySelector("#bare").setAttribute("params", "{"));
    assert.match((await change("bare", { head: null })).problem, /params is no JSON: \{/);
    const { problem, said, isShown } = await change("bare", { params: null });
    assert.deepEqual([problem, said, isShown], [null, null, true]);
});

test("weights below zero and those that are no numbers have colours of their own", async () => {
    const colours = await page.evaluate(async () => {
        const view = document.querySelector("#bare");
        const numbers = Float32Array.from([1, -1, 1, NaN]);
        const query = { data: numbers, shape: [4, 1] };
        Object.assign(view, { arrays: { query, key: query }, backend: "linear", causal: false });
        view.params = { feature_map: "lin", normaliser: "off" };
        await new Promise((resolve) => view.addEventListener("update", resolve, { once: true }));
        const canvas = view.shadowRoot.querySelector(".weights");
        const { data } = canvas.getContext("2d").getImageData(0, 0, 4, 4);
        const at = (i) => data.slice(4 * i, 4 * i + 3).join();
        return { problem: view.problem, at: [0, 1, 2, 3].map(at) };
    });
    assert.equal(colours.problem, null);
    const [above, below, again, broken] = colours.at;
    assert.equal(above, again);
    assert.equal(new Set([above, below, broken]).size, 3);
});

test("colours are those of the ramp, along the root of weights, or the page's own", async () => {
    await change("bare", { arrays: null, params: null, backend: null, causal: true, text });
    const drawn = (own) =>
        page.evaluate(async (own) => {
            const view = document.querySelector("#bare");
            for (const [name, value] of Object.entries(own)) view.style.setProperty(name, value);
            view.text += " "; // it is drawn anew
            await new Promise((done) => view.addEventListener("update", done, { once: true }));
            const canvas = view.shadowRoot.querySelector(".weights");
            const { data } = canvas.getContext("2d").getImageData(0, 0, 6, 6);
            view.removeAttribute("style");
            return { weights: Array.from(view.weights), pixels: Array.from(data) };
        }, own);
    const wanted = (weights, ramp) => {
        const pixels = new Uint8ClampedArray(4 * weights.length);
        const place = (weight) => rootPlace(weight, Math.max(...weights));
        colorize(Float32Array.from(weights), place, paletteOf(ramp), pixels);
        return Array.from(pixels);
    };
    const { weights, pixels } = await drawn({});
    assert.deepEqual(pixels, wanted(weights, RAMPS.light));
    const own = { "--attn-above": "rgb(0 128 0)", "--attn-paper": "white" };
    const ramp = { ...RAMPS.light, above: ["#ffffff", "#008000"] };
    assert.deepEqual((await drawn(own)).pixels, wanted(weights, ramp));
    await change("bare", { causal: false });
});

test("README's example: an element of its page, and one of its program", async () => {
    const example = await browser.newPage();
    const line = example.waitForEvent("console");
    await example.goto(`${server.base}/readme.html`);
    const part = Number((await line).text());
    assert.ok(part > 0 && part < 1, `${part}`);
    const shown = await example.$$eval("attn-view", (views) => views.map(({ problem }) => problem));
    assert.deepEqual(shown, [null, null]);
    await example.close();
});

test("colours follow what the reader prefers", async () => {
    const colour = ([isWanted, of]) => {
        const canvas = document.querySelector("#sparse").shadowRoot.querySelector(".weights");
        const shown = canvas.getContext("2d").getImageData(0, 0, 1, 1).data.join();
        return isWanted === (shown === of) && shown;
    };
    // a preference matches before its change is told: what is drawn is waited for
    const becomes = (...wanted) => page.waitForFunction(colour, wanted);
    await page.evaluate(() => (document.documentElement.style.colorScheme = "light dark"));
    const light = await page.evaluate(colour, [false, ""]);
    await page.emulateMedia({ colorScheme: "dark" });
    await becomes(false, light);
    await page.emulateMedia({ colorScheme: "light" });
    await becomes(true, light);
});

test("axe finds nothing, and one worker serves all views until the last one goes", async () => {
    await change("bare", { arrays: null, params: null, backend: null, text });
    await page.evaluate(axe);
    const found = await page.evaluate(async () => (await globalThis.axe.run()).violations);
    assert.deepEqual(
        found.map(({ id, nodes }) => [id, nodes.map(({ target }) => target)]),
        [],
    );
    assert.equal(workers.length, 1);
    const [worker] = page.workers();
    const closed = worker.waitForEvent("close");
    await page.evaluate(() => {
        for (const view of document.querySelectorAll("attn-view")) view.remove();
    });
    await closed;
});

test("what is said of weights: the diagonal, the column, the largest, and what is no number", () => {
    const weights = Float32Array.from([0.5, -1, 0, NaN, 0.25, 0.25]);
    const summary = summarize(weights, 3);
    assert.equal(summary.diagonal, 0.75 / 2);
    assert.deepEqual(summary.column, { key: 1, part: 1.25 / 2 });
    assert.deepEqual(summary.largest, { query: 0, key: 1, weight: -1 });
    assert.equal(summary.nonfinite, 1);
    assert.deepEqual(summarize(new Float32Array(4), 2).column, null);
    assert.deepEqual(
        topKeys(weights, 2).map(({ key }) => key),
        [1, 0],
    );
});
