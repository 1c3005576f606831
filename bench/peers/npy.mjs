// Arrays of float32 as .npy files.

/** The file of an array of two axes or more, whose elements are `bytes`; its header has 128. */
export function npyBytes(shape, bytes) {
    const words = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(", ")}), }`;
    const begin = Buffer.from("\x93NUMPY\x01\x00\x76\x00", "latin1"); // 118 bytes follow
    return Buffer.concat([begin, Buffer.from(`${words.padEnd(117)}\n`), bytes]);
}
