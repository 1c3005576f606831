/** Rules beyond Causal: panels, errors, links, commands and files go by them. */

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { exactAttention, largestError } from "../../../tests/exact/exact.mjs";
import { settled } from "../support/browser.mjs";
import { npy, randomNumbers } from "../support/npy.mjs";
import {
    change,
    cli,
    drop,
    errors,
    mostOfText,
    noCli,
    number,
    opener,
    page,
    panel,
    reopen,
    run,
    testOrigins,
    write,
} from "../support/panels.mjs";

const words = "a b c d e f g h i j k l m n o p";
const tokens = 16;

/** By names in links: what is said there, and the rule that it is. */
const rules = {
    window: ["3,1", { window: [3, 1] }],
    softcap: ["0.25", { softcap: 0.25 }],
    alibi: ["0.5", { slopes: [0.5] }],
    sink: ["1.5", { sinks: [1.5] }],
    keys: ["11", { kvLengths: [11] }],
    hidden: ["0,4-6", { mask: (b, h, i, j) => j !== 0 && (j < 4 || j > 6) }],
};
const all = Object.assign({}, ...Object.values(rules).map(([, rule]) => rule));
const allInLink = Object.entries(rules)
    .map(([name, [text]]) => `${name}=${text}`)
    .join("&");

/** As much of NumPy as makes the file of a mask: machines that run tests need not have it. */
const numpy = `
class Array(list):
    def __setitem__(self, at, value):
        for i in range(*at.indices(len(self))): list.__setitem__(self, i, value)
def ones(count, kind): return Array([1] * count)
def save(name, array):
    header = "{'descr': '|b1', 'fortran_order': False, 'shape': (%d,), }" % len(array)
    start = b"\\x93NUMPY\\x01\\x00\\x76\\x00" + header.ljust(117).encode() + b"\\n"
    open(name, "wb").write(start + bytes(array))
`;

/** A backend's error, which the command that is copied has, too. */
async function commandHasError(backend, most, files = {}) {
    const shown = await panel(backend).locator("pre").textContent();
    const folder = await mkdtemp(join(tmpdir(), "page-"));
    try {
        for (const [name, bytes] of Object.entries({ ...files, "numpy.py": numpy }))
            await writeFile(join(folder, name), bytes);
        const script = `attn() { '${cli}' "$@"; }\n${shown} --json`;
        const { stdout } = await run("bash", ["-ec", script], { cwd: folder });
        const [there] = JSON.parse(stdout.slice(stdout.indexOf("{"))).rows;
        const here = await number(backend, "error");
        const difference = Math.abs(here - there.error);
        assert.ok(difference <= most, `${backend}: ${here} and ${there.error}, ${shown}`);
    } finally {
        await rm(folder, { recursive: true });
    }
}

for (const [name, [text, rule]] of Object.entries(rules))
    test(`#text=${encodeURIComponent(words)}&${name}=${text}: ${name}: softmax is exact by it, and sparse has the command line's error`, async () => {
        const most = await mostOfText(rule);
        const error = await number("softmax", "error");
        assert.ok(error <= most, `softmax by ${name}: ${error}, and ${most} is the most`);
        const kept = await panel("softmax").locator("[data-name=kept] dd").textContent();
        const isHidden = ["keys", "hidden"].includes(name); // by arrays, of which a plan knows nothing
        assert.match(
            kept,
            isHidden ? /^at most 100\s?%$/ : name === "window" ? /^2\d\.?\d*\s?%$/ : /^100\s?%$/,
        );
        const without = await mostOfText();
        assert.ok(most < 100 * without, "the bound is one of rounding");
        for (const backend of ["linear", "sketch"].slice(name === "keys" ? 1 : 0))
            assert.match(
                await panel(backend).locator(".problem").textContent(),
                new RegExp(`^backend .${backend}. does not do `),
            );
        // As in "the command line has the same errors", and nine digits that are printed.
        const rounding = 2 * (64 + tokens) * 2 ** -24 + 0.5e-8;
        if (cli) await commandHasError("sparse", rounding);
    });

test(`#text=${encodeURIComponent(words)}: the fields say the rules, and a link has them`, async () => {
    await page.click("#rules summary");
    const fields = {
        ...{ left: "3", right: "1", softcap: "0.25", alibi: "0.5", sink: "1.5", length: "11" },
        hidden: "0, 4-6",
    };
    for (const [name, value] of Object.entries(fields))
        await change(() => page.fill(`#rules [name=${name}]`, value));
    assert.equal(await page.textContent("#rules summary span"), " (6)");
    const error = await number("softmax", "error");
    assert.ok(error <= (await mostOfText(all)), `softmax by all: ${error}`);
    const shown = await number("sparse", "error");
    await page.waitForURL((url) => decodeURIComponent(url.hash).includes(allInLink));
    await reopen(page.url());
    assert.equal(await number("sparse", "error"), shown);
    for (const [name, value] of Object.entries(fields))
        assert.equal(await page.inputValue(`#rules [name=${name}]`), value.replace(" ", ""));
    await change(() => page.click("[data-preset=sink]"));
    assert.equal(await page.inputValue("#rules [name=softcap]"), "", "a preset has its own rules");
});

test("#hidden=x&window=1&window=2,y&softcap=z&keys=&sink=NaN&alibi=Infinity: a mask that is none is said, and rules that are none do no harm", async () => {
    assert.equal(await page.getAttribute("#rules", "open"), null);
    assert.equal((await errors()).length, 4);
    await page.click("#rules summary");
    for (const text of ["3-", "9-4"]) {
        await page.fill("#rules [name=hidden]", text);
        const problem = await page.textContent("#rules-problem");
        assert.ok(problem.startsWith(`“${text}”: keys are numbers and ranges`), problem);
    }
    await change(() => page.fill("#rules [name=softcap]", "-2"));
    assert.match(await page.textContent("#rules-problem"), /Softcap.* from 0 to /);
    assert.equal((await errors()).length, 4);
});

test("#text=a+b+c&hidden=1,99&keys=99: keys that there are not are told, and do no harm", async () => {
    const line = () => page.textContent("#rules-problem");
    const [length, hidden] = ["99", "1,99"].map(
        (text) => `“${text}”: the input has no more than 3 keys.`,
    );
    assert.equal(await line(), `${length} ${hidden}`);
    assert.ok(
        (await number("softmax", "error")) <= (await mostOfText({ mask: (b, h, i, j) => j !== 1 })),
    );
    await change(() => page.fill("#rules [name=length]", "3"));
    assert.equal(await line(), hidden);
    await change(() => page.fill("#rules [name=hidden]", "2"));
    assert.equal(await line(), "");
});

test(`#text=${encodeURIComponent(words)}&${allInLink}&row=8.9: a row by the rules: what it sees, and the numbers of a key`, async () => {
    await page.locator("[data-backend=softmax] .row:not(.old) .row-error").waitFor();
    const text = await panel("softmax").locator(".sees").textContent();
    assert.match(text, /^sees 3 of 16 keys: 7–9/); // 5 and 6 of the window are hidden
    const data = (row) => row.locator("data").evaluateAll((d) => d.map(({ value }) => +value));
    const [dot, logit, exp, weight] = await data(panel("softmax").locator(".steps .marked"));
    const wanted = 0.25 * Math.tanh(dot / 8 / 0.25) - 0.5;
    const eps = 2 ** -23;
    assert.ok(Math.abs(logit - wanted) <= 64 * eps * (Math.abs(dot) / 8 + 1), `${logit}`);
    // The sink is the largest logit.
    assert.ok(Math.abs(exp / Math.exp(logit - 1.5) - 1) <= 4 * eps, `${exp}`);
    const total = Number(await panel("softmax").locator("tfoot td").nth(2).textContent());
    assert.ok(Math.abs((weight * total) / exp - 1) < 0.01, `${exp} of ${total} is ${weight}`);
    const formulas = await panel("softmax").locator("math").allTextContents();
    assert.ok(
        formulas.some((each) => /tanh.*−0.500·1.00/.test(each)),
        formulas.join("\n"),
    );
    assert.ok((await number("softmax", "error")) <= (await mostOfText(all)));
});

test(opener("a row says what a pattern keeps of the keys that rules leave"), async () => {
    const sees = async (rule) => {
        await reopen(`#text=${encodeURIComponent(words)}&row=8.8&${rule}`);
        await panel("sparse").locator(".row:not(.old) .row-error").waitFor();
        return panel("sparse").locator(".sees").textContent();
    };
    const keeps = ", and keeps 3: 6, 8, 10";
    assert.ok((await sees("hidden=1,3,5,7,9,11,13,15")).endsWith(`${keeps}.`));
    const small = await sees("sink=300&hidden=1,3,5,7,9,11,13,15"); // beside which each weight is 0
    assert.ok(small.endsWith(`${keeps}; 3 weights are 0.`), small);
});

test("heads have slopes of their own, and the command says so", async () => {
    const shape = [2, 2, 9, 8];
    const q = randomNumbers(shape, 1);
    const file = npy(shape, q);
    await change(() => drop({ "x.npy": file }));
    await page.click("#rules summary");
    await change(() => page.fill("#rules [name=alibi]", "0.5"));
    await change(() => page.fill("#rules [name=length]", "7"));
    const sizes = { batch: 2, heads: 2, kvHeads: 2, queries: 9, keys: 9, dim: 8, valueDim: 8 };
    const arrays = { query: q, key: q, value: q };
    const by = { slopes: [0.5, 0.25], kvLengths: [7, 7] };
    const most = largestError(exactAttention(sizes, arrays, by));
    const error = await number("softmax", "error");
    assert.ok(error <= most, `${error}, and ${most} is the most`);
    const shown = await panel("softmax").locator("pre").textContent();
    assert.match(shown, / --alibi=0\.5,0\.25 --kv-lens 7,7/);
    if (!cli) return;
    const rounding = 2 * (8 + 9) * 2 ** -24;
    await commandHasError("sparse", rounding, { "x.npy": file });
});

test(opener("the command line of all rules"), { skip: cli ? false : noCli }, async () => {
    const link = allInLink.replace("window=3,1", "window=3,0"); // as causal wants it
    await reopen(`#text=${encodeURIComponent(words)}&causal=1&${link}`);
    const causal = { ...all, causal: "top-left", window: [3, 0] };
    await commandHasError("softmax", await mostOfText(causal));
});

test("causal with a window, typed away again", async () => {
    await write(words);
    const before = await errors();
    await page.click("#rules summary");
    await change(() => page.fill("#rules [name=left]", "2"));
    assert.match(await panel("sketch").locator(".problem").textContent(), /window/);
    await change(() => page.fill("#rules [name=left]", ""));
    assert.deepEqual(await errors(), before);
});

/** A .npy file of booleans, of which about a third is false. */
function booleans(shape, seed) {
    const seen = randomNumbers(shape, seed).map((x) => Number(x > -0.33));
    const header = `{'descr': '|b1', 'fortran_order': False, 'shape': (${shape.join()},), }`;
    const start = Buffer.from("\x93NUMPY\x01\x00\x76\x00", "latin1");
    const file = Buffer.concat([start, Buffer.from(`${header.padEnd(117)}\n`), Buffer.from(seen)]);
    return { seen, file };
}

async function choose(name, buffer) {
    if ((await page.getAttribute("#rules", "open")) === null) await page.click("#rules summary");
    const file = { name, mimeType: "application/octet-stream", buffer };
    await change(() => page.setInputFiles("#rules [name=mask]", file));
}

test(`#text=${encodeURIComponent(words)}: a mask from a file hides what is false, with hidden keys and without`, async () => {
    const without = await errors();
    const { seen, file } = booleans([tokens, tokens], 5);
    await choose("seen by.npy", file);
    const mask = (b, h, i, j) => seen[i * tokens + j] !== 0;
    const most = await mostOfText({ mask });
    const error = await number("softmax", "error");
    assert.ok(error <= most, `${error}, and ${most} is the most`);
    assert.match(
        await page.textContent("#rules .mask"),
        /^seen by.npy, 16 × 16; this browser keeps it/,
    );
    assert.equal(await page.textContent("#rules summary span"), " (1)");
    assert.match(await panel("linear").locator(".problem").textContent(), /mask/);
    const rounding = 2 * (64 + tokens) * 2 ** -24 + 0.5e-8;
    if (cli) await commandHasError("sparse", rounding, { "seen by.npy": file });

    await change(() => page.fill("#rules [name=hidden]", "0,4-6"));
    const both = (b, h, i, j) => mask(b, h, i, j) && j !== 0 && (j < 4 || j > 6);
    const [found, bound] = [await number("softmax", "error"), await mostOfText({ mask: both })];
    assert.ok(found <= bound, `${found}, and ${bound} is the most`);
    await change(() => page.fill("#rules [name=hidden]", ""));
    await page.waitForURL(({ hash }) => hash.includes("mask=") && !hash.includes("hidden="));
    await page.reload();
    await settled(page);
    assert.match(await page.textContent("#rules .mask"), /^seen by.npy, 16 × 16/);
    assert.equal(await number("softmax", "error"), error, "kept across a reload");
    await reopen(page.url()); // by another reader: it has a context of its own
    await page.locator("#text-note", { hasText: /^The link's mask is kept in another/ }).waitFor();
    assert.equal(await page.locator("#rules .mask").isVisible(), false);
    await choose("seen by.npy", file);
    await change(() => page.click("#rules .mask button"));
    assert.deepEqual(await errors(), without);
});

test("a mask of heads and batches, and those that do not fit", async () => {
    const shape = [2, 2, 9, 8];
    const q = randomNumbers(shape, 1);
    await change(() => drop({ "x.npy": npy(shape, q) }));
    const { seen, file } = booleans([2, 2, 9, 9], 6);
    await choose("m.npy", file);
    const sizes = { batch: 2, heads: 2, kvHeads: 2, queries: 9, keys: 9, dim: 8, valueDim: 8 };
    const mask = (b, h, i, j) => seen[((b * 2 + h) * 9 + i) * 9 + j] !== 0;
    const arrays = { query: q, key: q, value: q };
    const most = largestError(exactAttention(sizes, arrays, { mask }));
    const error = await number("softmax", "error");
    assert.ok(error <= most, `${error}, and ${most} is the most`);
    const problem = () => page.textContent("#rules-problem");
    await choose("m.npy", booleans([2, 9, 8], 1).file);
    assert.match(await problem(), /m\.npy \(2, 9, 8\) does not fit weights of \(2, 2, 9, 9\)/);
    assert.equal((await errors()).length, 4);
    await choose("floats.npy", npy([9, 9], randomNumbers([9, 9], 1)));
    assert.match(await problem(), /floats\.npy: a mask is of booleans, not <f4/);
    await choose("short.npy", file.subarray(0, 200));
    assert.match(
        await problem(),
        /short\.npy: the file is truncated: 72 bytes of data where its shape needs 324/,
    );
});

testOrigins();
