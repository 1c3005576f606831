/** The page of the backends under test, opened for each test anew, and what stands in its panels. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { embed } from "libattn/data";
import { exactAttention, largestError } from "../../../tests/exact/exact.mjs";
import { settled } from "./browser.mjs";
import { cli, noCli } from "./cli.mjs";
import { change as changeOn, drop as dropOn } from "./reader.mjs";
import { drawn, rested as restedOn } from "./rest.mjs";
import { openSite } from "./site.mjs";

export { cli, noCli };
export const backends = ["softmax", "linear", "sparse", "sketch"];
export const web = fileURLToPath(new URL("../..", import.meta.url));
export const pictures = fileURLToPath(new URL("../../../build/", import.meta.url));
export const run = promisify(execFile);

export const closings = []; // of contexts that tests make: they end with their page, and before the browser
after(() => Promise.all(closings));
export const site = openSite();
export let page;
const requests = []; // of all pages
let complaints = []; // of the page under test: errors, warnings, refused loads

before(() => mkdir(pictures, { recursive: true }));

const openers = new Set();

/** The name of a test that opens the page itself. */
export function opener(name) {
    openers.add(name);
    return name;
}

/** Where a test's name begins with an address of the page, "#dim=32: ", it is opened there. */
beforeEach(async ({ name }) => {
    complaints = [];
    if (openers.has(name)) return;
    const [, address = "#preset=none"] = /^(#\S+): /.exec(name) ?? [];
    show(await openPage({}, new URL(address, site.url).href));
});

afterEach(async () => {
    await page?.close();
    assert.deepEqual(complaints, []);
});

/** From now on this is the page under test. */
export function show(opened) {
    page = opened;
}

const viewport = { width: 1600, height: 1000 }; // where settings stand beside the pictures

export async function openPage(options = {}, url = site.text) {
    const opened = await site.newPage({ viewport, ...options });
    opened.on("request", (request) => requests.push(request.url()));
    opened.on("requestfailed", (request) => complaints.push(`failed: ${request.url()}`));
    opened.on("pageerror", (error) => complaints.push(String(error)));
    opened.on("console", (line) => {
        if (["error", "warning"].includes(line.type())) complaints.push(line.text());
    });
    await opened.goto(url);
    await settled(opened);
    return opened;
}

/** The page under test is opened anew, at an address of its site. */
export async function reopen(address) {
    await page?.close();
    show(await openPage({}, new URL(address, site.url).href));
}

export const panel = (backend) => page.locator(`[data-backend=${backend}]`);

export async function number(backend, name) {
    const value = await panel(backend).locator(`[data-name=${name}] data`).getAttribute("value");
    assert.match(value, /\d/, `${backend} has no number for ${name}`);
    return Number(value);
}

/** What is folded under the panels' pictures is open. */
export async function openDetails() {
    const closed = page.locator(".details:not([open]) > summary:visible");
    while ((await closed.count()) > 0) await closed.first().click();
}

/** What gives a panel as files, folded out. */
export async function saving(backend) {
    await openDetails();
    const root = panel(backend).locator(".saving");
    if (!(await root.evaluate((details) => details.open))) await root.locator("summary").click();
    return root;
}

/** What softmax may be off by, for the page's text, by these rules. */
export async function mostOfText(rules = {}) {
    const dim = Number(await page.inputValue("#dim"));
    const { x, rows } = await embed(await page.inputValue("#text"), dim);
    const sizes = { batch: 1, heads: 1, kvHeads: 1, dim, valueDim: dim, keys: rows, queries: rows };
    return largestError(exactAttention(sizes, { query: x, key: x, value: x }, rules));
}

export const errors = () => Promise.all(backends.map((backend) => number(backend, "error")));

/** The page under test is done with all that was asked of it. */
export const rested = (options) => restedOn(page, options);

export async function picture(backend) {
    await drawn(page);
    return panel(backend)
        .locator("canvas")
        .evaluate((canvas) => canvas.toDataURL());
}

export const change = (action) => changeOn(page, action);
export const drop = (files) => dropOn(page, files);
export const write = (text) => change(() => page.fill("#text", text));

/** The library's worker fails at one call of a method: the next, or after so many more. */
export function failCall(method, after = 0) {
    return page.evaluate(
        ([name, count]) => {
            const { postMessage } = Worker.prototype;
            Worker.prototype.postMessage = function (letter, ...rest) {
                const isCall = letter[0] === "call" && letter[3] === name;
                if (!isCall || count-- > 0) return postMessage.call(this, letter, ...rest);
                Worker.prototype.postMessage = postMessage;
                const error = { name: "AttnError", code: "ATTN_ERROR_MEMORY", message: "no room" };
                const answer = () => this.onmessage({ data: ["error", letter[1], error] });
                setTimeout(answer, 100);
            };
        },
        [method, after],
    );
}

/** From now on the library's worker is asked for nothing: what is under way never comes. */
export function withhold() {
    return page.evaluate(() => {
        const { postMessage } = Worker.prototype;
        Worker.prototype.postMessage = function (letter, ...rest) {
            if (letter[0] !== "call") postMessage.call(this, letter, ...rest);
        };
    });
}

/** A number as the page writes it, such as −1.234 × 10⁻⁷. */
export function readNumber(text) {
    const [mantissa, exponent] = text.replace("−", "-").split(" × 10");
    const digits = (exponent ?? "⁰")
        .replace("⁻", "-")
        .replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(digit));
    return Number(mantissa) * 10 ** Number(digits);
}

/** The page as it is while its module is still on the way; the function returned lets it come. */
export async function openSlowly(url) {
    const context = await site.newContext({ viewport });
    let arrive;
    const arrived = new Promise((resolve) => (arrive = resolve));
    await context.route("**/*.wasm", async (route) => {
        await arrived;
        await route.continue();
    });
    show(await context.newPage());
    page.on("close", () => closings.push(context.close()));
    await page.goto(url);
    return arrive;
}

/** The last test of a file. */
export function testOrigins() {
    test("no request ever left the page's origin", () => {
        assert.ok(requests.length > 0);
        const own = /^(blob:)?http:\/\/localhost:\d+\//;
        assert.deepEqual(
            requests.filter((url) => !own.test(url)),
            [],
        );
    });
}
