/** What the page says of time, by a clock that only runs of the library move. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { attentionWorker, settled } from "../browser.mjs";
import { openSite } from "../site.mjs";

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

test("times are of warm code, by turns, with their range", async () => {
    const page = await site.newPage();
    await page.route("**/assets/served-*.js", async (route) => {
        const response = await route.fetch();
        const settings = [usual, cold, disturbed].map((value) => JSON.stringify(value));
        const body = `(${moveClock})(${settings});${await response.text()}`;
        await route.fulfill({ response, body });
    });
    const [worker] = await Promise.all([attentionWorker(page), page.goto(site.url)]);
    await settled(page);

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
