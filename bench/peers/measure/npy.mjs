// Arrays as .npy files.

import { readFileSync } from "node:fs";

/** The file of an array of float32 of two axes or more, whose elements are `bytes`; its header has 128. */
export function npyBytes(shape, bytes) {
    const words = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(", ")}), }`;
    const begin = Buffer.from("\x93NUMPY\x01\x00\x76\x00", "latin1"); // 118 bytes follow
    return Buffer.concat([begin, Buffer.from(`${words.padEnd(117)}\n`), bytes]);
}

/** The elements of a .npy file of float32 or bool, and how long a row is. */
export function readNpy(path) {
    const bytes = readFileSync(path);
    const start = 10 + bytes.readUInt16LE(8);
    const data = bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length);
    const header = bytes.toString("latin1", 10, start);
    const all = header.includes("|b1") ? new Uint8Array(data) : new Float32Array(data);
    return { all, length: Number(/(\d+),?\s*\)/.exec(header)[1]) };
}
