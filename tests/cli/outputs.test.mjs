// Where outputs go, and what becomes of what was there.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
    chmodSync,
    chownSync,
    closeSync,
    existsSync,
    linkSync,
    lstatSync,
    mkdirSync,
    openSync,
    readFileSync,
    readlinkSync,
    readdirSync,
    statSync,
    symlinkSync,
    writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { random } from "./attention.mjs";
import { assertRefused, attn, attnAfter, contents, isWasi } from "./command.mjs";
import { program, shim, succeed, withFiles } from "./command.mjs";
import { npy, parseNpy } from "./npy.mjs";

const nativeOnly = { skip: isWasi && "native only" };
const x = npy([6, 4], random(24, 1));
const files = { "x.npy": x };
const inputs = ["--q", "x.npy", "--k", "x.npy", "--v", "x.npy"];
const run = (...args) => ["run", "softmax", ...inputs, ...args];

/** The command is refused in one line, and leaves the folder as it was. */
function refuse(args, folder, says, options) {
    const before = contents(folder);
    assertRefused(attn(args, folder, options), says);
    assert.deepEqual(contents(folder), before);
}

const shapeOf = (...path) => parseNpy(readFileSync(join(...path))).shape;
const mode = (...path) => (statSync(join(...path)).mode & 0o7777).toString(8);
const leftovers = (folder) => readdirSync(folder).filter((name) => name.startsWith(".attn-"));

describe("two outputs of one place", () => {
    /** [what, the second name, how it comes to lead where o.npy leads] */
    const others = [
        ["the same name", "o.npy", () => {}],
        ["./", "./o.npy", () => {}],
        ["through a folder and back", "sub/../o.npy", () => {}],
        ["a link to its folder", "here/o.npy", (folder) => symlinkSync(".", join(folder, "here"))],
        ["a link to it", "link", (folder) => symlinkSync("o.npy", join(folder, "link"))],
        [
            "a link to a link",
            "sub/link",
            (folder) => {
                symlinkSync("../o.npy", join(folder, "sub/other"));
                symlinkSync("other", join(folder, "sub/link"));
            },
        ],
    ];
    for (const [what, name, prepare] of others) {
        for (const there of [false, true]) {
            test(`${what}, ${there ? "an old file" : "nothing there"}`, () => {
                withFiles(there ? { ...files, "o.npy": "old" } : files, (folder) => {
                    mkdirSync(join(folder, "sub"));
                    prepare(folder);
                    refuse(run("-o", "o.npy", "--lse", name), folder, /named for two outputs/);
                    refuse(run("-o", name, "--weights", "o.npy"), folder, /named for two outputs/);
                });
            });
        }
    }

    test("a hard link", () => {
        withFiles({ ...files, "o.npy": "old" }, (folder) => {
            linkSync(join(folder, "o.npy"), join(folder, "hard"));
            refuse(run("-o", "o.npy", "--lse", "hard"), folder, /named for two outputs/);
        });
    });

    test("an absolute path", () => {
        withFiles(files, (folder) => {
            refuse(run("-o", "o.npy", "--lse", join(folder, "o.npy")), folder, /two outputs/);
        });
    });

    test("standard output, by any name", nativeOnly, () => {
        withFiles(files, (folder) => {
            refuse(run("-o", "-", "--lse", "-"), folder, /two outputs/);
            refuse(run("-o", "-", "--lse", "/dev/stdout"), folder, /two outputs/);
        });
    });

    test("/dev/null may be it twice", nativeOnly, () => {
        withFiles(files, (folder) => {
            succeed(run("-o", "/dev/null", "--lse", "/dev/null"), folder);
            assert.deepEqual(Object.keys(contents(folder)), ["x.npy"]);
        });
    });

    test("one name in two folders is none", () => {
        withFiles(files, (folder) => {
            mkdirSync(join(folder, "sub"));
            succeed(run("-o", "o.npy", "--lse", "sub/o.npy"), folder);
            assert.deepEqual(shapeOf(folder, "o.npy"), [6, 4]);
            assert.deepEqual(shapeOf(folder, "sub/o.npy"), [6]);
        });
    });

    test("an input is read before it is replaced, by any name", () => {
        withFiles(files, (folder) => {
            succeed(run("-o", "expected.npy"), folder);
            symlinkSync("x.npy", join(folder, "link"));
            succeed(run("-o", "./link"), folder);
            assert.deepEqual(readlinkSync(join(folder, "link")), "x.npy");
            assert.deepEqual(
                readFileSync(join(folder, "x.npy")),
                readFileSync(join(folder, "expected.npy")),
            );
        });
    });
});

describe("what is replaced", () => {
    for (const bits of ["600", "644", "640", "755"]) {
        test(`keeps its mode: ${bits}`, () => {
            withFiles({ ...files, "o.npy": "old" }, (folder) => {
                chmodSync(join(folder, "o.npy"), parseInt(bits, 8));
                succeed(run("-o", "o.npy"), folder);
                assert.equal(mode(folder, "o.npy"), bits);
                assert.deepEqual(shapeOf(folder, "o.npy"), [6, 4]);
            });
        });
    }

    test("a shorter file than before has no more than its own bytes", () => {
        withFiles({ ...files, "o.npy": Buffer.alloc(10000) }, (folder) => {
            succeed(run("-o", "o.npy"), folder);
            assert.equal(statSync(join(folder, "o.npy")).size, x.length);
        });
    });

    test("a new file has the mode that the umask leaves", nativeOnly, () => {
        withFiles(files, (folder) => {
            for (const [umask, expected] of [
                ["077", "600"],
                ["022", "644"],
                ["002", "664"],
            ]) {
                const result = attnAfter(`umask ${umask}`, run("-o", `${umask}.npy`), folder);
                assert.equal(result.status, 0, result.stderr);
                assert.equal(mode(folder, `${umask}.npy`), expected);
            }
        });
    });

    test("a symbolic link stays, and what it names is replaced", () => {
        withFiles({ ...files, "o.npy": "old" }, (folder) => {
            mkdirSync(join(folder, "sub"));
            chmodSync(join(folder, "o.npy"), 0o600);
            symlinkSync("../o.npy", join(folder, "sub/link"));
            succeed(run("-o", "sub/link"), folder);
            assert.ok(lstatSync(join(folder, "sub/link")).isSymbolicLink());
            assert.deepEqual(shapeOf(folder, "o.npy"), [6, 4]);
            assert.equal(mode(folder, "o.npy"), "600");
            assert.deepEqual(readdirSync(join(folder, "sub")), ["link"]);
        });
    });

    test("what a dangling link names is made", () => {
        withFiles(files, (folder) => {
            symlinkSync("o.npy", join(folder, "link"));
            succeed(run("-o", "link"), folder);
            assert.ok(lstatSync(join(folder, "link")).isSymbolicLink());
            assert.deepEqual(shapeOf(folder, "o.npy"), [6, 4]);
        });
    });

    test("links in a circle are refused", () => {
        withFiles(files, (folder) => {
            symlinkSync("b", join(folder, "a"));
            symlinkSync("a", join(folder, "b"));
            const result = attn(run("-o", "a"), folder);
            assert.equal(result.status, 2);
            assert.match(result.stderr, /^attn: a: cannot be written: [^\n]+\n$/);
        });
    });

    const isRoot = !isWasi && process.getuid() === 0;
    const asNobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    const noRoot = (isWasi && "native only") || (!isRoot && "needs root");
    const noOther =
        noRoot || (spawnSync(asNobody[0], [...asNobody.slice(1), program]).error && "no setpriv");

    test("keeps its owner where root replaces it", { skip: noRoot }, () => {
        withFiles({ ...files, "o.npy": "old" }, (folder) => {
            chownSync(join(folder, "o.npy"), 65534, 65533);
            chmodSync(join(folder, "o.npy"), 0o640);
            succeed(run("-o", "o.npy"), folder);
            const { uid, gid } = statSync(join(folder, "o.npy"));
            assert.deepEqual([uid, gid, mode(folder, "o.npy")], [65534, 65533, "640"]);
            assert.deepEqual(shapeOf(folder, "o.npy"), [6, 4]);
        });
    });

    const nobody = (args, folder) =>
        spawnSync(asNobody[0], [...asNobody.slice(1), program, ...args], {
            cwd: folder,
            encoding: "utf8",
        });

    test("another's file that is not for this user is refused", { skip: noOther }, () => {
        withFiles({ ...files, "o.npy": "old", "own.npy": "old" }, (folder) => {
            chmodSync(folder, 0o777);
            chmodSync(join(folder, "o.npy"), 0o644);
            chownSync(join(folder, "own.npy"), 65534, 65534);
            chmodSync(join(folder, "own.npy"), 0o400);
            const before = contents(folder);
            for (const name of ["o.npy", "own.npy"]) {
                const result = nobody(run("-o", name, "--lse", "l.npy"), folder);
                assert.equal(result.status, 2);
                const said = `^attn: ${name}: cannot be written: Permission denied\n$`;
                assert.match(result.stderr, new RegExp(said));
                assert.deepEqual(contents(folder), before);
            }
        });
    });

    test("all names of a file keep being its names", nativeOnly, () => {
        withFiles({ ...files, "o.npy": Buffer.alloc(10000) }, (folder) => {
            linkSync(join(folder, "o.npy"), join(folder, "other.npy"));
            succeed(run("-o", "o.npy"), folder);
            assert.equal(statSync(join(folder, "o.npy")).nlink, 2);
            assert.deepEqual(shapeOf(folder, "other.npy"), [6, 4]);
            assert.equal(statSync(join(folder, "other.npy")).size, x.length);
        });
    });

    // Where a folder lets this user make no file, or replace none, or the file would be theirs from then on,
    // it is written into.
    const folders = [
        ["a folder that is not for this user", 0o755],
        ["a sticky folder", 0o1777],
        ["a folder that is for all", 0o777],
    ];
    for (const [what, bits] of folders) {
        test(`another's file in ${what} is written into`, { skip: noOther }, () => {
            withFiles({ ...files, "o.npy": Buffer.alloc(10000) }, (folder) => {
                chmodSync(folder, bits);
                chmodSync(join(folder, "o.npy"), 0o666);
                const before = statSync(join(folder, "o.npy"));
                const result = nobody(run("-o", "o.npy"), folder);
                assert.equal(result.status, 0, result.stderr);
                const now = statSync(join(folder, "o.npy"));
                assert.deepEqual([now.ino, now.uid, now.mode], [before.ino, 0, before.mode]);
                assert.deepEqual(shapeOf(folder, "o.npy"), [6, 4]);
                assert.equal(now.size, x.length);
                assert.deepEqual(leftovers(folder), []);
                const refused = nobody(run("-o", "o.npy", "--lse", "x.npy"), folder);
                assert.equal(refused.status, 2);
                assert.match(refused.stderr, /x\.npy: cannot be written: Permission denied/);
            });
        });
    }

    test(
        "another's file that is for all stays theirs, and is run as them no more",
        { skip: noOther },
        () => {
            withFiles({ ...files, "o.npy": "old" }, (folder) => {
                chmodSync(folder, 0o777);
                chmodSync(join(folder, "o.npy"), 0o4662);
                const result = nobody(run("-o", "o.npy"), folder);
                assert.equal(result.status, 0, result.stderr);
                assert.equal(mode(folder, "o.npy"), "662");
                assert.equal(statSync(join(folder, "o.npy")).uid, 0);
            });
        },
    );
});

describe("-o -", () => {
    const bytes = (args, folder, options) => attn(args, folder, { encoding: null, ...options });

    test("the array goes to standard output, and nothing else does", () => {
        withFiles(files, (folder) => {
            succeed(run("-o", "expected.npy"), folder);
            const { status, stdout, stderr } = bytes(run("-o", "-"), folder);
            assert.equal(status, 0);
            assert.equal(stderr.toString(), "");
            assert.deepEqual(stdout, readFileSync(join(folder, "expected.npy")));
            assert.ok(!existsSync(join(folder, "-")));
        });
    });

    test("any of the outputs may", () => {
        withFiles(files, (folder) => {
            const { stdout } = bytes(run("-o", "o.npy", "--lse=-"), folder);
            assert.deepEqual(parseNpy(stdout).shape, [6]);
            assert.deepEqual(shapeOf(folder, "o.npy"), [6, 4]);
        });
    });

    test("/dev/stdout is it, too, also where that is a file", nativeOnly, () => {
        withFiles(files, (folder) => {
            succeed(run("-o", "expected.npy"), folder);
            const expected = readFileSync(join(folder, "expected.npy"));
            for (const name of ["/dev/stdout", "-", "out.npy"]) {
                const out = openSync(join(folder, "out.npy"), "w");
                const result = attn(run("-o", name), folder, { stdio: ["ignore", out, "pipe"] });
                closeSync(out);
                assert.equal(result.status, 0, result.stderr);
                assert.deepEqual(readFileSync(join(folder, "out.npy")), expected, name);
            }
        });
    });

    test("embed: from standard input to standard output", () => {
        withFiles(files, (folder) => {
            const { status, stdout } = bytes(["embed", "-", "--dim=8", "-o", "-"], folder, {
                input: "a word, or two",
            });
            assert.equal(status, 0);
            assert.deepEqual(parseNpy(stdout).shape, [5, 8]);
            writeFileSync(join(folder, "text.txt"), "a word");
            const args = ["embed", "text.txt", "--dim=8", "-o", "-", "--json"];
            refuse(args, folder, /--json .*standard output/);
        });
    });

    test("a folder cannot go there", () => {
        withFiles(files, (folder) => {
            refuse(["lab", "run", "separation", "-o", "-"], folder, /--output: .*standard output/);
        });
    });

    test("a closed pipe leaves no file", nativeOnly, () => {
        withFiles(files, (folder) => {
            const args = run("-o", "-", "--lse", "l.npy");
            const result = spawnSync("sh", ["-c", '"$0" "$@" | true', program, ...args], {
                cwd: folder,
            });
            assert.equal(result.status, 0);
            for (const name of Object.keys(contents(folder)))
                assert.ok(["x.npy", "l.npy"].includes(name), name);
            const closed = attnAfter("exec >&-", args, folder);
            assert.equal(closed.status, 1);
            assert.match(closed.stderr, /^attn: standard output: cannot be written: [^\n]+\n$/);
        });
    });
});

/** Runs it until it waits for a reader of the pipe that is its last output, its file beside whole. */
async function waiting(folder, body, setup = "") {
    if (!existsSync(join(folder, "pipe"))) spawnSync("mkfifo", [join(folder, "pipe")]);
    const stats = () =>
        leftovers(folder).flatMap(
            (name) => statSync(join(folder, name), { throwIfNoEntry: false }) ?? [],
        );
    const before = Math.max(0, ...stats().map(({ mtimeMs }) => mtimeMs));
    const args = run("-o", "o.npy", "--lse", "pipe");
    const child = spawn("sh", ["-c", `${setup} exec "$0" "$@"`, program, ...args], { cwd: folder });
    const end = new Promise((resolve) => child.on("close", (status, by) => resolve(by ?? status)));
    const isMade = () => stats().some((file) => file.mtimeMs > before && file.size === x.length);
    while (!isMade() && child.exitCode === null) await sleep(5);
    return body(child, end);
}

describe("interrupted", nativeOnly, () => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
        test(`${signal} removes the file beside, and ends it`, async () => {
            await withFiles(files, async (folder) => {
                await waiting(folder, async (child, end) => {
                    child.kill(signal);
                    assert.equal(await end, signal);
                });
                assert.deepEqual(readdirSync(folder).sort(), ["pipe", "x.npy"]);
            });
        });
    }

    test("a signal that is ignored stays so", async () => {
        await withFiles(files, async (folder) => {
            await waiting(
                folder,
                async (child, end) => {
                    child.kill("SIGHUP");
                    await sleep(50);
                    assert.equal(leftovers(folder).length, 1);
                    child.kill("SIGTERM");
                    assert.equal(await end, "SIGTERM");
                    assert.deepEqual(leftovers(folder), []);
                },
                "trap '' HUP;",
            );
        });
    });

    test("what a killed run left is removed by the next that writes there", async () => {
        await withFiles({ ...files, ".attn-0": "not ours" }, async (folder) => {
            for (let runs = 0; runs < 2; runs++) {
                await waiting(folder, async (child, end) => {
                    child.kill("SIGKILL");
                    assert.equal(await end, "SIGKILL");
                });
                assert.equal(leftovers(folder).length, 2); // it was removed by the second, too
            }
            succeed(run("-o", "other.npy"), folder);
            assert.equal(leftovers(folder).length, 2); // and is nothing to other targets
            succeed(run("-o", "./o.npy"), folder);
            assert.deepEqual(leftovers(folder), [".attn-0"]);
            assert.equal(readFileSync(join(folder, ".attn-0"), "utf8"), "not ours");
        });
    });

    test("a run that is still going on is left alone", async () => {
        await withFiles(files, async (folder) => {
            await waiting(folder, async (first, firstEnd) => {
                const live = leftovers(folder);
                assert.equal(live.length, 1);
                await waiting(folder, async (second, secondEnd) => {
                    assert.equal(leftovers(folder).length, 2);
                    succeed(run("-o", "o.npy"), folder);
                    assert.equal(leftovers(folder).length, 2);
                    second.kill("SIGKILL");
                    assert.equal(await secondEnd, "SIGKILL");
                });
                succeed(run("-o", "o.npy"), folder);
                assert.deepEqual(leftovers(folder), live);
                // With a reader, the first one finishes.
                readFileSync(join(folder, "pipe"));
                assert.equal(await firstEnd, 0);
                assert.deepEqual(leftovers(folder), []);
            });
        });
    });
});

describe("on the disk", { skip: !shim && "needs the shim" }, () => {
    test("a file before it takes its place, its folder afterwards", () => {
        withFiles({ ...files, "o.npy": "old" }, (folder) => {
            mkdirSync(join(folder, "sub"));
            const log = join(folder, "log");
            const args = run("-o", "o.npy", "--lse", "sub/l.npy");
            succeed(args, folder, {
                env: { ...process.env, LD_PRELOAD: shim, ATTN_SHIM_LOG: log },
            });
            const done = readFileSync(log, "utf8").split("\n").slice(0, -2);
            const inode = (name) => String(statSync(join(folder, name)).ino);
            assert.deepEqual(
                done.map((line) => line.split(" ")),
                [
                    ["fsync", "file", inode("o.npy")],
                    ["fsync", "file", inode("sub/l.npy")],
                    ["rename", inode("o.npy"), "o.npy"],
                    ["fsync", "folder", inode(".")],
                    ["rename", inode("sub/l.npy"), "sub/l.npy"],
                    ["fsync", "folder", inode("sub")],
                ],
            );
        });
    });
});

describe("options as getopt has them", () => {
    test("-oFILE, --output=FILE, and -- before arguments", () => {
        withFiles({ ...files, "-t.txt": "words" }, (folder) => {
            succeed(run("-oa.npy", "--lse=b.npy"), folder);
            assert.deepEqual(shapeOf(folder, "a.npy"), [6, 4]);
            assert.deepEqual(shapeOf(folder, "b.npy"), [6]);
            succeed(["embed", "--dim=4", "-oc.npy", "--", "-t.txt"], folder);
            assert.deepEqual(shapeOf(folder, "c.npy"), [1, 4]);
            succeed(run("-o=d.npy"), folder); // of a letter, all that follows is the value
            assert.ok(existsSync(join(folder, "=d.npy")));
            writeFileSync(join(folder, "--"), x);
            succeed(["run", "softmax", "--q", "--", ...inputs.slice(2), "-o", "--"], folder);
            assert.deepEqual(shapeOf(folder, "--"), [6, 4]);
        });
    });
});
