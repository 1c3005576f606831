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
import { launchShared } from "./browser.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));

async function run(files) {
    const notes = await mkdtemp(join(tmpdir(), "attn-pages-"));
    const browser = await launchShared();
    try {
        const options = ["--test", "--test-reporter=spec"];
        const parallel = `--test-concurrency=${availableParallelism()}`;
        const tests = spawn(process.execPath, [...options, parallel, ...files], {
            stdio: "inherit",
            env: { ...process.env, ATTN_BROWSER: browser.wsEndpoint(), ATTN_LEFT_OUT: notes },
        });
        const [status] = await once(tests, "close");
        process.exitCode = status ?? 1;
        await tell(notes);
    } finally {
        await browser.close();
        await rm(notes, { recursive: true });
    }
}

async function tell(notes) {
    const names = (await readdir(notes)).sort();
    const texts = await Promise.all(names.map((name) => readFile(join(notes, name), "utf8")));
    for (const line of texts.join("").split("\n").filter(Boolean)) console.log(`left out: ${line}`);
}

async function allFiles() {
    const names = await readdir(folder);
    return names.filter((name) => name.endsWith(".test.mjs")).map((name) => join(folder, name));
}

const given = process.argv.slice(2);
await run(given.length > 0 ? given : await allFiles());
