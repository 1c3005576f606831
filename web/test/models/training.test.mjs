/** The page where models learn: the command line's losses, pauses, and words for wrong settings. */

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { afterEach, test } from "node:test";
import { init } from "libattn";
import { readNpy } from "libattn/data";
import { createStudy } from "libattn-labs/training";
import { rested } from "../support/rest.mjs";
import { openSite } from "../support/site.mjs";
import { jsonOf, lines, look, take } from "../support/taking.mjs";

const file = new URL("../../src/training/recorded.json", import.meta.url);
const recorded = JSON.parse(await readFile(file, "utf8"));

const site = openSite();
let page;
let complaints = [];

afterEach(async () => {
    await page?.close();
    assert.deepEqual(complaints, []);
});

async function open(hash = "") {
    complaints = [];
    page = await site.newPage({ viewport: { width: 1400, height: 900 } });
    page.on("request", (request) => {
        if (!request.url().replace("blob:", "").startsWith(site.url))
            complaints.push(request.url());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (line) => {
        if (["error", "warning"].includes(line.type())) complaints.push(line.text());
    });
    await page.goto(`${site.url}training.html#${hash}`);
    for (const attention of ["softmax", "linear"]) await reaches(attention, 0);
}

/** That model has taken so many steps. */
async function reaches(attention, steps) {
    const [selector, least] = [`[data-attention=${attention}] [data-name=step] data`, steps];
    await page.waitForFunction(
        ([where, count]) => {
            const data = document.querySelector(where);
            return data !== null && Number(data.value) >= count;
        },
        [selector, least],
    );
}

const value = async (attention, name) =>
    Number(
        await page
            .locator(`[data-attention=${attention}] [data-name=${name}] data`)
            .getAttribute("value"),
    );

/** Of all heads, their pixels. */
const pictures = () =>
    page
        .locator(".heads canvas")
        .evaluateAll((all) => all.map((canvas) => canvas.toDataURL()).join());

async function pause() {
    await page.click("#go");
    assert.equal(await page.textContent("#go"), "Train");
    await rested(page); // a piece that had begun is told yet
}

test("it opens with a recorded run in grey, which the library trains again", async () => {
    await open();
    for (const [id, part] of [
        ["loss", "losses"],
        ["answers", "answers"],
    ]) {
        const lines = page.locator(`#${id} .recorded path`);
        assert.equal(await lines.count(), 2, id);
        for (const [i, attention] of ["softmax", "linear"].entries()) {
            const d = await lines.nth(i).getAttribute("d");
            assert.equal(d.split("L").length, recorded.arithmetic.runs[attention][part].length);
        }
    }
    assert.match(await page.textContent("#recorded"), /recorded with seed 1/);
    const commands = await page.textContent(".command code");
    const { seed, options, runs } = recorded.arithmetic;
    const { width, layers, heads, batch, samples, rate } = options;
    const told = `--d ${width} --layers ${layers} --heads ${heads} --batch ${batch} --samples ${samples} --rate ${rate} --seed ${seed}`;
    assert.ok(commands.includes(told), commands);
    const study = await createStudy({ ...options, attention: "softmax", seed });
    const [[steps, loss]] = runs.softmax.losses;
    const losses = study.train(steps);
    study.dispose();
    const mean = losses.reduce((sum, each) => sum + each, 0) / steps;
    assert.ok(Math.abs(mean / loss - 1) < 0.01, `${mean}, recorded ${loss}`); // three digits, and another tier's roundings
    await page.selectOption("#task", "lis");
    await rested(page);
    const first = await page.locator("#loss .recorded path").first().getAttribute("d");
    assert.equal(first.split("L").length, recorded.lis.runs.softmax.losses.length);
});

test("two models learn, pause and go on, by the steps of the command line", async () => {
    await open("task=arithmetic&seed=3");
    const untrained = await pictures();
    assert.equal(await value("softmax", "weights"), 7119);
    assert.equal(await value("linear", "step"), 0);
    const ticks = await page
        .locator("#loss svg [text-anchor=middle] text, #loss svg g text")
        .allTextContents();
    assert.ok(ticks.includes("1000") && !ticks.some((tick) => /\.0{3}/.test(tick)), `${ticks}`);
    await page.click("#go");
    for (const attention of ["softmax", "linear"]) await reaches(attention, 12);
    await pause();
    const paused = {};
    for (const attention of ["softmax", "linear"])
        paused[attention] = await value(attention, "step");
    assert.equal(await page.locator(".learner[aria-busy=true]").count(), 0);
    const { width, layers, heads } = { width: 16, layers: 2, heads: 2 };
    for (const attention of ["softmax", "linear"]) {
        const options = { task: "arithmetic", size: 2, attention, width, layers, heads };
        const study = await createStudy({ ...options, samples: 400, rate: 0.008, seed: 3 });
        const losses = study.train(paused[attention]);
        assert.equal(await value(attention, "loss"), losses.at(-1), attention);
        study.dispose();
    }
    await page.click("#go");
    for (const attention of ["softmax", "linear"])
        await reaches(attention, paused[attention] + 100);
    await pause();
    assert.notEqual(await pictures(), untrained, "maps change as it learns");
    assert.ok((await value("softmax", "loss")) < 1.5);
    assert.equal(await page.locator("#loss svg path[stroke]").count(), 2);
    assert.equal(await page.locator("#answers svg[role=img]").count(), 1);
    await page.click("#again");
    for (const attention of ["softmax", "linear"]) await reaches(attention, 0);
    assert.equal(await value("linear", "step"), 0);
    assert.equal(await pictures(), untrained, "the same seed begins alike");
});

const card = (id) => page.locator("section", { has: page.locator(`#${id}`) });
const learner = (attention) => page.locator(`[data-attention=${attention}]`);

async function isDrawn(root, name) {
    const svg = await take(page, root, "svg");
    assert.equal(svg.name, `${name}.svg`);
    const text = String(svg.bytes).replace("http://www.w3.org/2000/svg", "");
    assert.doesNotMatch(text, /var\(|class=|http|url\(/);
    const drawn = await look(page, svg, "image/svg+xml");
    const png = await look(page, await take(page, root, "png"), "image/png");
    assert.deepEqual([png.width, png.height], [2 * drawn.width, 2 * drawn.height]);
    assert.ok(drawn.colours > 20 && png.colours > 20, `${drawn.colours}, ${png.colours} colours`);
    return text;
}

test("curves are saved with the losses and answers of all steps, which are the library's", async () => {
    await open("task=arithmetic&seed=3");
    await card("loss").locator("[data-format=csv]").click();
    await card("loss").locator("[role=status]", { hasText: "nothing to save" }).waitFor();
    await page.click("#go");
    for (const attention of ["softmax", "linear"]) await reaches(attention, 12);
    await pause();
    const steps = {};
    for (const attention of ["softmax", "linear"])
        steps[attention] = await value(attention, "step");
    const [head, ...rows] = lines(await take(page, card("loss"), "csv"));
    assert.deepEqual(head, ["attention", "step", "loss"]);
    assert.equal(rows.length, steps.softmax + steps.linear);
    const { width, layers, heads } = { width: 16, layers: 2, heads: 2 };
    for (const attention of ["softmax", "linear"]) {
        const options = { task: "arithmetic", size: 2, attention, width, layers, heads };
        const study = await createStudy({ ...options, samples: 400, rate: 0.008, seed: 3 });
        const own = rows.filter(([name]) => name === attention);
        assert.deepEqual(
            own.map(([, step, loss]) => [Number(step), Number(loss)]),
            Array.from(study.train(steps[attention]), (loss, i) => [i + 1, loss]),
        );
        study.dispose();
    }
    const told = jsonOf(await take(page, card("answers"), "json"));
    assert.deepEqual(told.columns, ["attention", "step", "percent right"]);
    assert.deepEqual([told.task, told.seed, told.commandLines.length], ["arithmetic", 3, 2]);
    for (const attention of ["softmax", "linear"]) {
        const [, , last] = told.rows.findLast(([name]) => name === attention);
        assert.equal(last, await value(attention, "answers"));
    }
    for (const id of ["loss", "answers"]) {
        const text = await isDrawn(card(id), `training-${id}`);
        for (const attention of ["softmax", "linear"]) assert.ok(text.includes(`>${attention}<`));
    }
});

test("heads are saved as they are drawn, with the weights of the model", async () => {
    await open("task=arithmetic&seed=3");
    const root = learner("softmax");
    await root.locator(".heads canvas").nth(3).waitFor();
    const text = await isDrawn(root, "training-softmax");
    assert.equal(text.split('href="data:image/png;base64,').length - 1, 4);
    assert.ok(text.includes(">layer 2, head 1</text>"));
    const { data, shape } = await readNpy((await take(page, root, "npy")).bytes);
    const options = { task: "arithmetic", size: 2, attention: "softmax", width: 16 };
    const study = await createStudy({ ...options, layers: 2, heads: 2, samples: 400, seed: 3 });
    const { tokens, query, key, shape: sizes } = study.solve("3 + 4 * 2");
    const [layers, heads, rows, dim] = sizes;
    study.dispose();
    assert.deepEqual([...shape], [layers, heads, rows, rows]);
    const attn = await init();
    const problem = { batch: layers, heads, queries: rows, keys: rows, dim, causal: true };
    const plan = attn.plan({ backend: "softmax", ...problem, scale: 1 / Math.sqrt(dim) });
    // f32: Q and K come of the model's sums, whose roundings another tier does in another order
    const tolerance = 2 ** -24 * 2 ** 6;
    const [names, ...cells] = lines(await take(page, root, "csv"));
    assert.deepEqual(names.slice(0, 4), ["layer", "head", "query", "key"]);
    assert.equal(cells.length, data.length);
    for (let i = 0; i < layers * heads; i++) {
        const [batch, head] = [Math.floor(i / heads), i % heads];
        const wanted = plan.weights({ query, key, batch, head });
        wanted.forEach((weight, j) => {
            const [saved, cell] = [data[i * rows * rows + j], cells[i * rows * rows + j]];
            assert.ok(Math.abs(saved - weight) <= tolerance, `${saved}, not ${weight}`);
            assert.deepEqual(cell.slice(0, 2).map(Number), [batch + 1, head + 1]);
            const [from, to] = [Math.floor(j / rows), j % rows];
            assert.deepEqual(cell.slice(2, 6), [`${from}`, `${to}`, tokens[from], tokens[to]]);
            assert.equal(Number(cell[6]), saved);
        });
    }
    plan.dispose();
});

test("a link has task and seed; commands follow them", async () => {
    await open();
    await page.selectOption("#task", "lis");
    await page.fill("#seed", "17");
    await page.waitForFunction(() => location.hash === "#task=lis&seed=17");
    const command = await page.textContent(".command code");
    assert.match(command, /^attn lab train lis --n 5 --attention softmax .* --seed 17 -o/);
    assert.equal(command.split("\n").length, 2);
    await page.close();
    await open("task=lis&seed=17");
    assert.equal(await page.inputValue("#task"), "lis");
    assert.equal(await page.inputValue("#seed"), "17");
    assert.match(await page.textContent(".said"), /^17 80 23 45 120 <sep>/);
});

test("a seed that is none is refused in words, and nothing is trained by it", async () => {
    await open();
    for (const seed of ["-1", "1.5", "", "99999999999"]) {
        await page.fill("#seed", seed);
        assert.match(await page.textContent("#problem"), /whole number from 0 to 4294967295/, seed);
        assert.equal(await page.isDisabled("#go"), true);
        assert.equal(await page.locator(".learner").count(), 0);
    }
    await page.fill("#seed", "5");
    await reaches("linear", 0);
    assert.equal(await page.isDisabled("#go"), false);
    assert.equal(await page.isVisible("#problem"), false);
});
