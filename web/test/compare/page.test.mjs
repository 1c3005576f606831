/** The built page in a real browser. Pictures of it go to build/ at the top. */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { settled } from "../support/browser.mjs";
import {
    mostOfText,
    backends,
    change,
    cli,
    errors,
    noCli,
    number,
    openPage,
    openSlowly,
    opener,
    page,
    panel,
    picture,
    pictures,
    readNumber,
    reopen,
    rested,
    run,
    show,
    site,
    testOrigins,
    web,
    withhold,
    write,
} from "../support/panels.mjs";
import { servePlainly } from "../support/plain.mjs";

test("four panels have their numbers and no complaint", async () => {
    assert.equal(await page.locator(".panel").count(), backends.length);
    const [softmax, ...others] = await errors();
    const most = await mostOfText();
    assert.ok(softmax <= most, `softmax is exact up to rounding, not ${softmax}`);
    for (const error of others) assert.ok(error > most && Number.isFinite(error));
    for (const backend of backends) {
        assert.ok((await number(backend, "time")) > 0);
        assert.ok((await number(backend, "gflops")) > 0);
        assert.ok((await number(backend, "workspace")) >= 0);
    }
    assert.equal(await page.locator(".problem:visible").count(), 0);
});

test("a typed text is computed on", async () => {
    const before = await errors();
    await write("one two three four five six seven eight");
    assert.match(await page.textContent("#summary"), /^8 tokens$/);
    const now = await errors();
    backends.forEach((backend, i) => assert.notEqual(now[i], before[i], backend));
    await write("one");
    assert.match(await page.textContent("#summary"), /^1 token$/);
});

test("nothing moves as a letter is typed and until all its numbers are there", async () => {
    await write("one two three four five six seven eight");
    await page.evaluate(() => {
        window.bottoms = new Set();
        const look = () => {
            const { bottom } = document.querySelector("#looks").getBoundingClientRect();
            window.bottoms?.add(bottom + scrollY);
            if (window.bottoms) window.unrest.requestAnimationFrame(look);
        };
        look();
    });
    await write("one two three four five six seven might");
    const bottoms = await page.evaluate(() => {
        const all = [...window.bottoms];
        delete window.bottoms;
        return all;
    });
    assert.equal(bottoms.length, 1, `${bottoms}`);
});

test("words of any length fit into the panels", async () => {
    const widthOf = () =>
        page.locator("canvas").evaluateAll((all) => all.map(({ clientWidth }) => clientWidth));
    const before = await widthOf();
    await write(`${"abcdefghij".repeat(300)} `.repeat(20));
    assert.deepEqual(await widthOf(), before);
});

test("a text without tokens is one line, and nothing of the last one stays", async () => {
    await page.fill("#text", "   ");
    await page.locator("#input-problem").waitFor();
    assert.match(await page.textContent("#input-problem"), /^[^\n]{10,}$/);
    assert.equal(await page.textContent("#summary"), "");
    assert.equal(await page.locator("[data-backend] [data-name]").count(), 0);
    assert.equal(await page.locator("canvas:visible").count(), 0);
    await page.locator("#causal").click(); // there is still no input
    await page.locator("#input-problem").waitFor();
    assert.equal(await page.locator("[data-backend] [data-name]").count(), 0);
    await write("words again");
    assert.equal(await page.locator("#input-problem").isVisible(), false);
    assert.match(await page.textContent("#summary"), /^2 tokens$/);
    assert.equal(await page.locator(".panel canvas:visible").count(), backends.length);
    await errors();
});

/** In the page: is a text read within half of the pause after typing? Timers go off in the order of their times. */
async function isReadSoon(text) {
    const { postMessage } = Worker.prototype;
    let isRead = false;
    Worker.prototype.postMessage = function (letter, ...rest) {
        isRead ||= letter.kind === "text";
        return postMessage.call(this, letter, ...rest);
    };
    const field = document.querySelector("#text");
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    Worker.prototype.postMessage = postMessage;
    return isRead;
}

test("each letter of a short text is computed on at once, and a long one when typing rests", async () => {
    await settled(page);
    assert.equal(await page.evaluate(isReadSoon, "a few words more"), true);
    await settled(page);
    assert.equal(await page.evaluate(isReadSoon, "many words ".repeat(200)), false);
    await page.locator("#summary", { hasText: /^400 tokens/ }).waitFor();
    await settled(page);
    await write("words again");
});

test(opener("what is typed and chosen while the page still loads stays"), async () => {
    const arrive = await openSlowly(`${site.url}#dim=32&causal=1&scale=2`);
    await page.fill("#text", "typed before all else");
    await page.selectOption("#dim", "16");
    await rested({ evenIfBusy: true });
    assert.equal(await page.locator(".panel").count(), 0);
    arrive();
    await settled(page);
    assert.equal(await page.inputValue("#text"), "typed before all else");
    assert.match(await page.textContent("#summary"), /^4 tokens$/);
    assert.equal(await page.inputValue("#dim"), "16");
    assert.equal(await page.inputValue("#scale"), "2");
    assert.equal(await page.isChecked("#causal"), true);
    assert.match(await panel("softmax").locator("code").textContent(), /'typed before all else'/);
});

test(
    opener("what a preset's link has set is not for a text that is typed while it loads"),
    async () => {
        const arrive = await openSlowly(`${site.url}#preset=needle&causal=1&scale=0.5&row=127.42`);
        await page.click("[data-own=text]");
        await page.fill("#text", "typed early on");
        await rested({ evenIfBusy: true });
        arrive();
        await settled(page);
        assert.match(await page.textContent("#summary"), /^3 tokens$/);
        assert.equal(await page.isChecked("#causal"), false);
        assert.equal(await page.inputValue("#scale"), "");
        await page.waitForFunction(() => location.hash === "#text=typed+early+on");
    },
);

test("a slider changes its own panel, numbers and heatmap, and no other", async () => {
    const before = await errors();
    const pictureBefore = await picture("sketch");
    const slider = panel("sketch").locator(".control", { has: page.locator("#sketch-size") });
    await change(() => slider.locator("input[type=range]").fill("60"));
    const now = await errors();
    assert.notEqual(now[3], before[3]);
    assert.deepEqual(now.slice(0, 3), before.slice(0, 3));
    assert.notEqual(await picture("sketch"), pictureBefore);
});

test("what a plan tells is dimmed while it is of other controls or another input", async () => {
    const isDimmed = (wanted) =>
        page.waitForFunction((wanted) => {
            const [sparse, softmax] = ["sparse", "softmax"].map((id) => {
                const facts = document.querySelector(`[data-backend=${id}] .facts dd`);
                const { color } = getComputedStyle(facts);
                return color !== getComputedStyle(document.body).color;
            });
            return sparse === wanted[0] && softmax === wanted[1];
        }, wanted);
    await isDimmed([false, false]);
    await change(() => page.fill("#sparse-block", "4"));
    await isDimmed([false, false]);
    await withhold();
    await page.fill("#sparse-block", "2");
    await isDimmed([true, false]);
    await page.fill("#text", "of another text");
    await isDimmed([true, true]);
});

test("of many changes the last one counts", async () => {
    const text = await page.inputValue("#text");
    await change(async () => {
        for (let size = 21; size <= 30; size++) await page.fill("#sketch-size", String(size));
    });
    const swift = await number("sketch", "error");
    await reopen("#sketch.size=30");
    assert.equal(await page.inputValue("#text"), text);
    assert.equal(swift, await number("sketch", "error"));
});

test("a value out of range is one line in its panel, and the others keep working", async () => {
    await change(() => page.fill("#sparse-local", "-3"));
    const line = panel("sparse").locator(".problem");
    assert.match(await line.textContent(), /local.*-3|-3.*local/);
    assert.equal(await panel("sparse").locator("[data-name=error]").count(), 0);
    assert.match(await page.textContent("#status"), /^Computed on .*; sparse: .*local.*\.$/);
    assert.equal(await page.locator(".panel [aria-live], .panel [role=alert]").count(), 0);
    await write("the other panels go on");
    assert.ok((await number("softmax", "error")) <= (await mostOfText()));
    await change(() => page.fill("#sparse-local", "2"));
    assert.equal(await line.isVisible(), false);
    assert.ok((await number("sparse", "error")) >= 0);
});

test("causal keeps half of the pairs, and errors are against exact attention with the same rules", async () => {
    await write("a b c d e f g h");
    await change(() => page.check("#causal"));
    assert.equal(await number("softmax", "kept"), 36 / 64);
    await change(() => page.fill("#scale", "0.75"));
    const most = await mostOfText({ causal: "top-left", scale: 0.75 });
    const error = await number("softmax", "error");
    assert.ok(error <= most, `softmax is exact by these rules too, not ${error}`);
});

test("only choices are offered that Q, K and V are enough for", async () => {
    const options = (id) => page.locator(`#${id} option`).allTextContents();
    assert.deepEqual(await options("linear-rule"), ["linear", "gated"]);
    assert.ok((await options("linear-feature_map")).includes("favor"));
    const patterns = await options("sparse-pattern");
    assert.ok(patterns.includes("topk") && !patterns.includes("blocks"), patterns);
    await reopen("#linear.rule=delta");
    assert.equal(await page.inputValue("#linear-rule"), "linear");
    assert.equal(await panel("linear").locator(".problem").isVisible(), false);
});

test("sizes of arrays that the page does not have are no controls", async () => {
    assert.equal(await page.locator("#sparse-stride").count(), 1);
    assert.equal(await page.locator("#sparse-entries").count(), 0, "of a list of blocks");
});

test("what is nearly all is not 100 %", async () => {
    const words = Array.from({ length: 90 }, (_, i) => `word${i}`);
    await write(words.join(" "));
    await change(() => page.fill("#sparse-block", "89"));
    await change(() => page.fill("#sparse-global", "88"));
    const kept = await number("sparse", "kept");
    assert.ok(kept > 0.9995 && kept < 1, String(kept));
    const shown = await panel("sparse").locator("[data-name=kept] dd").textContent();
    assert.ok(Number.parseFloat(shown) < 100, shown);
});

test("scale and dimension change the numbers, and the address keeps them", async () => {
    const before = await errors();
    await change(() => page.fill("#scale", "0.5"));
    await change(() => page.selectOption("#dim", "32"));
    await change(() => page.selectOption("#sketch-method", "ams"));
    const now = await errors();
    assert.notDeepEqual(now, before);
    await page.waitForURL(/sketch\.method=ams/);
    await reopen(page.url());
    assert.deepEqual(await errors(), now);
    assert.equal(await page.inputValue("#sketch-method"), "ams");
});

test("an address with nonsense in it does no harm", async () => {
    const before = await errors();
    await reopen("#__proto__.scale=9&constructor.size=1&dim=abc&scale=x&=&.");
    assert.deepEqual(await errors(), before);
    assert.equal(await page.evaluate(() => ({}).scale), undefined);
    await reopen("#sketch.size=nonsense&linear.feature_map=none");
    assert.deepEqual(await errors(), before);
});

test("the command line shown gives the numbers shown", { skip: cli ? false : noCli }, async () => {
    await write('It\'s "quoted" text; with $odd `signs`');
    await change(() => page.fill("#sketch-size", "12"));
    const shown = await panel("sketch").locator("pre").textContent();
    assert.match(shown, /attn compare .*--backends sketch --set size=12$/);
    const folder = await mkdtemp(join(tmpdir(), "page-"));
    try {
        const script = `attn() { '${cli}' "$@"; }\n${shown} --json`;
        const { stdout } = await run("bash", ["-ec", script], { cwd: folder });
        const [there] = JSON.parse(stdout.slice(stdout.indexOf("{"))).rows;
        const here = await number("sketch", "error");
        // As in "the command line has the same errors", and nine digits that are printed.
        const tokens = Number.parseInt(await page.textContent("#summary"));
        const bound = 2 * (64 + tokens) * 2 ** -24 + 0.5e-8 * here;
        assert.ok(Math.abs(here - there.error) <= bound, `${here} and ${there.error}`);
    } finally {
        await rm(folder, { recursive: true });
    }
});

test(
    opener("the built page works from a folder of a plain server, without any header of its own"),
    async () => {
        const plain = await servePlainly(join(web, "dist"), "/some/folder/");
        try {
            show(await openPage({}, plain.url));
            assert.equal(await page.evaluate(() => globalThis.crossOriginIsolated), false);
            assert.equal((await errors()).length, backends.length);
            await change(() => page.click("[data-preset=lis-softmax]")); // of a file of its own
            assert.equal((await errors()).length, backends.length);
            await page.goto(`${plain.url}labs.html`);
            await page.locator("#figure svg").waitFor();
        } finally {
            await page.close();
            await plain.close();
        }
    },
);

test("at each width, in light and dark, nothing sticks out", async () => {
    for (const width of [1600, 768, 360]) {
        await page.setViewportSize({ width, height: 900 });
        for (const colorScheme of ["light", "dark"]) {
            await page.emulateMedia({ colorScheme });
            await rested();
            const widest = await page.evaluate(() => document.documentElement.scrollWidth);
            assert.ok(widest <= width, `the page is ${widest} pixels wide`);
            const paper = await page.evaluate(
                () => getComputedStyle(document.body).backgroundColor,
            );
            const [red] = paper.match(/\d+/);
            assert.equal(Number(red) < 128, colorScheme === "dark", paper);
            const path = join(pictures, `page-${colorScheme}-${width}.png`);
            await page.screenshot({ path, fullPage: true });
        }
    }
});

test("the command line has the same errors", { skip: cli ? false : noCli }, async () => {
    const folder = await mkdtemp(join(tmpdir(), "page-"));
    try {
        const x = join(folder, "x.npy");
        await run(cli, ["embed", join(web, "public/demo.txt"), "--dim", "64", "-o", x]);
        const { stdout } = await run(cli, ["compare", "--q", x, "--k", x, "--v", x, "--json"]);
        const { rows } = JSON.parse(stdout);
        const tokens = Number.parseInt(await page.textContent("#summary"));
        for (const backend of backends) {
            const there = rows.find((row) => row.backend === backend).error;
            const shown = await panel(backend).locator("[data-name=error] dd").textContent();
            const lastDigit = 10 ** (Math.floor(Math.log10(there)) - 3);
            // Besides the digits not shown, two kernels may differ by f32's rounding in each term
            // of the sums over d and over the tokens: that bounds the difference of the outputs.
            const bound = lastDigit / 2 + 2 * (64 + tokens) * 2 ** -24;
            const difference = Math.abs(readNumber(shown) - there);
            assert.ok(difference <= bound, `${backend}: ${shown} here, ${there} there`);
        }
    } finally {
        await rm(folder, { recursive: true });
    }
});

testOrigins();
