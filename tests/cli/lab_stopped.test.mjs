// `attn lab run` that is stopped, or cannot write: what is done stays, and is gone on from.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { attnAfter, contents, program, withFiles } from "./command.mjs";
import { nativeOnly, pointsOf, read } from "./lab.mjs";
import { refuse, small, succeed } from "./lab.mjs";

describe("attn lab run, stopped", nativeOnly, () => {
    const long = ["lab", "run", "separation", "--panel", "3a", "-o", "out"];
    const checkpoint = "out/separation-3a.points";
    const finished = (folder) =>
        existsSync(join(folder, checkpoint)) ? pointsOf(read(folder, checkpoint)).length : 0;

    /** Starts it, waits until `count` points are finished, and sends the signal. */
    async function stop(folder, count, signal) {
        const child = spawn(program, long, { cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
        let stderr = "";
        child.stderr.on("data", (bytes) => (stderr += bytes));
        const end = new Promise((resolve) => child.on("close", (_, by) => resolve(by)));
        while (finished(folder) < count && child.exitCode === null) await sleep(5);
        child.kill(signal);
        assert.equal(await end, signal);
        return stderr;
    }

    test("keeps what is finished", async () => {
        const folder = mkdtempSync(join(tmpdir(), "attn-lab-"));
        try {
            const stderr = await stop(folder, 3, "SIGINT");
            const first = finished(folder);
            assert.ok(first >= 3 && first < 191);
            const said = new RegExp(`^attn: stopped: ${first} of 191 points are finished and kept`);
            assert.match(stderr, said);
            assert.ok(!existsSync(join(folder, "out/separation-3a.csv")));

            assert.equal(await stop(folder, first + 2, "SIGKILL"), "");
            const second = finished(folder);
            assert.ok(second >= first + 2);
            assert.match(await stop(folder, second + 1, "SIGTERM"), /^attn: stopped: /);
            assert.ok(finished(folder) > second);
        } finally {
            rmSync(folder, { recursive: true });
        }
    });

    test("refuses a second one in the same folder", async () => {
        const folder = mkdtempSync(join(tmpdir(), "attn-lab-"));
        const child = spawn(program, long, { cwd: folder, stdio: "ignore" });
        const end = new Promise((resolve) => child.on("close", (_, by) => resolve(by)));
        try {
            while (finished(folder) < 1 && child.exitCode === null) await sleep(5);
            refuse(long.slice(1), folder, /separation-3a\.points: another attn is computing it/);
        } finally {
            child.kill("SIGKILL");
            assert.equal(await end, "SIGKILL");
            rmSync(folder, { recursive: true });
        }
    });

    // The file's limit stands for a full disk.
    test("by a full disk", () => {
        withFiles({}, (folder) => {
            const args = ["lab", ...small, "-o", "out"];
            const result = attnAfter("trap '' XFSZ\nulimit -f 4", args, folder);
            assert.equal(result.status, 1);
            assert.match(
                result.stderr,
                /^attn: out\/separation-3b\.points: cannot be written: [^\n]+\nattn: stopped: \d+ of 100/,
            );
            const kept = pointsOf(read(folder, "out/separation-3b.points"));
            assert.ok(kept.length > 0 && kept.length < 100);
            assert.match(read(folder, "out/separation-3b.points"), /\n$/);
            assert.deepEqual(Object.keys(contents(join(folder, "out"))), ["separation-3b.points"]);
            const later = attnAfter("trap '' XFSZ\nulimit -f 20", args, folder);
            assert.equal(later.status, 1);
            assert.match(
                later.stderr,
                /json: cannot be written: [^\n]+\nattn: stopped: 100 of 100/,
            );
            assert.deepEqual(Object.keys(contents(join(folder, "out"))), ["separation-3b.points"]);
            const report = succeed([...small, "-o", "out"], folder);
            assert.match(report, / 0 points in [0-9.]+ s, 100 from before/);
        });
    });
});
