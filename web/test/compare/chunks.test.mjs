/** Chunks of weights are computed from the Q and K that the worker holds: none is sent, none is copied. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { attentionWorker, settled } from "../support/browser.mjs";
import { openSite } from "../support/site.mjs";

const tokens = 1500; // several chunks for each of the four backends
const most = 1024; // bytes: addresses, strides and extents
const site = openSite();

/** Goes before the worker's own code: counts what is allocated in the module for each chunk. */
function countCopies() {
    globalThis.chunks = [];
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = async (...given) => {
        const result = await instantiate(...given);
        const { exports } = result.instance ?? result;
        if (!exports.attnjs_weights) return result;
        let allocated = 0; // since the last call on a plan
        const counted = {
            ...exports,
            attnjs_allocate(bytes) {
                allocated += bytes;
                return exports.attnjs_allocate(bytes);
            },
            attnjs_weights(...args) {
                const [, plan, , , , , rows] = args;
                globalThis.chunks.push({ plan, rows, allocated });
                allocated = 0;
                return exports.attnjs_weights(...args);
            },
        };
        for (const name of Object.keys(exports)) {
            if (!/^attnjs_(run|oracle_error|degenerate_rows)$/.test(name)) continue;
            counted[name] = (...args) => {
                allocated = 0;
                return exports[name](...args);
            };
        }
        return result.instance
            ? { ...result, instance: { exports: counted } }
            : { exports: counted };
    };
}

/** In the page: the bytes of arrays in each message to the worker that asks for weights. */
function countPosts() {
    globalThis.posts = [];
    const bytesOf = (value) => {
        if (ArrayBuffer.isView(value)) return value.byteLength;
        if (value === null || typeof value !== "object") return 0;
        return Object.values(value).reduce((sum, one) => sum + bytesOf(one), 0);
    };
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message, transfer) {
        if (Array.isArray(message) && message.includes("weights"))
            globalThis.posts.push(bytesOf(message));
        return postMessage.call(this, message, transfer);
    };
}

test("no chunk of weights sends or copies Q and K", async (t) => {
    const page = await site.newPage();
    await page.addInitScript(countPosts);
    await page.route("**/assets/served-*.js", async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: `(${countCopies})();${await response.text()}` });
    });
    const text = Array.from({ length: tokens }, (_, i) => `word${i}`).join(" ");
    const [worker] = await Promise.all([attentionWorker(page), page.goto(site.text)]);
    await settled(page);
    await page.evaluate(() => (globalThis.posts.length = 0));
    await worker.evaluate(() => (globalThis.chunks.length = 0));
    await page.fill("#text", text);
    await page.waitForFunction(
        (count) => document.querySelector("#summary").textContent.replace(/\D/g, "") === count,
        String(tokens),
    );
    await settled(page);

    const posts = await page.evaluate(() => globalThis.posts);
    const chunks = await worker.evaluate(() => globalThis.chunks);
    assert.ok(chunks.length >= 4 * 4 && posts.length >= chunks.length, `${chunks.length} chunks`);
    assert.deepEqual(new Set(posts), new Set([0]));
    const plans = chunks.map(({ plan }) => plan); // what each needs is made before its first chunk
    const later = chunks.filter(({ plan }, i) => plans.indexOf(plan) < i);
    const copied = later.map(({ rows, allocated }) => allocated - 4 * rows * tokens);
    t.diagnostic(
        `${chunks.length} chunks, at most ${Math.max(...copied)} bytes beside the weights`,
    );
    for (const bytes of copied) assert.ok(bytes <= most, `${bytes} bytes`);
    await page.close();
});
