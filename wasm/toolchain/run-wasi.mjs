#!/usr/bin/env node
// Runs a WASI program as if it were a native one: same arguments, environment, files, exit status.
//
// usage: node run-wasi.mjs PROGRAM.wasm [ARGUMENT...]

import process from "node:process";

import { loadProgram } from "./wasi.mjs";

const [program, ...args] = process.argv.slice(2);
if (program === undefined) {
    console.error("usage: run-wasi.mjs PROGRAM.wasm [ARGUMENT...]");
    process.exit(2);
}

try {
    process.exitCode = loadProgram(program)(args);
} catch (error) {
    console.error(error instanceof Error ? error.stack : error);
    process.exitCode = 134; // what a shell shows for a program that aborted
}
