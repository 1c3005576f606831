/* What other people's checkers say of a tarball: its manifest (publint) and its types (attw). */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Runs a checker's program; what it says is the failure. */
function check(tarball, program, ...args) {
    const script = fileURLToPath(new URL(import.meta.resolve(program)));
    const options = { cwd: dirname(tarball), encoding: "utf8" };
    try {
        execFileSync(process.execPath, [script, ...args], options);
    } catch (error) {
        assert.fail(error.stdout + error.stderr);
    }
}

export function checkManifest(tarball) {
    check(tarball, "../../../node_modules/publint/src/cli.js", "run", tarball, "--strict");
}

/** Of the package in `folder`. Modules of WebAssembly are bytes, and have no types. */
export function checkTypes(tarball, folder) {
    const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const bytes = Object.keys(exports).filter((name) => name.endsWith(".wasm"));
    const program = "../../../node_modules/@arethetypeswrong/cli/dist/index.js";
    check(tarball, program, tarball, "--no-color", "--exclude-entrypoints", ...bytes);
}
