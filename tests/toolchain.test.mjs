// What ./dev finds in its cache is of the versions that are pinned; asked for help it builds nothing.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const needs = fileURLToPath(new URL("../wasm/toolchain/needs.sh", import.meta.url));

/** What a command of needs.sh says, where the cache has these folders. */
function withCache(folders, command) {
    const cache = mkdtempSync(join(tmpdir(), "attn-cache-"));
    const env = { ...process.env, XDG_CACHE_HOME: cache };
    try {
        for (const folder of folders)
            mkdirSync(join(cache, "libattn", folder), { recursive: true });
        const script = `. "$1"; ${command}`;
        return spawnSync("bash", ["-c", script, "-", needs], { env, encoding: "utf8" });
    } finally {
        rmSync(cache, { recursive: true });
    }
}

const pins = () => {
    const script = '. "$1"; for each in 20 24; do basename "$(attn_node_folder $each)"; done';
    return execFileSync("bash", ["-c", script, "-", needs], { encoding: "utf8" })
        .trim()
        .split("\n");
};

test("the other Node.js is taken from the cache in its exact version alone", () => {
    const has = (...folders) => withCache(folders, "has_download other-node").status === 0;
    assert.ok(has(...pins()));
    const others = pins().map((name) => name.replace(/\.\d+-npm/, ".999-npm"));
    for (const name of others) assert.doesNotMatch(pins().join(), new RegExp(name));
    assert.ok(!has("node-20", "node-24", ...others));
});

test("folders of Node.js have the versions of Node.js and npm in their names", () => {
    for (const name of pins()) assert.match(name, /^node-2[04]\.\d+\.\d+-npm-\d+\.\d+\.\d+$/);
});

for (const words of [["help"], ["demo", "--help"], ["demo", "a.txt", "-h"], ["plugin", "--help"]])
    test(`./dev ${words.join(" ")} prints the usage alone`, () => {
        const dev = fileURLToPath(new URL("../dev", import.meta.url));
        const { status, stdout } = spawnSync(dev, words, { encoding: "utf8" });
        assert.equal(status, 0);
        assert.match(stdout, /^usage: \.\/dev COMMAND\n[^]*Logs of each step: \S+\n$/);
        assert.doesNotMatch(stdout, /^installing/m);
    });

test("a major version without a pin is refused", () => {
    const { status, stderr } = withCache([], "attn_node_folder 18");
    assert.equal(status, 1);
    assert.match(stderr, /^no Node\.js 18 is pinned: 20 and 24 are\n$/);
});
