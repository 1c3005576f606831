/* Errors are one line without control characters, whatever names and values a caller passes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { init } from "libattn";
import { init as initWorker } from "libattn/worker";
import { libraries } from "../support.mjs";

const NAMES = [
    "a\nb",
    "a\tb",
    "a\u2028b",
    "a\u2029b",
    "a\x1b[31mb",
    "a\x7fb",
    "a\x85b",
    "a\ud800b",
];
const NOT_A_LINE = /[\p{Cc}\u2028\u2029\p{Surrogate}]/u;

const x = new Float32Array(4);
const sizes = { queries: 2, dim: 2 };

/** What is wrong with a name, in a library: [what, call]. */
const calls = (attn) => [
    ["an option", (name) => attn.plan({ ...sizes, [name]: 1 })],
    ["a backend", (name) => attn.plan({ ...sizes, backend: name })],
    ["a parameter", (name) => attn.plan({ ...sizes, params: { [name]: 1 } })],
    ["a parameter's list", (name) => attn.plan({ ...sizes, params: { [name]: [] } })],
    ["a parameter's number", (name) => attn.plan({ ...sizes, params: { [name]: NaN } })],
    ["a parameter's value", (name) => attn.plan({ ...sizes, params: { precision: name } })],
    ["a corner", (name) => attn.plan({ ...sizes, causal: name })],
    ["an input", (name) => attn.plan({ ...sizes, inputs: [name] })],
    [
        "strides",
        (name) => attn.attention(x, x, x, { ...sizes, keys: 2, strides: { [name]: [1, 1, 1, 1] } }),
    ],
    ["an element type", (name) => attn.tensor(x, name)],
    ["a plugin", (name) => attn.loadPlugin(name)],
    ["a plugin's name", (name) => attn.loadPlugin(new Uint8Array(8), { name })],
];

async function refused(call, what) {
    try {
        await call();
    } catch (error) {
        assert.doesNotMatch(error.message, NOT_A_LINE, what);
        return;
    }
    assert.fail(`${what} is not refused`);
}

for (const build of ["simd", "native"]) {
    const attn = libraries.get(build);
    for (const [what, call] of calls(attn))
        if (build === "simd" || !what.includes("plugin"))
            test(`${build}: ${what}`, async () => {
                for (const name of NAMES) await refused(() => call(name), JSON.stringify(name));
            });
}

test("in a worker", async () => {
    const attn = await initWorker();
    for (const [what, call] of calls(attn))
        for (const name of NAMES)
            await refused(() => call(name), `${what} ${JSON.stringify(name)}`);
    attn.dispose();
});

test("options and sources of init()", async () => {
    for (const name of NAMES)
        for (const given of [{ source: `file:///none/${name}` }, { build: name }, { [name]: 1 }])
            await refused(() => init(given), JSON.stringify(given));
});
