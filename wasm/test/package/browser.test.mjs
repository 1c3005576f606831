/* The package in Chromium: under a strict policy, with and without cross-origin isolation. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { launchChromium } from "../../../web/test/support/browser.mjs";
import { assertClose, exactAttention } from "../support.mjs";
import { serve } from "./server.mjs";

/* Softmax of equal values is that value. */
const WORKER = `
    import { init } from "/dist/index.js";
    onmessage = async ({ data }) => {
        const attn = await init(data);
        const x = new Float32Array(64).fill(3);
        const { build, threads } = attn;
        postMessage({ build, threads, out: attn.attention(x, x, x, { heads: 4, dim: 16 })[0] });
        attn.dispose();
    };`;

let server, browser;

before(async () => {
    server = await serve(fileURLToPath(new URL("../..", import.meta.url)), {
        texts: { "/page.html": "<!doctype html><title>x</title>", "/worker.js": WORKER },
        // Scripts of workers always are.
        isolated: ({ pathname, searchParams }) =>
            pathname !== "/page.html" || searchParams.has("isolated"),
    });
    browser = await launchChromium();
});
after(async () => {
    await browser?.close();
    server.close();
});

/** What `body` returns in a new page, or the error it rejects with. */
async function inPage(query, body, argument, { base } = server) {
    const page = await browser.newPage();
    try {
        await page.goto(`${base}/page.html${query}`);
        return await page.evaluate(body, argument);
    } finally {
        await page.close();
    }
}

async function compute(options) {
    const { init } = await import("/dist/index.js");
    try {
        const attn = await init(options);
        const x = Float32Array.from({ length: 8 * 200 * 32 }, (_, i) => Math.sin(i));
        const out = attn.attention(x, x, x, { heads: 8, dim: 32, causal: true });
        const single = await init({ build: "simd" });
        const wanted = single.attention(x, x, x, { heads: 8, dim: 32, causal: true });
        const { build, threads } = attn;
        attn.dispose();
        const same = wanted.every((number, i) => number === out[i]);
        return { build, threads, same, out: Array.from(out), isolated: crossOriginIsolated };
    } catch ({ code, message }) {
        return { code, message, isolated: crossOriginIsolated };
    }
}

function inWorker(options) {
    return new Promise((resolve, reject) => {
        const worker = new Worker("/worker.js", { type: "module" });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => reject(new Error(message));
        worker.postMessage(options);
    });
}

test("a page takes relaxed SIMD", async () => {
    const { build, out, isolated } = await inPage("", compute, {});
    assert.equal(build, "relaxed");
    const x = Float32Array.from({ length: 8 * 200 * 32 }, (_, i) => Math.sin(i));
    const sizes = {
        batch: 1,
        heads: 8,
        kvHeads: 8,
        queries: 200,
        keys: 200,
        dim: 32,
        valueDim: 32,
    };
    const exact = exactAttention({ sizes, query: x, key: x, value: x }, { causal: "top-left" });
    assertClose(out, exact.out, exact.outBound, "out");
    assert.equal(isolated, false);
});

test("threads without isolation are a typed error", async () => {
    const { code, message } = await inPage("", compute, { threads: 2 });
    assert.equal(code, "ATTN_ERROR_UNSUPPORTED");
    assert.match(message, /cross-origin isolated/);
});

test("threads in an isolated page, whose window may not sleep", async () => {
    const result = await inPage("?isolated", compute, { threads: 2 });
    const { build, threads, same, isolated } = result;
    assert.deepEqual([build, threads, same, isolated], ["threads", 2, true, true]);
});

test("in a web worker, with threads of its own", async () => {
    const single = await inPage("", inWorker, { build: "scalar" });
    assert.deepEqual(single, { build: "scalar", threads: 1, out: 3 });
    const double = await inPage("?isolated", inWorker, { threads: 2 });
    assert.deepEqual(double, { build: "threads", threads: 2, out: 3 });
});

const hosting = readFileSync(new URL("../../docs/hosting.md", import.meta.url), "utf8");
const [, readmePolicy] = hosting.match(/```text\n(script-src .*)\n```/);
const policies = [
    ["README's policy is enough", (policy) => policy, { build: "relaxed", worker: "relaxed" }],
    [
        "without wasm-unsafe-eval",
        (policy) => policy.replace("'wasm-unsafe-eval'", ""),
        { code: "ATTN_ERROR_LOAD" },
    ],
    [
        "without connect-src",
        (policy) => policy.replace("connect-src 'self'", ""),
        { code: "ATTN_ERROR_LOAD" },
    ],
    [
        "with no workers",
        (policy) => policy.replace("worker-src 'self'", "worker-src 'none'"),
        { build: "relaxed", worker: "ATTN_ERROR_LOAD" },
    ],
];
for (const [name, change, wanted] of policies) {
    test(`Content-Security-Policy: ${name}`, async () => {
        const strict = await serve(fileURLToPath(new URL("../..", import.meta.url)), {
            texts: { "/page.html": "<!doctype html><title>x</title>" },
            policy: `default-src 'none'; ${change(readmePolicy)}`,
        });
        const seen = await inPage(
            "",
            async () => {
                const [main, worker] = await Promise.all(
                    ["index", "worker"].map((entry) => import(`/dist/${entry}.js`)),
                );
                try {
                    const { build } = await main.init();
                    const other = await worker.init().catch((error) => ({ build: error.code }));
                    other.dispose?.();
                    return { build, worker: other.build };
                } catch ({ code }) {
                    return { code };
                }
            },
            null,
            strict,
        ).finally(() => strict.close());
        assert.deepEqual(seen, wanted);
    });
}

test("softmax alone", async () => {
    const out = await inPage("", async () => {
        const { init } = await import("/dist/softmax.js");
        const x = new Float32Array(8).fill(2);
        return (await init()).attention(x, x, x, { dim: 4 })[0];
    });
    assert.equal(out, 2);
});

test("gradients, and in a worker", async () => {
    const result = await inPage("", async () => {
        const [{ init }, worker] = await Promise.all(
            ["index", "worker"].map((entry) => import(`/dist/${entry}.js`)),
        );
        const x = new Float32Array(8).fill(2);
        const call = { query: x, key: x, value: x, outGradient: x, dim: 4 };
        const remote = await worker.init();
        const both = [(await init()).gradients(call), await remote.gradients(call)];
        remote.dispose();
        return both.map(({ query, value }) => [Math.abs(query[0]), value[0].toFixed(3)]);
    });
    assert.deepEqual(result, [
        [0, "2.000"], // two queries pass half of 2 to each of two keys
        [0, "2.000"],
    ]);
});

test("libattn/worker: the numbers, progress and an abort", async () => {
    const result = await inPage("", async () => {
        const { init } = await import("/dist/worker.js");
        const attn = await init();
        const x = new Float32Array(4 * 1000 * 64).fill(2);
        const options = { heads: 4, dim: 64 };
        const seen = [];
        const onProgress = (done) => seen.push(done);
        const out = await attn.attention(x, x, x, { ...options, onProgress });
        const stop = new AbortController();
        const stopped = attn.attention(x, x, x, { ...options, signal: stop.signal });
        stop.abort();
        const name = await stopped.catch((error) => error.name);
        const again = await attn.attention(x, x, x, options);
        attn.dispose();
        return { out: out[0], again: again[0], seen: [...new Set(seen)], name };
    });
    assert.deepEqual(result, { out: 2, again: 2, seen: [0.25, 0.5, 0.75, 1], name: "AbortError" });
});

/* Greedy words of the small language models: what `attn lab write` writes, and loadWriter() in Node. */
test("models of text write greedily what the command line writes", async () => {
    const file = new URL("../../../tests/cli/lab_written.test.mjs", import.meta.url);
    const written = [
        ...readFileSync(file, "utf8").matchAll(/^ {8}(linear|softmax|sparse):\s+"(.*)",$/gm),
    ].map(([, attention, text]) => [attention, text]);
    assert.equal(written.length, 3);
    for (const [attention, text] of written) assert.equal(await inPage("", write, attention), text);
});

async function write(attention) {
    const { loadWriter } = await import("/labs/dist/models.js");
    const writer = await loadWriter(attention);
    const words = [...writer.write("And the LORD said", { temperature: 0, tokens: 30 })];
    writer.dispose();
    return words.join("");
}
