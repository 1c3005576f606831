#!/usr/bin/env node
// Runs a WASI program as if it were a native one: same arguments, environment, files, exit status.
//
// usage: node run-wasi.mjs PROGRAM.wasm [ARGUMENT...]

import { opendirSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import process from "node:process";
import v8 from "node:v8";

// node:wasi announces that it is experimental, on the standard error that tests look at.
process.removeAllListeners("warning");
process.on("warning", (warning) => {
    if (warning.name !== "ExperimentalWarning") console.error(warning.stack);
});

const [program, ...args] = process.argv.slice(2);
if (program === undefined) {
    console.error("usage: run-wasi.mjs PROGRAM.wasm [ARGUMENT...]");
    process.exit(2);
}

// Optimised code calls WASI functions by a short cut that crashes Node 20 and 22 (nodejs/node#53087).
v8.setFlagsFromString("--no-turbo-fast-api-calls");

// Node 20 knows relaxed SIMD but has it switched off; later ones have it on and no such flag.
if (Number.parseInt(process.versions.node) < 22) {
    v8.setFlagsFromString("--experimental-wasm-relaxed-simd");
}

// WASI has no current directory, and wasi-libc drops the leading "/" before it looks for the opened
// folder that fits, so "/" and "." would be the same to it. Open the folders in the root one by one
// instead; what starts with none of their names is relative. ("tmp/x" therefore means "/tmp/x", and
// a path that starts with ".." is refused.)
function openFolders() {
    const folders = { ".": process.cwd() };
    for (const name of readdirSync("/")) {
        if (isReadableFolder(`/${name}`)) folders[`/${name}`] = `/${name}`;
    }
    return folders;
}

function isReadableFolder(path) {
    try {
        opendirSync(path).closeSync();
        return true;
    } catch {
        return false; // a file, a dangling link, or another user's: WASI would refuse to start
    }
}

const { WASI } = await import("node:wasi");
const wasi = new WASI({
    version: "preview1",
    args: [program, ...args],
    env: process.env,
    preopens: openFolders(),
    returnOnExit: true,
});

try {
    const module = await WebAssembly.compile(await readFile(program));
    const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
    process.exitCode = wasi.start(instance);
} catch (error) {
    console.error(error instanceof Error ? error.stack : error);
    process.exitCode = 134; // what a shell shows for a program that aborted
}
