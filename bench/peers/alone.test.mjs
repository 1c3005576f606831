// One at a time in build/peers.

import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const hasFlock = spawnSync("flock", ["--version"]).status === 0;

/** Which leaves a process behind, as a contender that is stopped may be. */
const script = `
. ${join(import.meta.dirname, "alone.sh")}
alone_in_peers bash ./script.sh "$@"
echo "begin $1" >>log
sleep 0.2
echo "end $1" >>log
sleep 60 >left 2>&1 & echo $! >>left.pid
`;

test("runs wait for each other, and not for what one has left", { skip: !hasFlock }, async () => {
    const cwd = mkdtempSync(join(tmpdir(), "attn-alone-"));
    try {
        writeFileSync(join(cwd, "script.sh"), script);
        const run = (name) => promisify(execFile)("bash", ["script.sh", name], { cwd });
        await Promise.all(["a", "b", "c"].map(run));
        const log = readFileSync(join(cwd, "log"), "utf8").trim().split("\n");
        assert.equal(log.length, 6);
        for (let at = 0; at < 6; at += 2)
            assert.equal(log[at + 1], log[at].replace("begin", "end"), log.join());
        const lock = ["--nonblock", "build/.peers.lock", "true"];
        assert.equal(spawnSync("flock", lock, { cwd }).status, 0);
    } finally {
        const left = join(cwd, "left.pid");
        if (existsSync(left)) spawnSync("kill", readFileSync(left, "utf8").trim().split("\n"));
        rmSync(cwd, { recursive: true });
    }
});
