/* loadPlugin(): plugins/template, built by the documented command, at work; and what is no plugin. */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { AttnError, init } from "libattn";
import { init as initNative } from "libattn/native";
import { Attn } from "../../js/calls/attn.js";
import { Heap } from "../../js/engine/heap.js";
import { shareOf } from "../share.mjs";
import { BUILDS, causalLimit, eachRow, exactAttention, largestError } from "../support.mjs";
import { makeProblem, moduleBytes } from "../support.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "libattn-plugin-"));
after(() => rmSync(folder, { recursive: true }));

/** Builds C files as plugins/template/README.md says; the path of the module. */
function build(name, source, ...options) {
    const out = join(folder, `${name}.wasm`);
    execFileSync(join(root, "dev"), ["plugin", join(root, source), "-o", out, ...options]);
    return out;
}

const file = build("template", "plugins/template/template.c");
const bytes = readFileSync(file);
const TEMPLATE = "org.libattn.template";
const builds = BUILDS.filter((name) => name !== "threads");

test("a plugin whose kernels are compiled for each instruction set", async () => {
    const kernels = ["--kernels", join(root, "plugins/template/simd/row.c")];
    const made = readFileSync(build("simd", "plugins/template/simd/simd.c", ...kernels));
    const attn = await init({ source: moduleBytes("simd") });
    await attn.loadPlugin(made);
    await attn.loadPlugin(bytes);
    const problem = makeProblem({ heads: 3, queries: 7, keys: 19, dim: 5, valueDim: 11 });
    const { query, key, value, sizes } = problem;
    const options = { ...sizes, params: { width: 3 } };
    const answer = (backend) => attn.attention(query, key, value, { ...options, backend });
    // Both weigh by the same formula; this one in f32, so that tests/plugin/simd.c has its error bound: less than
    // 2^-24 of 2 * (4 * 6.4 + 4) + 2 * 19 + 1 roundings, of values whose sizes are at most the largest.
    const largest = value.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
    const allowed = 99 * 2 ** -24 * largest;
    const [actual, expected] = ["org.libattn.template.simd", TEMPLATE].map(answer);
    assert.equal(actual.length, 3 * 7 * 11);
    actual.forEach((x, i) => assert.ok(Math.abs(x - expected[i]) <= allowed, `${i}: ${x}`));
    assert.equal(attn.plan({ ...options, backend: "org.libattn.template.simd" }).kernel, "wasm128");
});

const isError = (code, message) => (error) => {
    assert.ok(error instanceof AttnError, error.stack);
    assert.equal(error.code, `ATTN_ERROR_${code}`);
    assert.match(error.message, message);
    assert.ok(!error.message.includes("\n"), "one line");
    return true;
};

/* Modules made by hand, of few and short sections. */
const wasm = (...parts) => Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, ...parts.flat());
const section = (id, ...body) => [id, body.length, ...body];
const text = (name) => [name.length, ...Buffer.from(name)];
const dylink = (...body) => section(0, ...text("dylink.0"), ...body);

/** The template's formula: exp(-|i - j| / width), normalised over the keys that query i sees. */
function exact({ sizes, value }, width, causal) {
    const { batch, heads, queries, keys, valueDim } = sizes;
    const out = new Float32Array(batch * heads * queries * valueDim);
    const weights = new Float32Array(queries * keys);
    eachRow(sizes, (b, h, i, at) => {
        const seen = causalLimit(causal, sizes, i);
        const position = causal === "bottom-right" ? i + keys - queries : i;
        const logits = Array.from({ length: seen }, (_, j) => -Math.abs(position - j) / width);
        const largest = Math.max(...logits);
        const sum = logits.reduce((total, x) => total + Math.exp(x - largest), 0);
        for (let c = 0; c < valueDim; c++) {
            let total = 0;
            for (let j = 0; j < seen; j++) {
                const weight = Math.exp(logits[j] - largest) / sum;
                weights[i * keys + j] = weight;
                total += weight * value[at.value + j * valueDim + c];
            }
            out[at.row * valueDim + c] = total;
        }
    });
    return { out, weights };
}

/*
 * Both compute in double precision, and round once: half a unit in the last place, or the neighbour.
 * In double, sums of at most 128 terms whose sizes add up to at most 1 are each off by 128 roundings.
 */
function assertRounded(actual, expected, what) {
    assert.equal(actual.length, expected.length);
    for (let i = 0; i < actual.length; i++) {
        const allowed = 2 ** -23 * Math.abs(expected[i]) + 2 * 128 * 2 ** -53;
        assert.ok(Math.abs(actual[i] - expected[i]) <= allowed, `${what}[${i}]`);
    }
}

for (const name of builds) {
    test(`${name}: the template computes its formula, and tells its parameters, weights and cost`, async () => {
        const attn = await init({ source: null, build: name });
        const builtIn = attn.backends();
        const plugin = await attn.loadPlugin(bytes, { name: "my template" });
        assert.deepEqual(plugin.backends, [TEMPLATE]);
        assert.equal(plugin.name, "my template");
        const [backend, ...more] = attn.backends().slice(builtIn.length);
        assert.deepEqual(more, []);
        assert.equal(backend.origin, "my template");
        assert.deepEqual(backend.features, ["causal", "grouped_heads", "lse", "backward"]);
        const [{ name: param, type, min, max, default: initial, unit }] = backend.params;
        assert.deepEqual(
            [param, type, min, max, initial, unit],
            ["width", "number", 1, 1e6, 16, "keys"],
        );

        for (const causal of ["none", "top-left", "bottom-right"]) {
            const sizes = {
                batch: 2,
                heads: 4,
                kvHeads: 2,
                queries: 33,
                keys: 40,
                dim: 5,
                valueDim: 7,
            };
            const problem = makeProblem(sizes, 7);
            const plan = attn.plan({ ...sizes, backend: TEMPLATE, causal, params: { width: 3 } });
            const { query, key, value } = problem;
            const { out, weights } = exact(problem, 3, causal);
            assertRounded(plan.run({ query, key, value }).out, out, causal);
            assertRounded(plan.weights({ query, key }), weights, `weights, ${causal}`);
            assert.equal(plan.kernel, "plain C");
            assert.equal(plan.cost.form, "n m dv");
            assert.equal(plan.cost.flops, 2 * plan.cost.pairs * 7);
            plan.dispose();
        }
        assert.throws(
            () => attn.plan({ queries: 2, dim: 2, backend: TEMPLATE, params: { width: 0.5 } }),
            isError("RANGE", /width/),
        );
        plugin.unload();
        assert.deepEqual(attn.backends(), builtIn);
        attn.dispose();
    });
}

test("as it computes natively", async () => {
    const { query, key, value, sizes } = makeProblem({ heads: 2, queries: 30, dim: 4 }, 9);
    const attn = await init();
    await attn.loadPlugin(bytes);
    const out = attn.attention(query, key, value, { ...sizes, backend: TEMPLATE });
    assertRounded(out, exact({ sizes, value }, 16, "none").out, "out");
    const native = await initNative({ fallback: false });
    await assert.rejects(native.loadPlugin(bytes), isError("PLUGIN", /is the path/));
    native.dispose();
});

const server = createServer((request, answer) => {
    const found = request.url === "/template.wasm";
    answer.writeHead(found ? 200 : 404).end(found ? bytes : "no such file");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
after(() => server.close());
const base = `http://127.0.0.1:${server.address().port}`;

const sources = {
    "a Buffer": [() => bytes, "plugin.wasm"],
    "an ArrayBuffer": [() => new Uint8Array(bytes).buffer, "plugin.wasm"],
    "a file URL": [() => pathToFileURL(file), pathToFileURL(file).href],
    "a URL as text": [() => `${base}/template.wasm`, `${base}/template.wasm`],
    "a Response": [() => new Response(bytes), "plugin.wasm"],
    "a fetch": [() => fetch(`${base}/template.wasm`), `${base}/template.wasm`],
    "a Blob": [() => new Blob([bytes]), "plugin.wasm"],
    "a compiled module": [() => new WebAssembly.Module(bytes), "plugin.wasm"],
};
for (const [what, [make, name]] of Object.entries(sources)) {
    test(`from ${what}`, async () => {
        const attn = await init();
        const plugin = await attn.loadPlugin(make());
        assert.equal(plugin.name, name);
        assert.equal(attn.backends().at(-1).origin, name);
        attn.dispose();
    });
}

test("unload() is refused while plans use it, and done once", async () => {
    const attn = await init();
    const plugin = await attn.loadPlugin(bytes, { name: "t" });
    const plan = attn.plan({ queries: 2, dim: 1, backend: TEMPLATE });
    const other = attn.plan({ queries: 2, dim: 1 });
    assert.throws(
        () => plugin.unload(),
        isError("PLUGIN", /plugin 't': cannot unload: .*use it: 1/),
    );
    const one = Float32Array.of(1, 1);
    assert.deepEqual([...plan.run({ query: one, key: one, value: one }).out], [1, 1]);
    plan.dispose();
    plugin.unload();
    plugin.unload();
    assert.throws(
        () => plan.run({ query: one, key: one, value: one }),
        isError("DISPOSED", /plan/),
    );
    assert.throws(
        () => attn.plan({ queries: 2, dim: 1, backend: TEMPLATE }),
        isError("NOT_FOUND", /org\.libattn\.template/),
    );
    assert.deepEqual([...other.run({ query: one, key: one, value: one }).out], [1, 1]);
    await attn.loadPlugin(bytes);
    assert.equal(attn.backends().at(-1).id, TEMPLATE);
});

test("dispose() of the library ends its plugins too", async () => {
    const attn = await init();
    const plugin = await attn.loadPlugin(bytes);
    attn.plan({ queries: 2, dim: 1, backend: TEMPLATE });
    attn.dispose();
    plugin.unload();
    await assert.rejects(attn.loadPlugin(bytes), isError("DISPOSED", /libattn/));
    const late = await init();
    const loading = late.loadPlugin(bytes);
    late.dispose();
    await assert.rejects(loading, isError("DISPOSED", /libattn/));
});

test("loaded and unloaded, or refused, memory and table stay as they are", async () => {
    const { instance } = await WebAssembly.instantiate(await moduleBytes("simd"), {});
    const { memory, __indirect_function_table: table, _initialize } = instance.exports;
    _initialize();
    const attn = new Attn(new Heap(instance.exports));
    const size = () => [memory.buffer.byteLength, table.length];
    const one = Float32Array.of(1);
    const good = new WebAssembly.Module(bytes);
    const bad = new WebAssembly.Module(wasm(dylink(1, 6, 0x80, 0x80, 0x40, 0, 9, 0))); // 1 MiB
    const cycle = async () => {
        const plugin = await attn.loadPlugin(good);
        attn.attention(one, one, one, { dim: 1, backend: TEMPLATE });
        plugin.unload();
    };
    await cycle();
    const noSymbol = { code: "ATTN_ERROR_PLUGIN", message: /no symbol/ };
    await assert.rejects(attn.loadPlugin(bad), noSymbol);
    const before = size();
    for (let i = 0; i < 50; i++) await assert.rejects(attn.loadPlugin(bad), noSymbol);
    for (let i = 0; i < shareOf(5000); i++) await cycle(); // half a kilobyte each
    assert.deepEqual(size(), before);
});

/* ---- what plugins may call ---- */

const probe = readFileSync(build("probe", "wasm/test/plugins/probe.c", "-fvisibility=default"));
const { fround, hypot } = Math;
const inf = Infinity;
const X = Float32Array.of(0, 1, -1, 0.5, 3, -2.25, NaN, 1, 7, inf, -inf, 1e-3);
const Y = Float32Array.of(1, inf, inf, 0.5, NaN, 2, 3, NaN, -7, 2, 1, -0);

/* fmaxf, fminf and powf as C11 has them (annex F), which is not Math's way. */
const expected = {
    expf: (x) => Math.exp(x),
    exp2: (x) => 2 ** x,
    exp2f: (x) => 2 ** x,
    log1pf: (x) => Math.log1p(x),
    tanhf: (x) => Math.tanh(x),
    cosf: (x) => Math.cos(x),
    atan2f: (x, y) => Math.atan2(x, y),
    hypotf: (x, y) => hypot(x, y),
    fmaxf: (x, y) => (x > y || Number.isNaN(y) ? x : y),
    fminf: (x, y) => (x < y || Number.isNaN(y) ? x : y),
    powf: (x, y) => (x === 1 || (x === -1 && y === inf) ? 1 : x ** y),
    sqrtf: (x) => Math.sqrt(x),
    address: (x) => Math.exp(x) + (x + 0.25) * 0.25,
    memmove: (x, y, e) => X[Math.max(e - 1, 0)],
};

for (const name of builds) {
    test(`${name}: functions of the C library, and addresses that are filled in`, async () => {
        const attn = await init({ source: null, build: name });
        const { backends } = await attn.loadPlugin(probe);
        const sizes = { queries: 1, keys: 1, dim: X.length };
        for (const [act, f] of Object.entries(expected)) {
            const params = { act };
            const out = attn.attention(X, Y, X, { ...sizes, backend: backends[0], params });
            for (let e = 0; e < X.length; e++) {
                const right = fround(f(X[e], Y[e], e));
                const error = Math.abs(out[e] - right) / (Math.abs(right) || 1);
                const same = Object.is(out[e], right) || out[e] === right || error <= 2 ** -22;
                assert.ok(same, `${act}(${X[e]}, ${Y[e]}) is ${out[e]}, not ${right}`);
            }
        }
        attn.dispose();
    });
}

/* ---- what traps ---- */

test("a trap is an error, and the rest goes on", async () => {
    const attn = await init();
    const plugin = await attn.loadPlugin(probe);
    const backend = plugin.backends[0];
    const sizes = { queries: 1, dim: X.length };
    const survivor = attn.plan({ ...sizes, backend, params: { act: "sqrtf" } });
    const arrays = { query: X, key: Y, value: X };
    const { out } = survivor.run(arrays);
    const traps = { memory: /out of bounds/, unreachable: /unreachable/, stack: /./ };
    for (const [act, message] of Object.entries(traps)) {
        const plan = attn.plan({ ...sizes, backend, params: { act } });
        for (let times = 0; times < 100; times++) {
            // a stack that were not put back would be used up
            assert.throws(() => plan.run(arrays), isError("TRAP", /^the module trapped: /));
        }
        assert.throws(() => plan.run(arrays), isError("TRAP", message));
        plan.dispose();
        assert.deepEqual(survivor.run(arrays).out, out);
        const { query, key, value, sizes: other } = makeProblem({ queries: 50, dim: 16 }, 5);
        const exactly = attn.plan(other);
        const result = exactly.run({ query, key, value }).out;
        const most = largestError(exactAttention({ sizes: other, query, key, value }));
        assert.ok(exactly.error({ query, key, value, out: result }) <= most);
        exactly.dispose();
    }
    const stubborn = attn.plan({ ...sizes, backend, params: { act: "destroy" } });
    assert.throws(() => stubborn.dispose(), isError("TRAP", /unreachable/));
    stubborn.dispose();
    survivor.dispose();
    plugin.unload();
    attn.dispose();
});

test("where the end of the last attention()'s plan traps, the rest goes on", async () => {
    const { query, key, value, sizes } = makeProblem({ queries: 3, dim: 4 }, 5);
    const other = (attn) => attn.attention(query, key, value, sizes);
    const trap = isError("TRAP", /unreachable/);
    for (const next of [other, (attn, plugin) => plugin.unload(), (attn) => attn.dispose()]) {
        const attn = await init();
        const plugin = await attn.loadPlugin(probe);
        const options = { dim: X.length, backend: plugin.backends[0], params: { act: "destroy" } };
        attn.attention(X, Y, X, options);
        assert.throws(() => next(attn, plugin), trap);
        next(attn, plugin);
        if (next === other) plugin.unload();
        attn.dispose();
        assert.throws(() => other(attn), isError("DISPOSED", /libattn/));
    }
});

/* ---- what is refused ---- */

const variant = (number) =>
    readFileSync(build(`variant${number}`, "tests/plugin/variant.c", `-DVARIANT=${number}`));
const stray = readFileSync(build("stray", "wasm/test/plugins/stray.c"));
/* One immutable global, i32.const `value`, exported as the entry. */
const pointer = (...value) => [
    ...section(6, 1, 0x7f, 0, 0x41, ...value, 0x0b),
    ...section(7, 1, ...text("attn_plugin_entry"), 3, 0),
];
const globalExp = section(2, 1, ...text("env"), ...text("exp"), 3, 0x7f, 0);
const refused = [
    ["bytes that are no module", new Uint8Array(64), "PLUGIN", /^plugin 'x': cannot compile: /],
    ["half a plugin", bytes.subarray(0, 900), "PLUGIN", /cannot compile/],
    ["nothing in it", wasm(), "PLUGIN", /no section dylink\.0/],
    ["libattn itself", await moduleBytes("scalar"), "PLUGIN", /no section dylink\.0/],
    ["an empty dylink.0", wasm(dylink()), "PLUGIN", /no section dylink\.0/],
    ["no symbol", variant(7), "PLUGIN", /^plugin 'x': it has no symbol attn_plugin_entry$/],
    ["another ABI", variant(1), "ABI", /plugin 'x' is of ABI version 2\.1, this library of 1\.1/],
    ["the id of a built-in backend", variant(3), "PLUGIN", /'softmax' is registered already/],
    ["one good id and one taken", variant(4), "PLUGIN", /'softmax' is registered already/],
    ["no backends", variant(5), "PLUGIN", /'x' is not a plugin: its entry is malformed/],
    ["a backend without plan()", variant(6), "PLUGIN", /its backend 0 is malformed/],
    ["needs that nobody meets", stray, "PLUGIN", /needs what this build has not: puts, lgamma/],
    [
        "more memory than there is",
        wasm(dylink(1, 8, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0)),
        "MEMORY",
        /no memory for .*plugin 'x'/,
    ],
    [
        "an alignment beyond all memory",
        wasm(dylink(1, 5, 8, 0xff, 0x7f, 0, 0)),
        "MEMORY",
        /no memory/,
    ],
    [
        "more functions than a table holds",
        wasm(dylink(1, 8, 8, 0, 0xff, 0xff, 0xff, 0xff, 0x0f, 0)),
        "PLUGIN",
        /cannot link: /,
    ],
    [
        "an entry outside of all memory",
        wasm(dylink(1, 4, 8, 0, 0, 0), pointer(0x80, 0x80, 0x80, 0x80, 0x78)),
        "TRAP",
        /out of bounds/,
    ],
    [
        "exp, but as a variable",
        wasm(dylink(1, 4, 8, 0, 0, 0), globalExp),
        "PLUGIN",
        /cannot link: /,
    ],
];
for (const [what, given, code, message] of refused) {
    test(`refused: ${what}`, async () => {
        const attn = await init();
        const before = attn.backends();
        const error = isError(code, message);
        await assert.rejects(attn.loadPlugin(given, { name: "x" }), error);
        assert.deepEqual(attn.backends(), before);
        await attn.loadPlugin(bytes); // and nothing is in its way
        attn.dispose();
    });
}

test("refused: the same plugin twice", async () => {
    const attn = await init();
    const plugin = await attn.loadPlugin(bytes);
    const twice = isError("PLUGIN", /'org\.libattn\.template' is registered already/);
    await assert.rejects(attn.loadPlugin(bytes), twice);
    plugin.unload();
    const both = await Promise.allSettled([attn.loadPlugin(bytes), attn.loadPlugin(bytes)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
});

test("refused: what is no source at all", async () => {
    const attn = await init();
    await assert.rejects(attn.loadPlugin(), TypeError);
    await assert.rejects(attn.loadPlugin(5), /source must be .*, not 5/);
    await assert.rejects(attn.loadPlugin("template.wasm"), isError("PLUGIN", /is no URL/));
    await assert.rejects(attn.loadPlugin(bytes, { nam: "x" }), /unknown "nam"/);
    await assert.rejects(attn.loadPlugin(bytes, { name: 5 }), /name must be a string/);
    await assert.rejects(attn.loadPlugin(`${base}/none`), isError("PLUGIN", /HTTP status 404/));
    attn.dispose();
});

test("refused: any plugin, where there are threads", async () => {
    const attn = await init({ source: null, build: "threads", threads: 2 });
    const error = isError("UNSUPPORTED", /the threads build cannot load plugins/);
    await assert.rejects(attn.loadPlugin(bytes), error);
    attn.dispose();
});

const flag = "--no-enable-sse4-1"; // with it V8 has no SIMD128
const skip = process.arch !== "x64" && "only on x86-64 can SIMD128 be switched off";
test("refused: SIMD where the engine has none; without SIMD it loads", { skip }, async () => {
    const plain = build("plain", "plugins/template/template.c", "-mno-simd128");
    const code = `
        import { readFileSync } from "node:fs";
        import { init } from "libattn";
        const attn = await init();
        for (const file of process.argv.slice(1)) {
            await attn.loadPlugin(readFileSync(file), { name: "x" }).then(
                ({ backends }) => console.log(attn.build, backends.join()),
                ({ code, message }) => console.log(attn.build, code, message),
            );
        }`;
    const node = [flag, "--input-type=module", "--eval", code, file, plain];
    const cwd = fileURLToPath(new URL("../..", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, node, { cwd });
    const [first, second] = stdout.split("\n");
    assert.match(first, /^scalar ATTN_ERROR_PLUGIN plugin 'x': cannot compile: .*SIMD/);
    assert.equal(second, `scalar ${TEMPLATE}`);
});
