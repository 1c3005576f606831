// WASI programs in Node.js, as run-wasi.mjs and the tests of the command line run them.

import { opendirSync, readFileSync, readdirSync } from "node:fs";
import process from "node:process";
import v8 from "node:v8";

// node:wasi announces that it is experimental, on the standard error that tests look at.
process.removeAllListeners("warning");
process.on("warning", (warning) => {
    if (warning.name !== "ExperimentalWarning") console.error(warning.stack);
});

// Optimised code calls WASI functions by a short cut that crashes Node 20 and 22 (nodejs/node#53087).
v8.setFlagsFromString("--no-turbo-fast-api-calls");

// Node 20 knows relaxed SIMD but has it switched off; later ones have it on and no such flag.
if (Number.parseInt(process.versions.node) < 22) {
    v8.setFlagsFromString("--experimental-wasm-relaxed-simd");
}

const { WASI } = await import("node:wasi"); // not before its warning is kept quiet

// WASI has no current directory, and wasi-libc drops the leading "/" before it looks for the opened
// folder that fits, so "/" and "." would be the same to it. Open the folders in the root one by one
// instead; what starts with none of their names is relative. ("tmp/x" therefore means "/tmp/x", and
// a path that starts with ".." is refused.)
function openFolders(current) {
    const folders = { ".": current };
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

/**
 * Reads and compiles a program. The function that this returns runs it, in a memory of its own each
 * time, and returns its exit status; it throws what the engine throws if the program aborts. The
 * standard streams are file descriptors.
 */
export function loadProgram(file) {
    const module = new WebAssembly.Module(readFileSync(file));
    return (args, { folder = process.cwd(), env = process.env, ...streams } = {}) => {
        const wasi = new WASI({
            version: "preview1",
            args: [file, ...args],
            env,
            preopens: openFolders(folder),
            returnOnExit: true,
            ...streams,
        });
        try {
            return wasi.start(new WebAssembly.Instance(module, wasi.getImportObject()));
        } finally {
            closeFiles(wasi);
        }
    };
}

// What a program leaves open, the folders that it was given among it, Node.js would keep until its
// collector comes by.
function closeFiles({ wasiImport }) {
    for (let file = 3; file < 128; file++) wasiImport.fd_close(file); // what is none is refused
}
