/**
 * All tests of the pages, in one Chromium: `node test/run.mjs [FILE...]`. Each file runs alone as well, by `node --test
 * FILE`, and then launches its own. Of long sweeps ATTN_TEST_SHARE is run; what that leaves out is listed at the end.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, readdir, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launchShared } from "./support/browser.mjs";

/* They end the tests; then the browser and the notes go. */
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"];
const folder = fileURLToPath(new URL(".", import.meta.url));

async function run(files) {
    const ended = new AbortController();
    for (const signal of SIGNALS) process.on(signal, () => ended.abort(signal));
    const notes = await mkdtemp(join(tmpdir(), "attn-pages-"));
    const browser = await launchShared();
    try {
        ended.signal.throwIfAborted();
        const env = { ATTN_BROWSER: browser.wsEndpoint(), ATTN_LEFT_OUT: notes };
        process.exitCode = await test(files, env, ended.signal);
        await tell(notes);
    } finally {
        await browser.close();
        await rm(notes, { recursive: true });
    }
}

/** The status of the tests, which are a process group of their own: what ends them ends all that they have started. */
async function test(files, env, ended) {
    const options = ["--test", "--test-reporter=spec"];
    const parallel = `--test-concurrency=${availableParallelism()}`;
    const tests = spawn(process.execPath, [...options, parallel, ...files], {
        stdio: "inherit",
        env: { ...process.env, ...env },
        detached: true,
    });
    ended.addEventListener("abort", () => process.kill(-tests.pid, ended.reason));
    const [status] = await once(tests, "close");
    return status ?? 1;
}

async function tell(notes) {
    const names = (await readdir(notes)).sort();
    const texts = await Promise.all(names.map((name) => readFile(join(notes, name), "utf8")));
    for (const line of texts.join("").split("\n").filter(Boolean)) console.log(`left out: ${line}`);
}

async function allFiles() {
    const names = await readdir(folder, { recursive: true });
    return names.filter((name) => name.endsWith(".test.mjs")).map((name) => join(folder, name));
}

const given = process.argv.slice(2);
await run(given.length > 0 ? given : await allFiles());
