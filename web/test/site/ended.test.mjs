/** A run of page tests that is ended leaves nothing behind: no test, no browser. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";

const run = fileURLToPath(new URL("../run.mjs", import.meta.url));

/** A test that says where its browser listens, and waits for ever. Its socket is open as long as it runs. */
const waiting = `
import { connect } from "node:net";
import test from "node:test";
test("waits", async () => {
    connect(Number(process.env.ATTN_TEST_PORT)).write(process.env.ATTN_BROWSER);
    await new Promise(() => {});
});
`;

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"])
    test(`${signal} ends the tests and their browser`, async () => {
        const folder = await mkdtemp(join(tmpdir(), "attn-ended-"));
        const file = join(folder, "waits.test.mjs");
        await writeFile(file, waiting);
        const server = createServer().listen(0, "localhost");
        await once(server, "listening");
        const env = { ...process.env, TMPDIR: folder, ATTN_TEST_PORT: server.address().port };
        delete env.NODE_TEST_CONTEXT; // of the runner that runs this one
        const child = spawn(process.execPath, [run, file], { env, stdio: "ignore" });
        try {
            const closed = once(child, "close");
            const [socket] = await once(server, "connection");
            const [address] = await once(socket, "data");
            socket.on("error", () => {}).resume();
            const over = once(socket, "close");
            child.kill(signal);
            await over;
            const [status] = await closed;
            assert.notEqual(status, 0);
            const page = `${address}`.replace("ws:", "http:");
            await assert.rejects(fetch(page), "the browser still runs");
            const left = (await readdir(folder)).filter((name) => name.startsWith("attn-pages-"));
            assert.deepEqual(left, []);
        } finally {
            child.kill("SIGKILL");
            server.close();
            await rm(folder, { recursive: true, force: true });
        }
    });
