// Arrays as .npy files, whose elements stay bytes: there are many.

import { readFileSync } from "node:fs";
import { npyHeader } from "../../../tests/cli/npy.mjs";

/** The elements of a .npy file of float32 or bool, and how long a row is. */
export function readNpy(path) {
    const bytes = readFileSync(path);
    const { descr, shape, start } = npyHeader(bytes);
    const data = bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length);
    const all = descr === "|b1" ? new Uint8Array(data) : new Float32Array(data);
    return { all, length: shape.at(-1) };
}
