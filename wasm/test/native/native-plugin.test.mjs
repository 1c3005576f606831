/* loadPlugin() of libattn/native: plugins/template as a shared object, built by the documented command; and what is none. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { init } from "libattn/native";
import { libraries, makeProblem } from "../support.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "libattn-plugin-"));
after(() => rmSync(folder, { recursive: true }));

function build(suffix) {
    const out = join(folder, `template.${suffix}`);
    execFileSync(join(root, "dev"), [
        "plugin",
        join(root, "plugins/template/template.c"),
        "-o",
        out,
    ]);
    return out;
}
const path = build("so");
const BACKEND = "org.libattn.template";
const problem = makeProblem({ heads: 2, queries: 9, keys: 12, dim: 4 }, 1);
const { sizes, query, key, value } = problem;
const options = { ...sizes, backend: BACKEND, causal: "bottom-right", params: { width: 2 } };

test("a plugin's backend computes what the same plugin computes as a module", async () => {
    const wasm = libraries.get("simd");
    const module = await wasm.loadPlugin(readFileSync(build("wasm")));
    const expected = wasm.attention(query, key, value, options);
    const attn = await init({ fallback: false, threads: 2 });
    const plugin = await attn.loadPlugin(path);
    assert.deepEqual(plugin.backends, [BACKEND]);
    assert.equal(plugin.name, path);
    assert.ok(attn.backends().some(({ id }) => id === BACKEND));
    const out = attn.attention(query, key, value, options);
    const beside = await attn.attentionAsync(query, key, value, options);
    assert.deepEqual(beside, out);
    // Both sum in f32, with exponentials of their own: an error of few roundings of values below 1.
    out.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) <= sizes.keys * 2 ** -21, `${i}`));
    attn.dispose();
    module.unload();
});

test("a path from here, a file: URL, its text, and a name", async () => {
    const url = pathToFileURL(path);
    for (const source of [relative(process.cwd(), path), url, url.href, Promise.resolve(path)]) {
        const attn = await init({ fallback: false });
        const plugin = await attn.loadPlugin(source, { name: "mine" });
        assert.deepEqual([plugin.name, ...plugin.backends], ["mine", BACKEND]);
        attn.dispose();
    }
});

test("unload() takes backends back once nothing uses them, and they can come again", async () => {
    const attn = await init({ fallback: false });
    const before = attn.backends().map(({ id }) => id);
    const plugin = await attn.loadPlugin(path);
    const plan = attn.plan(options);
    assert.throws(() => plugin.unload(), { code: "ATTN_ERROR_PLUGIN", message: /cannot unload/ });
    plan.dispose();
    attn.attention(query, key, value, options);
    plugin.unload();
    plugin.unload();
    assert.deepEqual(
        attn.backends().map(({ id }) => id),
        before,
    );
    assert.throws(() => attn.plan(options), { code: "ATTN_ERROR_NOT_FOUND" });
    const again = await attn.loadPlugin(path);
    assert.equal(attn.attention(query, key, value, options).length, query.length);
    attn.dispose();
    again.unload();
    await assert.rejects(attn.loadPlugin(path), { code: "ATTN_ERROR_DISPOSED" });
});

test("what is no plugin is refused in one line, and changes nothing", async () => {
    const attn = await init({ fallback: false });
    const before = attn.backends();
    const text = join(folder, "text.so");
    writeFileSync(text, "no shared object");
    const cut = join(folder, "cut.so");
    writeFileSync(cut, readFileSync(path).subarray(0, 2000));
    const addon = fileURLToPath(new URL("../../dist/libattn.node", import.meta.url));
    const wrong = [
        [join(folder, "absent.so"), /absent\.so/],
        [text, /text\.so/],
        [cut, /cut off|cut\.so/],
        [addon, /no symbol/],
        [readFileSync(path), /natively a plugin is the path/],
        [undefined, /natively a plugin is the path/],
        ["https://example.org/template.so", /natively it is a file/],
        [new URL("https://example.org/template.so"), /natively it is a file/],
    ];
    for (const [source, message] of wrong) {
        await assert.rejects(attn.loadPlugin(source), (error) => {
            assert.equal(error.code, "ATTN_ERROR_PLUGIN", error.stack);
            assert.match(error.message, message);
            assert.doesNotMatch(error.message, /\n/);
            return true;
        });
    }
    await assert.rejects(attn.loadPlugin(path, { nam: "x" }), TypeError);
    await attn.loadPlugin(path);
    await assert.rejects(attn.loadPlugin(path), /org\.libattn\.template/); // it is there already
    assert.equal(attn.backends().length, before.length + 1);
    attn.dispose();
});
