import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { serve } from "../serve.mjs";

let folder, server;

before(async () => {
    folder = await mkdtemp(join(tmpdir(), "serve-"));
    await mkdir(join(folder, "root", "sub"), { recursive: true });
    await writeFile(join(folder, "secret.txt"), "secret");
    await writeFile(join(folder, "root", "index.html"), "<p>page</p>");
    await writeFile(join(folder, "root", "sub", "a.wasm"), "\0asm");
    await symlink(join(folder, "secret.txt"), join(folder, "root", "link.txt"));
    server = await serve({ root: join(folder, "root") });
});

after(async () => {
    await server?.close();
    await rm(folder, { recursive: true });
});

/** Asks with the path as it is; fetch() would tidy it up first. */
function ask(path, method = "GET") {
    const { port } = new URL(server.url);
    return new Promise((resolve, reject) => {
        request({ host: "localhost", port, path, method }, (response) => {
            let body = "";
            response.on("data", (data) => (body += data));
            response.on("end", () =>
                resolve({ status: response.statusCode, headers: response.headers, body }),
            );
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
