// A WASI program, run as spawnSync() runs a native one, but compiled once, in this process: Node.js takes
// longer to start than most runs take. Each has a memory of its own.

import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";

import { loadProgram } from "../../wasm/toolchain/wasi.mjs";

/** Returns run(args, {cwd, env}), which returns {status, stdout, stderr}. */
export function wasiProgram(file) {
    const start = loadProgram(file);
    return (args, { cwd, env } = {}) => {
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
        const [printed, said] = outputs.map((path) => readFileSync(path, "utf8"));
        rmSync(folder, { recursive: true });
        return { status, stdout: printed, stderr: said + trap };
    };
}
