/** Error against cost of what was tried, and costs from 64 tokens to a million. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
    backends,
    change,
    failCall,
    page,
    reopen,
    rested,
    testOrigins,
    withhold,
} from "../support/panels.mjs";
import { settled } from "../support/browser.mjs";
import { words } from "../support/watch.mjs";

/** The table of what was tried. */
async function tried() {
    const rows = page.locator("#pareto tbody tr");
    return rows.evaluateAll((all) =>
        all.map((row) => {
            const [cost, error] = [...row.querySelectorAll("data")].map(({ value }) => +value);
            const [name, setting, , , best] = [...row.children].map((cell) => cell.textContent);
            return { name, setting, cost, error, isBest: best === "yes" };
        }),
    );
}

const count = (rows) =>
    page.waitForFunction(
        (wanted) => document.querySelectorAll("#pareto tbody tr").length === wanted,
        rows,
    );

test("each setting tried is a dot, and the best are those that no other beats in both", async () => {
    await page.click("#pareto summary");
    await count(4);
    for (const size of ["8", "24", "56"]) {
        await change(() => page.fill("#sketch-size", size));
        await rested();
    }
    for (const against of ["flops", "bytes", "time"]) {
        await page.selectOption("#against", against);
        await rested();
        await count(7);
        const all = await tried();
        for (const { cost, error, isBest, name, setting } of all) {
            const beaten = all.some(
                (other) =>
                    other.cost <= cost &&
                    other.error <= error &&
                    (other.cost < cost || other.error < error),
            );
            assert.equal(isBest, !beaten, `${against}: ${name}, ${setting}`);
        }
        assert.equal(await page.locator("#pareto svg [aria-label], #pareto style").count(), 0);
    }
    const sizes = (await tried()).filter(({ name }) => name === "sketch");
    const settings = sizes.map(({ setting }) => setting).sort();
    assert.deepEqual(settings, ["as it is by default", "size 24", "size 56", "size 8"]);
    await page.fill("#text", words(3000));
    await count(0); // nothing of the last input stays
    await settled(page);
    await count(4);
});

/** In the page: labels of the axis below that lie over one another. */
function overlaps() {
    const drawing = document.querySelector("#pareto svg");
    const { bottom } = drawing.getBoundingClientRect();
    const labels = [...drawing.querySelectorAll("text")]
        .map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }))
        .filter(({ box }) => box.top > bottom - 42)
        .sort((one, other) => one.box.left - other.box.left);
    const rows = Object.values(Object.groupBy(labels, ({ box }) => Math.round(box.top)));
    const over = rows.flatMap((row) =>
        row.filter(({ box }, i) => box.left < row[i - 1]?.box.right),
    );
    return { count: labels.length, over: over.map(({ text }) => text) };
}

test("#open=pareto&tried=sketch*&tried=sketch+size*8&tried=linear*&tried=linear+feature_map*relu&tried=sparse*&linear.feature_map=favor&sparse.pattern=window&sketch.size=24: its axes can be read", async () => {
    await count(9);
    for (const against of ["flops", "bytes", "time"]) {
        await page.selectOption("#against", against);
        await rested();
        const { count, over } = await page.evaluate(overlaps);
        assert.ok(count >= 3, `${against}: ${count} labels`);
        assert.deepEqual(over, [], against);
    }
});

/** What a link has is tried again. */
const retried = () =>
    page.waitForFunction(() => {
        const { ariaBusy, textContent } = document.querySelector("#pareto");
        return ariaBusy === "false" && !textContent.includes("still to be tried");
    });

/** Without times, which are measured anew. */
const dots = async () =>
    (await tried()).map((row) => [row.name, row.setting, row.cost, row.error].join()).sort();

const triedInLink = () =>
    page.evaluate(() => new URLSearchParams(location.hash.slice(1)).getAll("tried"));

test("what was tried is in the link, and gives the same dots in another browser", async () => {
    await page.click("#pareto summary");
    await count(4);
    for (const size of ["8", "24", "56"]) await change(() => page.fill("#sketch-size", size));
    await change(() => page.selectOption("#linear-feature_map", "relu"));
    await change(() => page.fill("#sparse-block", "4"));
    await count(9);
    const before = await dots();
    await rested(); // the link has it
    const inLink = await triedInLink();
    const settings = ["linear*", "sketch size*8*24", "sketch*", "sparse*"]; // but for those of panels
    assert.deepEqual(inLink.toSorted(), settings);

    await reopen(page.url());
    await retried();
    await count(9);
    assert.deepEqual(await dots(), before);
    await page.selectOption("#against", "time");
    await rested();
    await count(9); // each has a time, too
    await page.waitForURL(/against=time/);
    assert.deepEqual((await triedInLink()).sort(), settings);

    await page.click("#pareto summary");
    await page.waitForURL((url) => !url.hash.includes("tried"));
    await page.click("#pareto summary");
    await page.waitForURL(/tried=/);
    await change(() => page.check("#causal")); // of this problem nothing was
    await count(4);
    await page.waitForURL((url) => url.hash.includes("causal") && !url.hash.includes("tried"));
});

const seventy = Array.from({ length: 70 }, (_, i) => i + 1);

test("a link has the newest 64 of what was tried, and says so", async () => {
    await reopen(`#dim=8&text=a+b+c+d&open=pareto&tried=sketch+seed*${seventy.join("*")}`);
    await retried();
    await count(4 + 64);
    const says = page.locator("#pareto .figure > p");
    assert.equal(await says.count(), 0);
    await change(() => page.fill("#sketch-size", "3"));
    await says.waitFor();
    assert.equal(await says.textContent(), "A link has the newest 64 of 65 settings.");
    await page.waitForURL(/sketch.size=3/);
    assert.deepEqual(await triedInLink(), [`sketch seed*${seventy.slice(7).join("*")}`, "sketch*"]);
});

test("#dim=8&open=pareto&tried=sketch+size*2*2*2.5*-1*x*4+5&tried=sparse+pattern*window*nothing&tried=nobody+size*1&tried=%25+%25*1&tried=*&tried=__proto__+__proto__*1&tried=linear+constructor*1: of what a link says wrongly of what was tried nothing comes, or why", async () => {
    await retried();
    await count(6);
    const settings = (await tried()).filter(({ setting }) => !setting.includes("default"));
    const names = settings.map(({ name, setting }) => `${name} ${setting}`);
    assert.deepEqual(names.sort(), ["sketch size 2", "sparse pattern window"]);
    assert.match(
        await page.textContent("#pareto .figure > p"),
        /^Of the link without a dot: 2 settings, parameter 'size': -1 is outside/,
    );
    await page.waitForURL((url) => !url.hash.includes("2.5"));
    assert.deepEqual(await triedInLink(), ["sketch size*2", "sparse pattern*window"]);
});

test("an error of 0 is 0 in the table, and a dot at the end of the axis", async () => {
    await page.click("#pareto summary");
    await change(() => page.fill("#text", "alone")); // its value is the output
    await count(4);
    const all = await tried();
    assert.equal(all.find(({ name }) => name === "softmax").error, 0);
    const dots = page.locator(
        "#pareto svg path[stroke-width='2'], #pareto svg g[stroke-width='2'] path",
    );
    assert.equal(await dots.count(), 4);
    for (const each of await dots.all())
        assert.doesNotMatch(await each.getAttribute("transform"), /NaN|Infinity/);
});

/** Of each dot: its place, how much of its outline a pointer reaches, and its title. */
const seen = () =>
    page.$$eval("#pareto svg path:has(title)", (all) =>
        all.map((dot) => {
            const steps = Array.from({ length: 48 }, (_, i) => i / 48);
            const reached = steps.filter((part) => {
                const on = dot.getPointAtLength(part * dot.getTotalLength());
                const { x, y } = on.matrixTransform(dot.getScreenCTM());
                return document.elementFromPoint(x, y) === dot;
            });
            const [x, y] = dot
                .getAttribute("transform")
                .match(/[\d.]+/g)
                .map(Number);
            return { x, y, share: reached.length / steps.length, title: dot.textContent };
        }),
    );

test("#open=pareto&sparse.local=4096: dots at one place are seen and reached, and are where they belong", async () => {
    for (const against of ["flops", "bytes", "time"]) {
        await page.selectOption("#against", against);
        await count(4);
        await rested();
        await page.locator("#pareto svg").scrollIntoViewIfNeeded();
        const dots = await seen();
        assert.equal(dots.length, 4);
        for (const dot of dots) {
            const apart = dots.map(({ x, y }) => Math.hypot(x - dot.x, y - dot.y));
            const lieBeside =
                against === "time" && apart.some((pixels) => pixels >= 4 && pixels < 22);
            const { share, title } = dot;
            assert.ok(share > (lieBeside ? 0.4 : 0.9), `${against}: ${title} ${share}`);
        }
        const rows = await tried();
        const places = dots.map(({ title, ...place }) => {
            const { cost, error } = rows.find(({ name }) => title.startsWith(`${name}:`));
            return { ...place, cost: Math.log(cost), error: Math.log(error) };
        });
        for (const [pixel, value] of [
            ["x", "cost"],
            ["y", "error"],
        ]) {
            const sorted = places.toSorted((one, other) => one[value] - other[value]);
            const [from, to] = [sorted[0], sorted.at(-1)];
            const slope = (to[pixel] - from[pixel]) / (to[value] - from[value]);
            for (const each of sorted) {
                const expected = from[pixel] + slope * (each[value] - from[value]);
                assert.ok(Math.abs(each[pixel] - expected) < 0.01, `${against} ${pixel}`);
            }
        }
    }
});

test("#text=a+b+c+d&open=pareto: settings of a backend at one place are all in its title", async () => {
    await change(() => page.fill("#sketch-size", "64")); // all features: exact, as are more
    await change(() => page.fill("#sketch-size", "65"));
    await count(6);
    await rested();
    const titles = (await seen()).map(({ title }) => title);
    assert.ok(titles.includes("sketch: size 64\nsketch: size 65"), titles.join());
});

/** Each line has its name at its end, and none of them is on another. */
async function namesAreApart(figure) {
    const names = page
        .locator(`${figure} svg text`)
        .filter({ hasText: RegExp(`^(${backends.join("|")})$`) });
    const boxes = await names.evaluateAll((all) =>
        all.map((each) => {
            const { left, right, top, bottom } = each.getBoundingClientRect();
            return { name: each.textContent, left, right, top, bottom };
        }),
    );
    assert.deepEqual(boxes.map(({ name }) => name).sort(), backends.toSorted(), figure);
    for (const [i, one] of boxes.entries())
        for (const other of boxes.slice(i + 1)) {
            const areAbove = one.bottom <= other.top || other.bottom <= one.top;
            const areBeside = one.right <= other.left || other.right <= one.left;
            assert.ok(areAbove || areBeside, `${figure}: ${JSON.stringify([one, other])}`);
        }
}

test("#open=pareto&open=longer: names of lines can be read, wide and at 360 pixels", async () => {
    for (const width of [1600, 360]) {
        await page.setViewportSize({ width, height: 900 });
        await counted();
        for (const quantity of ["time", "flops", "memory"]) {
            await page.selectOption("#quantity", quantity);
            await rested(); // it is drawn anew
            await namesAreApart("#longer");
        }
    }
    await page.setViewportSize({ width: 1600, height: 900 }); // settings stand beside
    await change(() => page.fill("#sparse-local", "4096")); // all keys, as softmax
    for (const width of [1600, 360]) {
        await page.setViewportSize({ width, height: 900 });
        await rested();
        await namesAreApart("#pareto");
    }
});

const said = () => page.textContent("#length-words");
const counted = () =>
    page.waitForFunction(() => document.querySelector("#longer").ariaBusy === "false");

test("#open=longer&quantity=flops&length=1048576: operations are the formulas', and lines cross where these say", async () => {
    await counted();
    await page.locator("[data-crossing=sketch]").waitFor();
    const [n, d] = [2 ** 20, 64];
    assert.equal(4 * n * n * d, 281474976710656);
    assert.match(
        await said(),
        /^1.048.576 tokens: softmax 2\.81 × 10¹⁴ operations, linear 1\.7\d × 10¹⁰/,
    );
    const at = async (backend) =>
        Number(await page.locator(`[data-crossing=${backend}] data`).getAttribute("value"));
    // 2 n^2 (d + d) = 2 (2 n d s + n^2 (s + d)) with s = d / 2, and about 4 n d^2 for linear.
    assert.ok(Math.abs((await at("sketch")) - 2 * d) < 0.5, `sketch ${await at("sketch")}`);
    assert.ok((await at("linear")) >= d && (await at("linear")) < 1.1 * d);
    assert.equal(await page.locator("[data-crossing=softmax]").count(), 0);
    assert.match(
        await page.textContent("[data-crossing=sparse]"),
        /^sparse costs less than softmax at all these lengths\.$/,
    );
    const ticks = page.locator("#longer svg text");
    await ticks.filter({ hasText: "1 Mi" }).waitFor(); // it is drawn anew as numbers come
    assert.deepEqual(
        (await ticks.allTextContents()).filter((text) => /^(64|128|256|512|\d+ [KM]i)$/.test(text)),
        [6, 7, 8, 9]
            .map((power) => `${2 ** power}`)
            .concat(
                Array.from({ length: 10 }, (_, i) => `${2 ** i} Ki`),
                "1 Mi",
            ),
    );
    await page.fill("#length", "16");
    await page.waitForFunction(() =>
        /^1.024 tokens/.test(document.querySelector("#length-words").textContent),
    );
    assert.match(await said(), /softmax 2\.68 × 10⁸ operations/);
});

test("#open=longer&quantity=flops&dim=8&sketch.size=8: a backend that is always or never below softmax says so", async () => {
    await counted();
    // 4 n d^2 + ... against 4 n^2 d for n >= 64, d = 8; all features and their products beside.
    const [linear, sketch] = ["linear", "sketch"].map((id) =>
        page.locator(`[data-crossing=${id}]`),
    );
    await linear.waitFor();
    assert.match(
        await linear.textContent(),
        /^linear costs less than softmax at all these lengths/,
    );
    assert.match(await sketch.textContent(), /^sketch costs no less than softmax at the longest/);
});

test("#open=longer&quantity=flops: lengths do not stay to be counted while there is no input", async () => {
    await page.fill("#text", "");
    await page.locator("#input-problem:visible").waitFor();
    await counted();
    await page.locator("#longer svg").waitFor();
});

test("#open=longer&length=4096: times beyond what was measured grow as the operations do, and say so", async () => {
    await counted();
    const read = async (place) => {
        await page.fill("#length", String(place));
        await rested();
        return said();
    };
    const milliseconds = (text) => {
        const [, number, unit] = /softmax ([\d.]+) (ms|s)/.exec(text);
        return Number(number) * (unit === "s" ? 1000 : 1);
    };
    const measured = await read(24);
    assert.doesNotMatch(measured, /extrapolated/);
    const extrapolated = await read(40);
    assert.match(extrapolated, /^65.536 tokens: .*extrapolated by the operations/);
    const ratio = milliseconds(extrapolated) / milliseconds(measured);
    assert.ok(Math.abs(ratio / 256 - 1) < 0.02, `times ${ratio}`);
    assert.equal((await page.locator("#longer svg circle").count()) >= 4 * 7, true);
});

test("#open=pareto&open=longer&against=bytes&quantity=memory&length=524288: what is open and chosen is in the link, and nonsense does no harm", async () => {
    await counted();
    await page.waitForFunction(() =>
        /524/.test(document.querySelector("#length-words").textContent),
    );
    assert.equal(await page.inputValue("#against"), "bytes");
    assert.match(await said(), /softmax \d+ MiB/);
    await page.fill("#length", "40");
    await page.waitForURL((url) => !url.hash.includes("length=")); // as by default
    assert.match(page.url(), /against=bytes/);
    await reopen("#open=all&against=__proto__&quantity=x&length=-1&length=NaN");
    assert.equal(await page.locator(".fold[open]").count(), 0);
    await reopen("#open=longer&length=1e99");
    await counted();
    assert.match(await said(), /^1.048.576 tokens/);
});

test("#open=longer&quantity=flops&length=1048576: what lengths cost with other parameters is dimmed, and counted anew", async () => {
    await counted();
    const before = await said();
    await page.evaluate(() => {
        const longer = document.querySelector("#longer");
        const notice = () => (longer.dataset.wasOld ??= longer.classList.contains("old"));
        new MutationObserver(notice).observe(longer, { attributeFilter: ["class"] });
    });
    await page.fill("#sketch-size", "8");
    await page.locator("#longer[data-was-old=true]:not(.old)").waitFor();
    await counted();
    await page.waitForFunction(
        (old) => document.querySelector("#length-words").textContent !== old,
        before,
    );
    // 2 (2 n d s + n^2 (s + d)) with s = 8.
    assert.match(await said(), /sketch 1\.58 × 10¹⁴/);
});

test("a run that fails is told, not tried again, and leaves nothing in the worker", async () => {
    await page.evaluate(() => {
        const { postMessage } = Worker.prototype;
        const held = (globalThis.held = new Set());
        Worker.prototype.postMessage = function (letter, ...rest) {
            const [kind, id, , method] = letter instanceof Array ? letter : [];
            if (kind === "call" && ["plan", "tensor"].includes(method)) held.add(id);
            if (kind === "release") held.delete(id);
            postMessage.call(this, letter, ...rest);
        };
    });
    await failCall("tensor", 1);
    await page.click("#longer summary");
    await counted();
    await page.locator("#longer .problem", { hasText: "no room" }).waitFor();
    await page.waitForFunction(() => globalThis.held.size === 0);
    await page.click("#longer summary");
    await page.click("#longer summary");
    await page.locator("#longer svg").waitFor();
    assert.equal(await page.locator("#longer .problem").textContent(), "no room");
    await change(() => page.fill("#sketch-size", "8"));
    await counted();
    await page.locator("#longer .problem").waitFor({ state: "detached" });
});

test("#open=longer&quantity=flops: counts of other parameters are dimmed and say so", async () => {
    await counted();
    assert.equal(await page.locator("#longer .stale-note").isVisible(), false);
    await withhold();
    await page.fill("#sparse-block", "2");
    await page.locator("#longer .stale-note").waitFor();
});

testOrigins();
