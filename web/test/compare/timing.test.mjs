/** What the page says of time, by a clock that only runs of the library move. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { attentionWorker, settled } from "../support/browser.mjs";
import { openSite } from "../support/site.mjs";

const usual = [0.5, 0.6, 0.7, 0.8]; // milliseconds of a run, by plan
const cold = { runs: 8, factor: 6 }; // the first runs of a plan, and how much longer they take
const disturbed = { every: 10, factor: 3 };

const site = openSite({ timingBudget: null });

/** Goes before the worker's own code. */
function moveClock(usual, cold, disturbed) {
    let now = 0;
    const runs = new Map(); // by plan
    globalThis.turns = [];
    performance.now = () => now;
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = async (...given) => {
        const result = await instantiate(...given);
        const { exports } = result.instance ?? result;
        if (!exports.attnjs_run) return result;
        const attnjs_run = (session, plan, ...rest) => {
            const count = (runs.get(plan) ?? 0) + 1;
            runs.set(plan, count);
            const base = usual[[...runs.keys()].indexOf(plan) % usual.length];
            const isLong = count % disturbed.every === 0;
            now += base * (count <= cold.runs ? cold.factor : isLong ? disturbed.factor : 1);
            if (globalThis.turns.at(-1) !== plan) globalThis.turns.push(plan);
            return exports.attnjs_run(session, plan, ...rest);
        };
        const instance = { exports: { ...exports, attnjs_run } };
        return result.instance ? { ...result, instance } : instance;
    };
}

/** A page with that clock, and its worker. */
async function openBy(...settings) {
    const page = await site.newPage();
    await page.route("**/assets/served-*.js", async (route) => {
        const response = await route.fetch();
        const given = settings.map((value) => JSON.stringify(value));
        const body = `(${moveClock})(${given});${await response.text()}`;
        await route.fulfill({ response, body });
    });
    const [worker] = await Promise.all([attentionWorker(page), page.goto(site.text)]);
    await settled(page);
    return { page, worker };
}

test("times are of warm code, by turns, with their range", async () => {
    const { page, worker } = await openBy(usual, cold, disturbed);
    const median = page.locator("[data-name=time] data");
    const times = await median.evaluateAll((all) => all.map(({ value }) => Number(value)));
    assert.equal(times.length, usual.length);
    usual.forEach((time, i) => {
        const turn = time * (1 + (disturbed.factor - 1) / 2); // of two runs or more, one disturbed
        assert.ok(times[i] >= time * 0.999 && times[i] <= turn, `${times[i]} ms, not ${time}`);
    });

    for (const text of await page.locator("[data-name=spread] dd").allTextContents()) {
        const [low, high] = text.match(/[\d.]+/g).map(Number);
        assert.ok(low < high, text);
    }

    const turns = (await worker.evaluate(() => globalThis.turns)).slice(-40);
    for (let i = usual.length; i < turns.length; i++) {
        assert.equal(turns[i], turns[i - usual.length], turns.join());
    }
    assert.equal(new Set(turns).size, usual.length);
    await page.close();
});

test("backends that run long leave the others their turns", async () => {
    const { page } = await openBy(
        [554, 5.8, 45, 754],
        { runs: 1, factor: 1.1 },
        { every: 6, factor: 3 },
    );
    const said = (name, part) =>
        page.locator(`.panel [data-name=${name}] ${part}`).allTextContents();
    const [labels, ranges] = [await said("time", "dt"), await said("spread", "dd")];
    const [one, many] = ["Time of one run", "Time, median of 3"];
    assert.deepEqual(labels, [one, many, many, one]);
    assert.equal(ranges[1], "5.80 to 17.4 ms");
    assert.equal(ranges[2], "45.0 to 135 ms");
    for (const i of [0, 3]) assert.equal(ranges[i], "too long for more");
    await page.close();
});
