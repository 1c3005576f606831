/** The story: ten steps, whose numbers are the library's, and which end at the playground. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, test } from "node:test";
import { promisify } from "node:util";
import { readNpy } from "libattn/data";
import { loadModel } from "libattn-labs/models";
import { cli, noCli } from "../support/cli.mjs";
import { rested } from "../support/rest.mjs";
import { openSite } from "../support/site.mjs";
import { jsonOf, lines, look, take as takeFrom } from "../support/taking.mjs";

const run = promisify(execFile);
const site = openSite();
const steps = "scores shares all sparse linear sketch needle saturated outliers costs".split(" ");
let page;
let complaints = [];

afterEach(async () => {
    await page?.close();
    assert.deepEqual(complaints, []);
});

const usual = "the cat sat on the mat and the dog sat on the cat";

async function open(hash = `#${new URLSearchParams({ text: usual })}`) {
    complaints = [];
    page = await site.newPage({ viewport: { width: 1200, height: 900 } });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (line) => {
        if (["error", "warning"].includes(line.type())) complaints.push(line.text());
    });
    await page.goto(`${site.url}story.html${hash}`);
}

/** The numbers that a step tells, once it is seen and drawn. */
async function numbers(step) {
    await page.locator(`#${step}`).scrollIntoViewIfNeeded();
    await page.waitForSelector(`#${step}[aria-busy=false] .words data`);
    const all = page.locator(`#${step} .words data`);
    return all.evaluateAll((each) => each.map(({ value }) => Number(value)));
}

/** Until a step is in the middle of what is seen: steps above it that are drawn meanwhile move it. */
async function seen(step) {
    const there = (id) => {
        document.querySelector(`#${id}`).scrollIntoView({ block: "center" });
        return document.querySelector("#steps [aria-current]")?.hash === `#${id}`;
    };
    await page.waitForFunction(there, step, { polling: 200 });
}

async function change(step, selector, value) {
    await page.locator(`#${step}`).evaluate((section) => (section.ariaBusy = "true"));
    await page.fill(selector, value);
    await page.waitForSelector(`#${step}[aria-busy=false]`);
}

/** What a step's one Save gives. */
async function take(page, root, format) {
    await unfold(root);
    return takeFrom(page, root, format);
}

const unfold = (root) => root.locator(".saving").evaluate((fold) => (fold.open = true));

test("it begins with a trained head, whose map stands beside its words, and a text takes its place", async () => {
    await open("");
    await numbers("scores");
    assert.equal(await page.inputValue("#text"), "");
    const { token, score } = await columns("scores");
    assert.deepEqual(token.slice(0, 3), ["17", "80", "23"]);
    const model = await loadModel("lis-softmax");
    const { query, key, shape } = model.solve("17 80 23 45 120 31 64 19 101 52");
    model.dispose();
    const [, heads, rows, dim] = shape;
    const head = (1 * heads + 1) * rows; // layer 2, head 2
    const q = query.subarray((head + rows - 1) * dim, (head + rows) * dim);
    score.forEach((each, j) => {
        const k = key.subarray((head + j) * dim, (head + j + 1) * dim);
        const parts = Array.from(q, (x, c) => (x * k[c]) / Math.sqrt(dim));
        const sum = parts.reduce((total, part) => total + part, 0);
        const size = parts.reduce((total, part) => total + Math.abs(part), 0);
        assert.ok(Math.abs(each - sum) <= 2 ** -24 * 2 ** 6 * (1 + size), `${each}, not ${sum}`);
    });
    for (const step of ["scores", "all", "sparse", "linear", "sketch"]) {
        await numbers(step);
        const [words, map] = await Promise.all(
            ["h2 + p", "canvas"].map((each) => page.locator(`#${step} ${each}`).boundingBox()),
        );
        assert.ok(map.x >= words.x + words.width, `${step}: beside`);
        assert.ok(map.width > 200 && map.height > 200);
    }
    assert.equal(await page.getAttribute("#sketch input", "max"), String(dim));
    assert.match(await page.getAttribute("#play", "href"), /^[^#]*(#.*preset=lis-softmax.*)?$/);
    await change("scores", "#text", "well then");
    await page.waitForFunction(() => document.querySelector("#row").max === "1");
    assert.equal(await page.getAttribute("#sketch input", "max"), "64");
    await change("scores", "#text", "");
    await page.waitForFunction(
        (most) => document.querySelector("#row").max === most,
        `${rows - 1}`,
    );
});

test("what is compared says which bars are whose, and all steps are in the list", async () => {
    await open();
    for (const [step, name] of [
        ["sparse", "Sparse"],
        ["needle", "Sparse"],
        ["saturated", "Linear"],
        ["outliers", "Sketch"],
    ]) {
        await numbers(step);
        const texts = await page.locator(`#${step} svg text`).allTextContents();
        assert.ok(texts.includes(`■ ${name}`) && texts.includes("Softmax"), `${texts}`);
    }
    const cut = await page.evaluate(() => {
        const list = document.querySelector("#steps");
        return list.scrollWidth - list.clientWidth;
    });
    assert.equal(cut, 0);
    await page.setViewportSize({ width: 390, height: 844 });
    await seen("outliers");
    const { left, right } = await page
        .locator("#steps [aria-current]")
        .evaluate((link) => link.getBoundingClientRect().toJSON());
    assert.ok(left >= 0 && right <= 390, `the step that is read is in sight: ${left} to ${right}`);
});

test("each step draws its figure and says its numbers", async () => {
    await open();
    for (const step of steps) {
        const told = await numbers(step);
        assert.ok(told.length > 0 && told.every(Number.isFinite), `${step}: ${told}`);
        await page.waitForFunction((id) => {
            const figure = document.querySelector(`#${id} .beside :is(svg, canvas)`);
            return figure?.getBoundingClientRect().height > 100;
        }, step);
    }
    const links = await page.locator("#steps a").count();
    assert.equal(links, steps.length);
});

test("no bar ends beyond the last number of its axis", async () => {
    await open();
    const [highest] = await numbers("scores");
    const ticks = await page
        .locator("#scores .figure svg text")
        .evaluateAll((all) => all.map(({ textContent }) => Number(textContent)));
    assert.ok(Math.max(...ticks.filter(Number.isFinite)) >= highest, `${ticks}: ${highest}`);
});

const part = (step) => page.locator(`#${step}`);

/** A step's table: each column's numbers, or words, by its name. */
async function columns(step) {
    const [head, ...rows] = lines(await take(page, part(step), "csv"));
    return Object.fromEntries(
        head.map((name, i) => {
            const cells = rows.map((row) => row[i]);
            return [name, name === "token" ? cells : cells.map(Number)];
        }),
    );
}

const off = (found, wanted) => Math.max(...wanted.map((each, i) => Math.abs(found[i] - each)));
const eps = 2 ** -23;

test("rows are saved with the numbers that are drawn: shares are of the scores, and all rows have them", async () => {
    await open();
    const text = "the cat sat on the mat and the dog sat on the cat".split(" ");
    const [highest] = await numbers("scores");
    const { key, token, score } = await columns("scores");
    assert.deepEqual(key, Array.from(text.keys()));
    assert.deepEqual(token, text);
    assert.equal(Math.max(...score), highest);
    const [largest] = await numbers("shares");
    const { weight } = await columns("shares");
    assert.equal(Math.max(...weight), largest);
    const sum = score.reduce((total, each) => total + Math.exp(each), 0);
    const wanted = score.map((each) => Math.exp(each) / sum);
    const bound = 8 * 64 * eps * (1 + Math.max(...score.map(Math.abs)));
    assert.ok(off(weight, wanted) <= bound, `${off(weight, wanted)}`);
    await numbers("all");
    const { data, shape } = await readNpy((await take(page, part("all"), "npy")).bytes);
    assert.deepEqual([...shape], [text.length, text.length]);
    assert.ok(off(data.subarray(12 * 13), weight) <= bound);
    assert.equal(data[1], 0, "causal");
    const told = jsonOf(await take(page, part("all"), "json"));
    assert.deepEqual(
        told.rows.map((row) => row[4]),
        [...data],
    );
    assert.deepEqual([told.text, told.query, told.causal], [text.join(" "), 12, true]);
    for (const step of ["sparse", "linear", "sketch"]) {
        const error = (await numbers(step)).at(-1);
        const own = jsonOf(await take(page, part(step), "json"));
        assert.deepEqual([own.backend, own.error], [step, error]);
        assert.deepEqual(own.columns, ["key", "token", "weight", "softmax"]);
        const exact = own.rows.map((row) => row[3]);
        assert.ok(off(exact, wanted) <= bound);
        assert.notDeepEqual(
            own.rows.map((row) => row[2]),
            exact,
        );
    }
});

test("presets and costs are saved, too", async () => {
    await open();
    for (const [step, backend] of [
        ["needle", "sparse"],
        ["saturated", "linear"],
        ["outliers", "sketch"],
    ]) {
        const told = await numbers(step);
        const { preset, error, ...saved } = jsonOf(await take(page, part(step), "json"));
        assert.deepEqual([preset, saved.backend], [step, backend]);
        assert.ok(told.includes(error), `${error} of ${told}`);
        assert.deepEqual(saved.columns, ["key", "token", "weight", "softmax"]);
        const total = saved.rows.reduce((sum, [, , , exact]) => sum + exact, 0);
        assert.ok(Math.abs(total - 1) < 1e-12, `${total}`);
    }
    const operations = await numbers("costs");
    const { tokens, flops } = await columns("costs");
    assert.equal(tokens.length, 15 * 4);
    const longest = flops.filter((_, i) => tokens[i] === 2 ** 20);
    assert.deepEqual(longest, operations);
});

test("each step's figure is saved as it is drawn", async () => {
    await open();
    await unfold(part("costs"));
    await part("costs").locator("[data-format=svg]").click();
    await part("costs").locator(".take [role=status]", { hasText: "nothing to save" }).waitFor();
    for (const [i, step] of steps.entries()) {
        if (i % 3 === 0) {
            await page.close(); // one is given ten files
            await open();
        }
        await numbers(step);
        const svg = await take(page, part(step), "svg");
        assert.equal(svg.name, `story-${step}.svg`);
        const text = String(svg.bytes).replace("http://www.w3.org/2000/svg", "");
        assert.doesNotMatch(text, /var\(|class=|http|url\(/, step);
        const { width, height, colours } = await look(page, svg, "image/svg+xml");
        assert.ok(colours > 20, `${step}: ${colours} colours`);
        const png = await look(page, await take(page, part(step), "png"), "image/png");
        assert.deepEqual([png.width, png.height], [2 * width, 2 * height], step);
        assert.ok(png.colours > 20, `${step}: ${png.colours} colours`);
    }
});

test("what breaks one backend does, and not softmax", async () => {
    await open();
    for (const [step, place] of [
        ["needle", 2],
        ["saturated", 1],
        ["outliers", 3],
    ]) {
        const [softmax, ...others] = await numbers(step);
        assert.ok(softmax < 1e-4, `${step}: softmax is ${softmax} off`);
        assert.ok(others[place - 1] > 0.5, `${step}: ${others}`);
    }
});

test("a row is the command line's, under each backend and what is chosen", async (t) => {
    if (!cli) return t.skip(noCli);
    const text = "one fish two fish red fish blue fish";
    await open(`#${new URLSearchParams({ text, row: "5.0" })}`);
    const folder = await mkdtemp(join(tmpdir(), "attn-story-"));
    t.after(() => rm(folder, { recursive: true }));
    const file = (name) => join(folder, name);
    await writeFile(file("text"), text);
    await run(cli, ["embed", file("text"), "--dim", "64", "-o", file("x.npy")]);
    const row = async (backend, ...settings) => {
        const arrays = ["q", "k", "v"].flatMap((name) => [`--${name}`, file("x.npy")]);
        const options = [...arrays, "--causal", ...settings.flatMap((each) => ["--set", each])];
        await run(cli, ["run", backend, ...options, "-o", file("o.npy")]);
        const bytes = await readFile(file("o.npy"));
        const numbers = new Float32Array(bytes.buffer.slice(bytes.byteOffset + 128));
        return numbers.subarray(5 * 64, 6 * 64);
    };
    const exact = await row("softmax");
    const norm = (x) => Math.hypot(...x);
    const errorOf = (out) => norm(out.map((x, i) => x - exact[i])) / norm(exact);
    const near = (told, expected) => {
        const most = 1e-4 * expected + 1e-5; // outputs are floats
        assert.ok(Math.abs(told - expected) < most, `${told}, not ${expected}`);
    };
    near((await numbers("sparse")).at(-1), errorOf(await row("sparse", "local=1")));
    near((await numbers("linear")).at(-1), errorOf(await row("linear")));
    near((await numbers("sketch")).at(-1), errorOf(await row("sketch", "size=32")));
    await change("sparse", "#sparse input", "2");
    near((await numbers("sparse")).at(-1), errorOf(await row("sparse", "local=2")));
    await change("sketch", "#sketch input", "8");
    near((await numbers("sketch")).at(-1), errorOf(await row("sketch", "size=8")));
    await page.locator("#linear").evaluate((section) => (section.ariaBusy = "true"));
    await page.selectOption("#feature_map", "relu");
    near((await numbers("linear")).at(-1), errorOf(await row("linear", "feature_map=relu")));
});

test("the link holds what was chosen, and the playground goes on from it", async () => {
    const text = "to be or not to be ".repeat(4).trim(); // which a link has packed
    await open();
    await numbers("scores");
    await change("scores", "#text", text);
    await page.waitForFunction(() => document.querySelector("#row").max === "23");
    await change("scores", "#row", "4");
    await page.uncheck("#causal");
    await numbers("sketch");
    await change("sketch", "#sketch input", "16");
    await page.waitForURL(/sketch\.size=16/); // the address follows
    await page.reload();
    await numbers("sketch");
    assert.equal(await page.inputValue("#text"), text);
    assert.equal(await page.inputValue("#sketch input"), "16");
    assert.equal(await page.inputValue("#row"), "4");
    assert.equal(await page.isChecked("#causal"), false);
    await numbers("costs");
    const next = await page.evaluate(() => {
        const row = document.querySelector("#row");
        for (const query of ["2", "3"]) {
            row.value = query;
            row.dispatchEvent(new Event("input"));
        }
        return document.querySelector("#play").href;
    });
    assert.match(next, /row=3\.3/, "before the address follows");
    await seen("costs");
    await page.waitForURL(/step=costs/);
    await page.click("#play");
    await page.waitForSelector("#panels .panel");
    assert.equal(await page.inputValue("#text"), text);
    assert.equal(await page.isChecked("#causal"), false);
    assert.equal(await page.inputValue("#sketch-size"), "16");
});

test("the step that is read is the one in the middle, however slowly one gets there", async () => {
    await open();
    await page.setViewportSize({ width: 1200, height: 1800 }); // several steps are seen as a whole
    for (const step of steps) await numbers(step);
    const wrong = await page.evaluate(async () => {
        const frame = () => new Promise(requestAnimationFrame);
        const wrong = [];
        for (let top = 0; top + innerHeight < document.body.scrollHeight; top += 30) {
            scrollTo(0, top);
            for (let frames = 0; frames < 3; frames++) await frame();
            const middle = document.elementsFromPoint(innerWidth / 2, innerHeight / 2);
            const section = middle.map((each) => each.closest("section[id]")).find(Boolean);
            const told = document.querySelector("#steps [aria-current]")?.hash;
            const { top: above, bottom: below } = section?.getBoundingClientRect() ?? {};
            const isOnEdge = innerHeight / 2 - above < 1 || below - innerHeight / 2 < 1;
            if (isOnEdge) continue; // a part of a pixel decides
            if (section && told !== `#${section.id}`)
                wrong.push(`${section.id}: ${told} at ${top}`);
        }
        return wrong;
    });
    assert.deepEqual(wrong, []);
});

test("of a link whose text is broken the story says so, and goes on with its own", async () => {
    await open("#packed=broken");
    await numbers("scores");
    assert.match(await page.textContent("#problem"), /^the link's text cannot be read/);
    assert.equal(await page.isVisible("#problem"), true);
    assert.equal(await page.inputValue("#text"), "", "the trained head");
});

test("wrong things: no text, one too long, links that are none", async () => {
    await open("#text=a+b&row=99.3&scale=x&step=nowhere&sparse.local=-4&length=1e99");
    assert.equal((await numbers("scores")).length, 1);
    await page.fill("#text", "word ".repeat(300));
    await page.locator("#problem:visible").waitFor();
    assert.match(await page.textContent("#problem"), /300 tokens, and the story 128 at most/);
    await page.fill("#text", " ");
    await page.locator("#problem", { hasText: "the text has no word in it" }).waitFor();
    await page.fill("#text", "well then");
    await page.locator("#problem").waitFor({ state: "hidden" });
});

test("a story that is only opened leaves its address alone, and a length that is chosen is in it", async () => {
    await open("");
    assert.ok((await numbers("scores")).length > 0);
    await rested(page); // an address follows after a moment
    assert.equal(page.url(), `${site.url}story.html`);
    await numbers("costs");
    await change("costs", "#length", "16");
    await page.waitForURL(/length=65536/);
    await open(new URL(page.url()).hash);
    await page.waitForFunction(() => document.querySelector("#length").value === "16");
});
