// attn check: built-in backends and the template keep what is asked of them, and each fault of
// tests/plugin/broken.c is found by the check that is meant for it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";

import { assertRefused, attn, isWasi, plugin, succeed } from "./command.mjs";

const root = fileURLToPath(new URL("../../", import.meta.url));

const CHECKS = "runs guards strides corners batch again threads hidden streams gradients told";
const broken = process.env.ATTN_BROKEN_PLUGINS?.split(",");
const skip = (!broken || isWasi) && "no plugin to load";

/** {check: "ok", ...} of what the command printed, in order. */
function verdicts(stdout) {
    const lines = stdout.trimEnd().split("\n");
    const found = lines.map((line) => line.match(/^(\w+) +(ok|FAILED|skipped)\b(.*)$/));
    assert.ok(found.every(Boolean), stdout);
    assert.equal(found.map(([, name]) => name).join(" "), CHECKS);
    return Object.fromEntries(found.map(([, name, verdict, rest]) => [name, { verdict, rest }]));
}

const skipped = (found) => Object.keys(found).filter((name) => found[name].verdict === "skipped");

for (const backend of ["softmax", "linear", "sparse", "sketch"])
    for (const more of [[], ["--inputs", "7"], ["--cpu", "scalar"]])
        test(`${backend} ${more.join(" ")} passes`, { skip: isWasi && more[0] === "--cpu" }, () => {
            const found = verdicts(succeed(["check", backend, ...more]));
            assert.deepEqual(skipped(found), isWasi ? ["threads"] : []);
            const words =
                backend === "softmax" ? /weights times V, and exact attention,/ : /times V at/;
            assert.match(found.corners.rest, words);
        });

test("the template passes", { skip: (!plugin || isWasi) && "no plugin to load" }, () => {
    const found = verdicts(succeed(["check", "org.libattn.template", "--plugin", plugin]));
    assert.deepEqual(skipped(found), ["streams"]);
    assert.match(found.streams.rest, /has no streams/);
});

/* By the command of its manual, for this machine. */
test("the template by vectors passes", { skip: (!plugin || isWasi) && "no plugin to load" }, () => {
    const folder = mkdtempSync(join(tmpdir(), "attn-plugin-"));
    try {
        const made = join(folder, "simd.so");
        const sources = ["simd.c", "--kernels", "row.c"];
        execFileSync(join(root, "wasm/toolchain/build-plugin.sh"), [...sources, "-o", made], {
            cwd: join(root, "plugins/template/simd"),
        });
        for (const more of [[], ["--cpu", "scalar"]]) {
            const found = verdicts(
                succeed(["check", "org.libattn.template.simd", "--plugin", made, ...more]),
            );
            assert.deepEqual(skipped(found), ["corners", "streams", "gradients", "told"]);
        }
    } finally {
        rmSync(folder, { recursive: true });
    }
});

describe("a fault is found by its check", { skip }, () => {
    // In the order of broken.c's list: which check fails, and which others may see it too.
    const faults = [
        ["none", []],
        [
            "runs",
            ["guards", "strides", "corners", "batch", "again", "threads", "hidden", "gradients"],
        ],
        ["guards", ["strides", "batch", "corners"]],
        ["guards", ["strides", "batch", "again"]],
        ["strides", []],
        ["corners", []],
        ["batch", ["strides"]],
        ["again", ["gradients"]],
        ["threads", []],
        ["hidden", []],
        ["gradients", []],
        ["told", []],
    ];
    faults.forEach(([check, others], fault) =>
        test(`fault ${fault}: ${check}`, () => {
            const result = attn(["check", "org.example.mean", "--plugin", broken[fault]]);
            const found = verdicts(result.stdout);
            const failed = Object.keys(found).filter((name) => found[name].verdict === "FAILED");
            if (check === "none") {
                assert.deepEqual([failed, result.status, result.stderr], [[], 0, ""]);
                return;
            }
            assert.equal(result.status, 1, result.stdout);
            assert.match(
                result.stderr,
                /^attn: \d+ checks? of backend 'org.example.mean' failed\n$/,
            );
            assert.ok(failed.includes(check), result.stdout);
            const strange = failed.filter((name) => name !== check && !others.includes(name));
            assert.deepEqual(strange, [], result.stdout);
            assert.match(found[check].rest, /^ with --inputs 1: .*\S/);
        }),
    );
});

test("wrong input", () => {
    assertRefused(attn(["check"]), /BACKEND|missing/);
    assertRefused(attn(["check", "nothing"]), /nothing/);
    assertRefused(attn(["check", "softmax", "--set", "nothing=1"]), /nothing/);
});

for (const tolerance of ["0", "-1", "-0"])
    test(`a tolerance of ${tolerance} is refused`, () => {
        const result = attn(["check", "softmax", "--tolerance", tolerance]);
        assertRefused(result, /--tolerance: -?\d is not above 0/);
    });
