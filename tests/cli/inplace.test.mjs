// Outputs that no other file may take the place of: all of them, or what was there before.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, linkSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, test } from "node:test";

import { random } from "./attention.mjs";
import {
    attn,
    attnAfter,
    contents,
    isWasi,
    program,
    shim,
    succeed,
    withFiles,
} from "./command.mjs";
import { npy, parseNpy } from "./npy.mjs";

const nativeOnly = { skip: isWasi && "native only" };
const rows = 300;
const x = npy([rows, 64], random(rows * 64, 1));
const old = Buffer.from("old content\n");
const inputs = ["--q", "x.npy", "--k", "x.npy", "--v", "x.npy"];
const words = "one two three four five six seven eight nine ten ".repeat(40);
const files = { "x.npy": x, "w.txt": words, o: old };

/** Every command that writes files of more than 4 KiB: [what, its arguments with o as the output]. */
const writers = [
    ["run", ["run", "softmax", ...inputs, "-o", "o"]],
    ["run --weights", ["run", "softmax", ...inputs, "-o", "other", "--weights", "o"]],
    ["run --present-k", ["run", "softmax", ...inputs, "-o", "/dev/null", "--present-k", "o"]],
    ["embed", ["embed", "w.txt", "--dim", "64", "-o", "o"]],
    ["layout", ["layout", "sparse", "--n", "256", "--causal", "--set", "block=2", "-o", "o"]],
    ["sketch", ["sketch", "x.npy", "--eps", "0.5", "-o", "o"]],
    ["lab dump", ["lab", "dump", "lis", "31 90 44 17 120 58 63 135 20 99", "--q", "o"]],
];
const labRun = ["lab", "run", "separation", "--panel", "4d", "--set", "trials=1", "-o", "."];

const leftovers = (folder) => readdirSync(folder).filter((name) => name.startsWith(".attn-"));

/** All files but those that the program makes of new names. */
const kept = (folder) => ({ ...contents(folder), other: undefined });

describe("a full disk leaves a file with hard links as it was", nativeOnly, () => {
    for (const [what, args] of writers) {
        test(`${what}: a limit of 4 KiB a file`, () => {
            withFiles(files, (folder) => {
                linkSync(join(folder, "o"), join(folder, "link"));
                const before = kept(folder);
                const result = attnAfter("ulimit -f 8", args, folder);
                assert.equal(result.status, 1, result.stderr);
                assert.match(result.stderr, /^attn: [^\n]*cannot be written: File too large\n$/);
                assert.deepEqual(kept(folder), before);
                succeed(args, folder);
                const now = readFileSync(join(folder, "o"));
                assert.ok(now.length > 4096 && now.equals(readFileSync(join(folder, "link"))));
                assert.deepEqual(leftovers(folder), []);
            });
        });
    }

    test("lab run: its documents, all together", () => {
        withFiles({}, (folder) => {
            succeed(labRun, folder);
            for (const name of readdirSync(folder)) {
                if (name.endsWith(".points")) continue;
                writeFileSync(join(folder, name), old);
                mkdirSync(join(folder, "links"), { recursive: true });
                linkSync(join(folder, name), join(folder, "links", name));
            }
            const before = contents(folder);
            const result = attnAfter("ulimit -f 8", labRun, folder);
            assert.equal(result.status, 1, result.stderr);
            assert.match(result.stderr, /^attn: [^\n]*: cannot be written: File too large\n/);
            assert.deepEqual(contents(folder), before);
        });
    });
});

const isRoot = !isWasi && process.getuid() === 0;

/** Runs `body(folder)` on a disk of `kib` KiB, which is gone afterwards; nothing where none can be mounted. */
function withDisk(kib, body) {
    withFiles({}, (folder) => {
        const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${kib}k`, "attn", folder]);
        if (mounted.status !== 0) return false;
        try {
            body(folder);
        } finally {
            spawnSync("umount", [folder]);
        }
        return true;
    });
}
const canMount =
    isRoot &&
    withFiles({}, (folder) => {
        const made = spawnSync("mount", ["-t", "tmpfs", "-o", "size=4k", "attn", folder]);
        if (made.status === 0) spawnSync("umount", [folder]);
        return made.status === 0;
    });

describe("a disk that is full", { skip: !canMount && "no disk can be mounted" }, () => {
    const size = x.length;
    /** [what, room in KiB beyond the input, the old file's size, ends well] */
    const cases = [
        ["no room for a copy", 40, 4096, false],
        ["room for a copy, none to grow", Math.ceil(size / 1024) + 20, 4096, false],
        ["room for both", 2 * Math.ceil(size / 1024) + 40, 4096, true],
        [
            "an old file that is larger, and room for a copy",
            2 * (size >> 10) + 60,
            size + 9999,
            true,
        ],
    ];
    for (const [what, room, oldSize, endsWell] of cases) {
        test(what, () => {
            withDisk((size >> 10) + room + 20, (folder) => {
                writeFileSync(join(folder, "x.npy"), x);
                writeFileSync(join(folder, "o"), Buffer.alloc(oldSize, 7));
                linkSync(join(folder, "o"), join(folder, "link"));
                const before = contents(folder);
                const result = attn(writers[0][1], folder);
                assert.equal(result.status, endsWell ? 0 : 1, result.stderr);
                if (!endsWell)
                    assert.match(result.stderr, /^attn: o: .*: No space left on device\n$/);
                if (!endsWell) assert.deepEqual(contents(folder), before);
                else
                    assert.deepEqual(parseNpy(readFileSync(join(folder, "link"))).shape, [
                        rows,
                        64,
                    ]);
                assert.deepEqual(leftovers(folder), []);
            });
        });
    }
});

describe("what fails or waits comes before any file is overwritten", nativeOnly, () => {
    const args = (last) => ["run", "softmax", ...inputs, "-o", "o", "--lse", last];

    test("a full device", () => {
        withFiles(files, (folder) => {
            linkSync(join(folder, "o"), join(folder, "link"));
            const before = contents(folder);
            const result = attn(args("/dev/full"), folder);
            assert.equal(result.status, 1);
            assert.match(result.stderr, /^attn: \/dev\/full: cannot be written: No space left/);
            assert.deepEqual(contents(folder), before);
        });
    });

    for (const signal of ["SIGTERM", "SIGKILL"]) {
        test(`${signal} as a pipe has no reader`, async () => {
            await withFiles(files, async (folder) => {
                linkSync(join(folder, "o"), join(folder, "link"));
                spawnSync("mkfifo", [join(folder, "pipe")]);
                const child = spawn(program, args("pipe"), { cwd: folder });
                const end = new Promise((resolve) => child.on("close", (_, by) => resolve(by)));
                const isStaged = () =>
                    leftovers(folder).some(
                        (name) =>
                            statSync(join(folder, name), { throwIfNoEntry: false })?.size ===
                            x.length,
                    );
                while (!isStaged() && child.exitCode === null)
                    await new Promise((resolve) => setImmediate(resolve));
                child.kill(signal);
                assert.equal(await end, signal);
                assert.deepEqual(readFileSync(join(folder, "link")), old);
            });
        });
    }
});

describe("a copy that is cut off", { skip: !shim && "needs the shim" }, () => {
    const overwrite = (how, folder) =>
        attn(writers[0][1], folder, {
            env: { ...process.env, LD_PRELOAD: shim, ATTN_SHIM_OVERWRITE: how },
        });
    const expected = (folder) => {
        succeed(["run", "softmax", ...inputs, "-o", "expected"], folder);
        return readFileSync(join(folder, "expected"));
    };

    test("by a kill leaves the complete file beside it, for the next run to remove", () => {
        withFiles(files, (folder) => {
            linkSync(join(folder, "o"), join(folder, "link"));
            assert.equal(overwrite("kill", folder).signal, "SIGKILL");
            const [name, ...more] = leftovers(folder);
            assert.deepEqual(more, []);
            assert.deepEqual(readFileSync(join(folder, name)), expected(folder));
            succeed(writers[0][1], folder);
            assert.deepEqual(leftovers(folder), []);
            assert.deepEqual(readFileSync(join(folder, "link")), expected(folder));
        });
    });

    test("by a device that fails says so, and where the complete file is", () => {
        withFiles(files, (folder) => {
            linkSync(join(folder, "o"), join(folder, "link"));
            const result = overwrite("fail", folder);
            assert.equal(result.status, 1);
            const says = /^attn: o: is damaged: [^\n]+; what it was to hold is in (.+)\n$/;
            const [, path] = says.exec(result.stderr) ?? assert.fail(result.stderr);
            assert.deepEqual(leftovers(folder), [basename(path)]);
            assert.deepEqual(readFileSync(join(folder, path)), expected(folder));
        });
    });
});

describe("who may not replace a file", { skip: !isRoot && "needs root" }, () => {
    const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    const nobody = (setup, args, folder) =>
        spawnSync(
            asNobody[0],
            [...asNobody.slice(1), "sh", "-c", `${setup}\nexec "$0" "$@"`, program, ...args],
            { cwd: folder, encoding: "utf8" },
        );
    /** [what, the folder's mode, the file's owner] */
    const cases = [
        ["another owner", 0o777, 0],
        ["a folder that this user may not write to", 0o755, 65534],
        ["a sticky folder", 0o1777, 0],
    ];
    for (const [what, bits, owner] of cases) {
        test(`${what}: overwrites all of it, or nothing`, () => {
            withFiles(files, (folder) => {
                chmodSync(folder, bits);
                chownSync(join(folder, "o"), owner, 0);
                chmodSync(join(folder, "o"), 0o666);
                const { ino } = statSync(join(folder, "o"));
                const before = contents(folder);
                const refused = nobody("ulimit -f 8", writers[0][1], folder);
                assert.equal(refused.status, 1, refused.stderr);
                assert.match(refused.stderr, /cannot be written: File too large\n$/);
                assert.deepEqual(contents(folder), before);
                const result = nobody("", writers[0][1], folder);
                assert.equal(result.status, 0, result.stderr);
                const { uid, ino: now } = statSync(join(folder, "o"));
                assert.deepEqual([uid, now], [owner, ino]);
                assert.deepEqual(parseNpy(readFileSync(join(folder, "o"))).shape, [rows, 64]);
                assert.deepEqual(leftovers(folder), []);
            });
        });
    }
});

test("a symbolic link to a file with hard links", () => {
    withFiles(files, (folder) => {
        linkSync(join(folder, "o"), join(folder, "link"));
        symlinkSync("o", join(folder, "soft"));
        succeed(["run", "softmax", ...inputs, "-o", "soft"], folder);
        assert.ok(lstatSync(join(folder, "soft")).isSymbolicLink());
        assert.equal(statSync(join(folder, "link")).size, x.length);
        assert.deepEqual(leftovers(folder), []);
    });
});
