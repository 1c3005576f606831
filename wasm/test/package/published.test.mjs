/* What other people's checkers say of the tarball: its manifest (publint) and its types (attw). */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, test } from "node:test";
import { pack, packageFolder } from "./projects.mjs";

const folder = mkdtempSync(join(tmpdir(), "libattn-"));
after(() => rmSync(folder, { recursive: true }));
const { tarball } = pack(folder);

/** Runs a checker's program; what it says is the failure. */
function check(program, ...args) {
    const script = fileURLToPath(new URL(import.meta.resolve(program)));
    try {
        execFileSync(process.execPath, [script, ...args], { cwd: folder, encoding: "utf8" });
    } catch (error) {
        assert.fail(error.stdout + error.stderr);
    }
}

test("publint", () => {
    check("../../../node_modules/publint/src/cli.js", "run", tarball, "--strict");
});

/* Modules of WebAssembly are bytes, and have no types. */
test("attw", () => {
    const { exports } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
    const bytes = Object.keys(exports).filter((name) => name.endsWith(".wasm"));
    const program = "../../../node_modules/@arethetypeswrong/cli/dist/index.js";
    const excluded = ["--exclude-entrypoints", ...bytes];
    check(program, tarball, "--no-color", ...excluded);
});
