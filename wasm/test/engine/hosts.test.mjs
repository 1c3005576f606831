/* The package where much of the web is missing: hosts of workers, and a realm as test runners make one. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/* What some hosts do not have. A bare realm has no process, navigator, document, fetch and Worker anyhow. */
const ABSENT = [
    ...["FinalizationRegistry", "WeakRef", "SharedArrayBuffer", "Atomics"],
    ...["TextEncoder", "TextDecoder", "URL"], // as in audio worklets
];

/** What a program of an entry of dist/ returns there. */
function inBareHost(entry, program = "return Object.keys(exports)", removed = ABSENT) {
    const flags = ["--experimental-vm-modules", "--no-warnings"];
    const args = [...flags, here("bare.mjs"), ...removed, "--", entry, program];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

/* Of those that libattn and libattn-labs have for hosts other than Node. */
const LABS = "../labs/dist/";
const ENTRIES = {
    "index.js": "init",
    "inline.js": "init",
    "softmax.js": "init",
    "native-web.js": "init",
    "worker.js": "init",
    "data.js": "embed",
    [`${LABS}models.js`]: "loadModel",
    [`${LABS}training.js`]: "createStudy",
    [`${LABS}labs.js`]: "lab",
    "view.js": "defineView",
    "view-words.js": "summarize",
};

for (const [entry, name] of Object.entries(ENTRIES)) {
    test(`${entry} is imported where much is missing`, () => {
        const names = inBareHost(entry);
        assert.ok(names.includes(name), `${names}`);
    });
}

test("every entry for other hosts than Node is among them", () => {
    const entriesIn = (folder) =>
        readdirSync(here(`../../dist/${folder}`))
            .filter((name) => name.endsWith(".dev.js"))
            .map((name) => `${folder}${name.replace(".dev", "")}`);
    for (const file of ["", LABS].flatMap(entriesIn)) assert.ok(file in ENTRIES, file);
});

const ATTEND = `
    const x = new Float32Array(12).fill(2);
    const plan = attn.plan({ queries: 3, dim: 4 });
    const planned = plan.run({ query: x, key: x, value: x }).out[5];
    const results = [planned, attn.attention(x, x, x, { dim: 4 })[0]];
    plan.dispose();
    attn.dispose();
    return results;`;
const MODULES = {
    "index.js": "libattn.simd.wasm",
    "inline.js": "libattn.simd.wasm",
    "softmax.js": "libattn.softmax.wasm",
};

for (const [entry, file] of Object.entries(MODULES)) {
    test(`${entry} computes with a module that came with the program`, () => {
        const start = `const attn = await exports.init({ source: compiled("${file}") });`;
        assert.deepEqual(inBareHost(entry, start + ATTEND), [2, 2]);
        assert.deepEqual(inBareHost(entry, start + ATTEND, []), [2, 2]);
    });
}

test("data, models and training compute with such a module", () => {
    const embed = `const { embed, readNpy } = await exports.init({ source: compiled("libattn.data.wasm") });
        const { tokens } = await exports.embed("a cat", 4);
        return [...tokens, (await embed("b", 4)).rows, typeof readNpy];`;
    assert.deepEqual(inBareHost("data.js", embed), ["a", "cat", 1, "function"]);
    const solve = `await exports.init({ source: compiled("${LABS}libattn.models.wasm") });
        const model = await exports.loadModel(bytes("${LABS}arithmetic-softmax.model"));
        return model.solve("3 + 4 * 2").right;`;
    assert.equal(inBareHost(`${LABS}models.js`, solve), true);
    const train = `await exports.init({ source: compiled("${LABS}libattn.training.wasm") });
        const study = await exports.createStudy({ task: "arithmetic", size: 2, width: 16, layers: 1, heads: 2 });
        return study.train(2).length;`;
    assert.equal(inBareHost(`${LABS}training.js`, train), 2);
});

test("texts are the same without TextEncoder and TextDecoder", () => {
    const text = JSON.stringify("a caf\u00e9 \u{1f600} \ud800 \u6771\u4eac");
    const program = `const { embed } = await exports.init({ source: compiled("libattn.data.wasm") });
        const { tokens, x } = await embed(${text}, 4);
        return { tokens, x: [...x] };`;
    const wanted = inBareHost("data.js", program, []);
    assert.ok(wanted.tokens.includes("caf\u00e9"));
    assert.deepEqual(inBareHost("data.js", program), wanted);
    const refused = `const attn = await exports.init({ source: compiled("libattn.simd.wasm") });
        attn.plan({ queries: 1, dim: 1, params: { "\u00e9\u{1f600}": 1 } });`;
    const error = inBareHost("index.js", refused, []);
    assert.match(error, /no parameter '\u00e9\u{1f600}'/u);
    assert.equal(inBareHost("index.js", refused), error);
});

const CALLS = {
    "data.js": `exports.embed("a", 4)`,
    [`${LABS}models.js`]: `exports.loadModel(new Uint8Array(4))`,
    [`${LABS}training.js`]: `exports.createStudy({ task: "lis" })`,
    [`${LABS}labs.js`]: `exports.lab("separation")`,
    "index.js": `exports.init({ build: "simd" })`,
    "softmax.js": `exports.init()`,
};
for (const [entry, call] of Object.entries(CALLS)) {
    test(`${entry} says what to do where its file is not found`, () => {
        const error = inBareHost(entry, `return await ${call};`);
        assert.match(
            error,
            /^AttnError ATTN_ERROR_LOAD .*pass the module: init\(\{ source \}\)\)$/,
        );
        const hasInline = ["index.js", "softmax.js"].includes(entry);
        assert.equal(error.includes("libattn/inline"), hasInline, error);
    });
}

test("bytes that the host refuses are no reason to import libattn/inline", () => {
    const INLINE = `return await exports.init();`;
    const given = `return await exports.init({ source: bytes("libattn.data.wasm") });`;
    for (const error of [inBareHost("inline.js", INLINE), inBareHost("data.js", given)]) {
        assert.match(error, /^AttnError ATTN_ERROR_LOAD this host compiles no bytes: .*disallowed/);
        assert.match(error, /pass a compiled module: init\(\{ source \}\)\)$/);
        assert.doesNotMatch(error, /inline/);
    }
});

test("threads and workers that there are not are said to be missing", () => {
    const threads = `return await exports.init({ source: compiled("libattn.threads.wasm"), threads: 2 });`;
    assert.match(
        inBareHost("index.js", threads),
        /ATTN_ERROR_UNSUPPORTED threads need shared memory/,
    );
    const worker = inBareHost("worker.js", `return await exports.init();`);
    assert.match(worker, /ATTN_ERROR_LOAD .*Worker is not defined .*this host has none/);
});
