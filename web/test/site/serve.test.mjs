import assert from "node:assert/strict";
import {
    mkdir,
    mkdtemp,
    readFile,
    readdir,
    rm,
    symlink,
    utimes,
    writeFile,
} from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync } from "node:zlib";
import { serve } from "../../serve.mjs";

let folder, server;

before(async () => {
    folder = await mkdtemp(join(tmpdir(), "serve-"));
    await mkdir(join(folder, "root", "sub"), { recursive: true });
    await writeFile(join(folder, "secret.txt"), "secret");
    await writeFile(join(folder, "root", "index.html"), "<p>page</p>");
    await writeFile(join(folder, "root", "sub", "a.wasm"), "\0asm");
    await mkdir(join(folder, "root", "assets"));
    await writeFile(join(folder, "root", "assets", "a-1234.js"), "");
    await symlink(join(folder, "secret.txt"), join(folder, "root", "link.txt"));
    server = await serve({ root: join(folder, "root") });
});

after(async () => {
    await server?.close();
    await rm(folder, { recursive: true });
});

/** Asks with the path as it is; fetch() would tidy it up first. */
function ask(path, method = "GET", headers = {}) {
    const { port } = new URL(server.url);
    return new Promise((resolve, reject) => {
        request({ host: "localhost", port, path, method, headers }, (response) => {
            const parts = [];
            response.on("data", (data) => parts.push(data));
            response.on("end", () => {
                const bytes = Buffer.concat(parts);
                const { statusCode: status, headers } = response;
                resolve({ status, headers, bytes, body: bytes.toString() });
            });
        })
            .on("error", reject)
            .end();
    });
}

test("files come with their types, and isolated", async () => {
    const page = await ask("/");
    assert.equal(page.status, 200);
    assert.equal(page.body, "<p>page</p>");
    assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
    assert.equal(page.headers["cross-origin-opener-policy"], "same-origin");
    assert.equal(page.headers["cross-origin-embedder-policy"], "require-corp");
    assert.equal((await ask("/sub/a.wasm")).headers["content-type"], "application/wasm");
    assert.equal((await ask("/?query")).body, "<p>page</p>");
});

test("HEAD has no body, and other methods are refused", async () => {
    const head = await ask("/", "HEAD");
    assert.equal(head.status, 200);
    assert.equal(head.headers["content-length"], "11");
    assert.equal(head.body, "");
    assert.equal((await ask("/", "POST")).status, 405);
});

test("files are packed for browsers that take it, and whole for others", async () => {
    const text = "the same words ".repeat(100);
    await writeFile(join(folder, "root", "long.txt"), text);
    assert.equal((await ask("/long.txt")).body, text);
    for (const [encoding, unpack] of [
        ["br", brotliDecompressSync],
        ["gzip", gunzipSync],
    ]) {
        const { headers, bytes } = await ask("/long.txt", "GET", { "accept-encoding": encoding });
        assert.equal(headers["content-encoding"], encoding);
        assert.equal(headers.vary, "Accept-Encoding");
        assert.equal(Number(headers["content-length"]), bytes.length);
        assert.ok(bytes.length < text.length / 10);
        assert.equal(unpack(bytes).toString(), text);
    }
    const head = await ask("/long.txt", "HEAD", { "accept-encoding": "br" });
    assert.equal(head.headers["content-encoding"], "br");
    assert.equal(head.body, "");
});

test("what the build has packed is sent as it is, unless its file is newer", async () => {
    const path = join(folder, "root", "module.wasm");
    const text = "some words ".repeat(100);
    await writeFile(path, text);
    const stored = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 0 } });
    await writeFile(`${path}.br`, stored);
    const { headers, bytes } = await ask("/module.wasm", "GET", { "accept-encoding": "br" });
    assert.equal(headers["content-encoding"], "br");
    assert.equal(headers["content-type"], "application/wasm");
    assert.deepEqual(bytes, stored);
    assert.equal((await ask("/module.wasm")).body, text);
    await writeFile(path, "other words");
    const before = new Date(0);
    await utimes(`${path}.br`, before, before);
    const other = await ask("/module.wasm", "GET", { "accept-encoding": "br" });
    assert.equal(brotliDecompressSync(other.bytes).toString(), "other words");
});

test("the build packs what a first view loads", async () => {
    const dist = new URL("../../dist/", import.meta.url);
    const all = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith(".br"));
    const packed = all.map((name) => name.replace(/\.br$/, ""));
    const page = await readFile(new URL("index.html", dist), "utf8");
    const builds = ["relaxed", "scalar", "simd", "threads"].map((name) => `libattn.${name}`);
    const named = [...page.matchAll(/"\.\/(assets\/[\w.-]+\.js)"/g)].map(([, name]) => name);
    assert.ok(named.length > 5);
    for (const name of ["index.html", ...named]) assert.ok(packed.includes(name), name);
    for (const name of [...builds, "served", "input-worker", "opening"])
        assert.ok(
            packed.some((each) => each.startsWith(`assets/${name}-`)),
            name,
        );
    for (const name of packed) {
        const whole = await readFile(new URL(name, dist));
        assert.deepEqual(
            brotliDecompressSync(await readFile(new URL(`${name}.br`, dist))),
            whole,
            name,
        );
    }
});

test("what has not changed is not sent again, and assets are never asked for again", async () => {
    const path = join(folder, "root", "again.txt");
    await writeFile(path, "first");
    const first = await ask("/again.txt");
    assert.equal(first.headers["cache-control"], "no-cache");
    const known = { "if-none-match": first.headers.etag };
    const again = await ask("/again.txt", "GET", known);
    assert.deepEqual([again.status, again.body], [304, ""]);
    await writeFile(path, "second");
    assert.equal((await ask("/again.txt", "GET", known)).body, "second");
    const asset = await ask("/assets/a-1234.js");
    assert.equal(asset.headers["cache-control"], "public, max-age=31536000, immutable");
});

test("nothing outside of the folder is served", async () => {
    const paths = [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/..%2fsecret.txt",
        "/sub/..%2f..%2fsecret.txt",
        "/..%5csecret.txt",
        "/link.txt",
        "/%00",
        "/%",
        "/sub",
        "/none",
        "//secret.txt",
    ];
    for (const path of paths) {
        const answer = await ask(path);
        assert.equal(answer.status, 404, path);
        assert.doesNotMatch(answer.body, /secret\b.*secret/, path);
        assert.notEqual(answer.body, "secret", path);
    }
});

test("a name that is not this machine's is refused, whatever port it has", async () => {
    for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1:8017", "[::1]:9000", "[::1]"]) {
        assert.equal((await ask("/", "GET", { host })).status, 200, host);
    }
    const foreign = [
        "example.org",
        "example.org:8017",
        "localhost.example.org",
        "127.0.0.1.nip.io",
    ];
    for (const host of [...foreign, "localhost@example.org", "localhost:", "192.168.0.2"]) {
        for (const method of ["GET", "HEAD", "POST"]) {
            const { status, body } = await ask("/", method, { host });
            assert.equal(status, 421, `${method} ${host}`);
            assert.ok(!body.includes("page"), host);
        }
    }
});

test("no foreign page may embed what is served, nor what is refused", async () => {
    for (const path of ["/", "/sub/a.wasm", "/none"]) {
        const { headers } = await ask(path);
        assert.equal(headers["content-security-policy"], "frame-ancestors 'self'", path);
    }
});
