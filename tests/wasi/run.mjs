// A WASI program, run as spawnSync() runs a native one, but compiled once, in this process: Node.js takes
// longer to start than most runs take. Each has a memory of its own.

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";

import { loadProgram } from "../../wasm/toolchain/wasi.mjs";

/** Returns run(args, {cwd, env, encoding}), which returns {status, stdout, stderr}; by null bytes. */
export function wasiProgram(file) {
    const start = loadProgram(file);
    return (args, { cwd, env, encoding = "utf8" } = {}) => {
        const folder = mkdtempSync(join(tmpdir(), "attn-wasi-"));
        const outputs = ["stdout", "stderr"].map((name) => join(folder, name));
        const stdin = openSync(devNull, "r");
        const [stdout, stderr] = outputs.map((path) => openSync(path, "w"));
        let status = 134; // what a shell shows for a program that aborted
        let trap = "";
        try {
            status = start(args, { folder: cwd, env, stdin, stdout, stderr });
        } catch (error) {
            trap = error.stack;
        } finally {
            [stdin, stdout, stderr].forEach(closeSync);
        }
        const [printed, said] = outputs.map((path) => readFileSync(path));
        rmSync(folder, { recursive: true });
        const decoded = (bytes) => (encoding === null ? bytes : bytes.toString(encoding));
        return {
            status,
            stdout: decoded(printed),
            stderr: decoded(Buffer.concat([said, Buffer.from(trap)])),
        };
    };
}
