/** Links that nobody has written: the page opens, says what it does, and its own link shows the same. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { someOf } from "../../../wasm/test/share.mjs";
import { panel, page, reopen, rested, testOrigins } from "../support/panels.mjs";

const names = [
    ...["dim", "causal", "scale", "batch", "head", "preset", "files", "plugin", "colours"],
    ...["difference", "open", "against", "quantity", "length", "heads", "token", "row", "enlarged"],
    ...["window", "softcap", "alibi", "sink", "keys", "hidden", "without", "packed", "kept"],
    ...[
        "linear.feature_map",
        "sparse.local",
        "sketch.size",
        "sketch.seed",
        "nobody.size",
        ".",
        "x.",
    ],
    ...["region", "pooling", "strands", "mask"],
];
const values = [
    ...["", "0", "1", "-1", "2.5", "1e400", "-1e300", "9".repeat(30), "1e-320", "NaN", "Infinity"],
    ...["null", "__proto__", "constructor", "x,y", "3,1", "3,1,2", "-2,-2", "1e20,1", "0-9999999"],
    ...[
        "9-4",
        "0.0",
        "4.99999999",
        "none",
        "softmax",
        "sparse",
        "lis-softmax",
        "copy",
        "streaming",
    ],
    ...["heads", "<b>", "%", "\u0000", "ß𝒳", "0-3.0-3", "5-2.1-1", "0-999999999.0-999999999"],
];

/** The same at each run: Numerical Recipes' generator. */
function random(seed) {
    let state = Math.imul(seed, 2654435761); // neighbours begin far apart
    return (count) => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return Math.floor((state / 2 ** 32) * count);
    };
}

function link(seed) {
    const next = random(seed);
    const query = new URLSearchParams({ text: "a few words to begin with" });
    for (let i = 0; i < 8; i++) query.set(names[next(names.length)], values[next(values.length)]);
    query.append("open", "pareto");
    for (let i = 0; i < 3; i++) query.append("tried", settings(next));
    return `#${query}`;
}

const parts = ["sketch", "sparse", "linear", "size", "block", "feature_map", "relu", "8", "3"];

/** Of what was tried: such words, and what stands in links else. */
function settings(next) {
    const some = Array.from({ length: 8 }, () => {
        return next(4) === 0 ? values[next(values.length)] : parts[next(parts.length)];
    });
    return some.map((part) => part + " *"[next(2)]).join("");
}

/** Each panel has numbers or says why not. */
async function told() {
    const panels = await page.locator(".panel").all();
    assert.equal(panels.length, 4);
    return Promise.all(
        panels.map(async (each) => {
            const numbers = await each.locator("[data-name=error] data").count();
            const problem = await each.locator(".problem:visible").allTextContents();
            assert.ok(numbers + problem.length > 0, await each.innerText());
            return { numbers, problem };
        }),
    );
}

const seeds = Array.from({ length: 10 }, (_, i) => i + 1);

for (const seed of someOf("odd links", seeds))
    test(`${link(seed)}: an odd link, ${seed}`, async () => {
        const before = await told();
        await rested(); // the address is the page's own
        const text = await page.inputValue("#text");
        await reopen(page.url());
        assert.deepEqual(await told(), before, page.url());
        assert.equal(await page.inputValue("#text"), text);
    });

test("#text=a+b+c+d&window=2.5,-7&softcap=-2&alibi=3&sink=1e40&keys=-4: rules with wrong values are said, and are none", async () => {
    assert.equal(await page.textContent("#rules summary span"), "");
    assert.equal(await page.getAttribute("#rules", "open"), "", "what is wrong is seen");
    const problem = await page.textContent("#rules-problem");
    for (const part of [
        "Window: keys to the left: a whole number from 0 to 999999999.",
        "a number from 0 to 1e30.",
        "a number from 0 to 1.",
        "a number from -1e30 to 1e30.",
    ])
        assert.ok(problem.includes(part), problem);
    assert.equal(await page.locator("#rules [aria-invalid=true]").count(), 5);
    for (const backend of ["softmax", "linear", "sparse", "sketch"])
        assert.equal(await panel(backend).locator("[data-name=error] data").count(), 1);
    assert.doesNotMatch(await panel("softmax").locator("pre").textContent(), /window|softcap/);
});

testOrigins();
