/* init(): every source, both builds, and what is not a module. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { Worker } from "node:worker_threads";
import { AttnError, init } from "libattn";
import { init as initSoftmax } from "libattn/softmax";
import { init as initWorker } from "libattn/worker";
import { init as initWithFetch } from "../../dist/index.js";
import { BUILDS, hasRelaxed, moduleBytes } from "../support.mjs";

const bytes = await moduleBytes("scalar");
const file = new URL("../../dist/libattn.scalar.wasm", import.meta.url);
const response = () => new Response(bytes, { headers: { "content-type": "application/wasm" } });
let server, base;

before(async () => {
    server = createServer((request, answer) => {
        if (request.url === "/gone") return request.socket.destroy();
        if (request.url === "/half") {
            answer.writeHead(200, { "content-length": 1000 });
            return answer.write("half", () => request.socket.destroy());
        }
        const found = request.url === "/libattn.wasm";
        const page = request.url === "/page.wasm";
        answer.writeHead(found || page ? 200 : 404, page ? { "content-type": "text/html" } : {});
        answer.end(found ? bytes : page ? "<!doctype html>" : "no such file");
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${server.address().port}`;
});
after(() => server.close());

const sources = {
    "a Buffer": () => bytes,
    "an ArrayBuffer": () => new Uint8Array(bytes).buffer,
    "a DataView": () => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    "shared memory": () => {
        const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
        shared.set(bytes);
        return shared;
    },
    "a file URL": () => file,
    "a file URL as text": () => file.href,
    "an http URL": () => new URL(`${base}/libattn.wasm`),
    "a Response": response,
    "a promise of a Response": () => Promise.resolve(response()),
    "a fetch": () => fetch(`${base}/libattn.wasm`),
    "a Blob": () => new Blob([bytes]),
    "a compiled module": () => new WebAssembly.Module(bytes),
};
for (const [name, make] of Object.entries(sources)) {
    test(`from ${name}`, async () =>
        assert.equal((await init({ source: make() })).build, "scalar"));
}

test("what Node imports with libattn is two files, and none of Node's own", () => {
    const read = (name) => readFileSync(new URL(`../../dist/${name}`, import.meta.url), "utf8");
    const importsOf = (text) =>
        [...text.matchAll(/^import .* from "(.*)";/gm)].map(([, name]) => name);
    const shared = importsOf(read("node.js"));
    assert.equal(shared.length, 1);
    assert.deepEqual(importsOf(read(shared[0])), []);
    assert.deepEqual(importsOf(read("softmax-node.js")), []);
});

test("without process, or its getBuiltinModule(), files are read as well", async () => {
    const { process } = globalThis;
    const { getBuiltinModule } = process;
    try {
        process.getBuiltinModule = undefined;
        assert.equal((await init({ source: file })).build, "scalar");
        delete globalThis.process;
        assert.equal((await init({ source: file })).build, "scalar");
    } finally {
        globalThis.process = process;
        process.getBuiltinModule = getBuiltinModule;
    }
});

test("from nothing, the best that the engine has", async () => {
    assert.equal((await init()).build, hasRelaxed ? "relaxed" : "simd");
});

test("relaxed SIMD where there is none is refused", { skip: hasRelaxed }, async () => {
    await assert.rejects(init({ source: null, build: "relaxed" }), (error) => {
        assert.equal(error.code, "ATTN_ERROR_UNSUPPORTED");
        assert.match(error.message, /cannot run the relaxed build/);
        return true;
    });
});

for (const build of BUILDS) {
    test(`the ${build} build when told so`, async () => {
        assert.equal((await init({ source: undefined, build })).build, build);
    });
}

test("the entry for browsers, with fetch alone", async () => {
    assert.equal((await initWithFetch({ source: `${base}/libattn.wasm` })).build, "scalar");
});

test("instances share nothing", async () => {
    const [one, other] = [await init(), await init()];
    one.dispose();
    assert.equal(other.attention(...[1, 1, 1].map((x) => Float32Array.of(x)), { dim: 1 })[0], 1);
});

test("in a worker thread, from a module compiled outside", async () => {
    const code = `
    const { parentPort, workerData } = require("node:worker_threads");
    import(workerData.entry).then(async ({ init }) => {
      const attn = await init({ source: workerData.module });
      const one = Float32Array.of(1);
      parentPort.postMessage(attn.attention(one, one, one, { dim: 1 })[0]);
    });`;
    const entry = new URL("../../js/index.js", import.meta.url).href;
    const workerData = { entry, module: new WebAssembly.Module(bytes) };
    const worker = new Worker(code, { eval: true, workerData });
    assert.equal(await new Promise((resolve) => worker.once("message", resolve)), 1);
});

const load = async (source) => (await init()).loadPlugin(source);
const softmax = await moduleBytes("softmax");
const empty = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
const refused = [
    [
        "a name, which is no URL",
        () => init({ source: "libattn.wasm" }),
        "LOAD",
        /^libattn\.wasm is no URL/,
    ],
    [
        "a relative path",
        () => init({ source: "./dist/a.wasm" }),
        "LOAD",
        /^\.\/dist\/a\.wasm is no URL/,
    ],
    ["a path", () => init({ source: "/dist/a.wasm" }), "LOAD", /^\/dist\/a\.wasm is no URL/],
    ["half a URL", () => init({ source: "http://" }), "LOAD", /^http:\/\/: Invalid URL/],
    [
        "a URL of another kind",
        () => init({ source: "ftp://127.0.0.1/a.wasm" }),
        "LOAD",
        /^ftp:.*a\.wasm: fetch/,
    ],
    [
        "what only seems a URL",
        () => init({ source: { href: "nowhere" } }),
        "LOAD",
        /^nowhere is no URL/,
    ],
    ["a folder", () => init({ source: new URL(".", file) }), "LOAD", /^file:.*\/dist\/: EISDIR/],
    [
        "a server that hangs up",
        () => init({ source: `${base}/gone` }),
        "LOAD",
        /gone: fetch failed \(\w+\)/,
    ],
    ["half an answer", () => init({ source: `${base}/half` }), "LOAD", /half: terminated \(\w+\)/],
    [
        "half a Response",
        () => init({ source: fetch(`${base}/half`) }),
        "LOAD",
        /half: terminated \(\w+\)/,
    ],
    [
        "a path, in libattn/softmax",
        () => initSoftmax({ source: "a.wasm" }),
        "LOAD",
        /^a\.wasm is no URL/,
    ],
    ["a path, in libattn/worker", () => initWorker({ source: "a.wasm" }), "LOAD", /is no URL/],
    ["a path of a plugin", () => load("a.wasm"), "PLUGIN", /^plugin 'a\.wasm': a\.wasm is no URL/],
    ["a plugin that is missing", () => load(new URL("a.wasm", file)), "PLUGIN", /a\.wasm: ENOENT/],
    ["a number", () => init({ source: 5 }), TypeError, /source must be .*, not 5/],
    [
        "an unknown build",
        () => init({ source: null, build: "fast" }),
        TypeError,
        /"simd" or "scalar" or "threads", not "fast"/,
    ],
    ["an unknown option", () => init({ source: null, thread: 2 }), TypeError, /unknown "thread"/],
    [
        "half a thread",
        () => init({ source: null, threads: 1.5 }),
        TypeError,
        /threads must be an integer/,
    ],
    [
        "no threads",
        () => init({ source: null, threads: 0 }),
        "RANGE",
        /threads: 0 is outside 1..256/,
    ],
    [
        "threads in another build",
        () => init({ source: bytes, threads: 2 }),
        "LOAD",
        /without threads/,
    ],
    [
        "bytes that are no module",
        () => init({ source: new Uint8Array(64) }),
        "LOAD",
        /cannot compile/,
    ],
    ["half a module", () => init({ source: bytes.subarray(0, 5000) }), "LOAD", /cannot compile/],
    ["another module", () => init({ source: empty }), "LOAD", /not this version's libattn/],
    [
        "libattn/softmax's module",
        () => init({ source: softmax }),
        "LOAD",
        /libattn\/softmax takes, not libattn/,
    ],
    [
        "the labs' module",
        () => init({ source: moduleBytes("labs") }),
        "LOAD",
        /not libattn: .*clock/,
    ],
    [
        "another build than asked",
        () => init({ source: bytes, build: "simd" }),
        "LOAD",
        /the scalar build, not simd/,
    ],
    [
        "a page that is missing",
        () => init({ source: fetch(`${base}/none`) }),
        "LOAD",
        /none: HTTP status 404/,
    ],
    [
        "a URL that is missing",
        () => init({ source: `${base}/none` }),
        "LOAD",
        /none: HTTP status 404/,
    ],
    [
        "a URL where a page is",
        () => init({ source: `${base}/page.wasm` }),
        "LOAD",
        /compile http.*\/page\.wasm: HTTP status 200, text\/html, which begins with "<!doctype html>"/,
    ],
    [
        "a file that is missing",
        () => init({ source: new URL("none.wasm", file) }),
        "LOAD",
        /none\.wasm: ENOENT/,
    ],
    [
        "a file of text",
        () => init({ source: new URL(import.meta.url) }),
        "LOAD",
        /test\.mjs, which begins with/,
    ],
];
for (const [name, act, kind, message] of refused) {
    test(`refused: ${name}`, () =>
        assert.rejects(act, (error) => {
            if (typeof kind === "string") assert.equal(error.code, `ATTN_ERROR_${kind}`);
            assert.ok(
                error instanceof (typeof kind === "string" ? AttnError : kind),
                `${error.stack}`,
            );
            assert.match(error.message, message);
            return true;
        }));
}

for (const file of [...BUILDS, "softmax"]) {
    const imports = file === "threads" ? ["memory"] : [];
    test(`the ${file} module imports ${imports.join() || "nothing"}`, async () => {
        const module = new WebAssembly.Module(await moduleBytes(file));
        const names = WebAssembly.Module.imports(module).map(({ name }) => name);
        assert.deepEqual(names, imports);
    });
}
