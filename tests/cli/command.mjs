// Runs the command line: natively or, when ATTN_CLI names a .wasm file, under node's WASI.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

export const program = resolve(process.env.ATTN_CLI ?? join(root, "build/attn"));
export const plugin = process.env.ATTN_TEMPLATE_PLUGIN && resolve(process.env.ATTN_TEMPLATE_PLUGIN);
/** A library to preload: tests/cli/shim.c. */
export const shim = process.env.ATTN_SHIM && resolve(process.env.ATTN_SHIM);
export const isWasi = program.endsWith(".wasm");

const wasiCommand = [process.execPath, join(root, "wasm/toolchain/run-wasi.mjs"), program];
const runInModule = isWasi && (await import("../wasi/run.mjs")).wasiProgram(program);

/**
 * {status, stdout, stderr} of `attn ...args`, run in `folder`. Under WASI in this process, and in one of
 * its own if it has `input`.
 */
export function attn(args, folder, options = {}) {
    if (isWasi && options.input === undefined)
        return runInModule(args, { ...options, cwd: folder });
    const command = isWasi ? wasiCommand : [program];
    return run([...command, ...args], folder, options);
}

/** The same through a shell, after `setup` (limits, traps). */
export function attnAfter(setup, args, folder) {
    return run(["sh", "-c", `${setup}\nexec "$0" "$@"`, program, ...args], folder);
}

function run([file, ...args], folder, options) {
    const result = spawnSync(file, args, { cwd: folder, encoding: "utf8", ...options });
    if (result.error) throw result.error;
    return result;
}

/** What a command prints that succeeds without a complaint. */
export function succeed(args, folder, options) {
    const result = attn(args, folder, options);
    assert.equal(result.status, 0, result.signal ?? result.stderr);
    assert.equal(result.stderr, "");
    return result.stdout;
}

/** The result of a command is a refusal: nothing printed, and one line that `says` matches. */
export function assertRefused({ status, stdout, stderr }, says, expected = 2) {
    assert.equal(status, expected, stderr);
    assert.equal(stdout, "");
    assert.match(stderr, /^attn: [^\n]+\n$/);
    assert.match(stderr, says);
}

/** Every number is within its tolerance of what is expected. */
export function assertClose(actual, expected, tolerance, what) {
    assert.equal(actual.length, expected.length, what);
    actual.forEach((x, i) => {
        const fits = Object.is(x, expected[i]) || Math.abs(x - expected[i]) <= tolerance[i];
        assert.ok(fits, `${what}[${i}]: ${x}, expected ${expected[i]} +- ${tolerance[i]}`);
    });
}

/** Calls `body(folder)` with a new folder that holds `files`, and removes it when that is done. */
export function withFiles(files, body) {
    const folder = mkdtempSync(join(tmpdir(), "attn-cli-"));
    const remove = () => rmSync(folder, { recursive: true });
    let result;
    try {
        for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
        result = body(folder);
    } finally {
        if (!(result instanceof Promise)) remove();
    }
    return result instanceof Promise ? result.finally(remove) : result;
}

/** Names and contents of all files in a folder. */
export function contents(folder) {
    return Object.fromEntries(
        readdirSync(folder, { withFileTypes: true })
            .sort((a, b) => (a.name < b.name ? -1 : 1))
            .map((entry) => [
                entry.name,
                entry.isFile() ? readFileSync(join(folder, entry.name), "hex") : "folder",
            ]),
    );
}
