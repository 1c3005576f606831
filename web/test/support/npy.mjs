/** A .npy file with these numbers: float32, C order, of rank 2 or more. */
export function npy(shape, numbers) {
    return npyOf("<f4", shape, Buffer.from(Float32Array.from(numbers).buffer));
}

/** One with any elements, as they lie in the file. */
export function npyOf(descr, shape, data, isFortran = false) {
    const order = isFortran ? "True" : "False";
    const descriptor = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${shape.join(", ")}), }`;
    const header = descriptor.padEnd(Math.ceil((descriptor.length + 11) / 64) * 64 - 11) + "\n";
    const prefix = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 0, 0]);
    prefix.writeUInt16LE(header.length, 8);
    return Buffer.concat([prefix, Buffer.from(header, "latin1"), data]);
}

/** An array of this shape, reproducible, with entries in [-1, 1). */
export function randomNpy(shape, seed) {
    return npy(shape, randomNumbers(shape, seed));
}

export function randomNumbers(shape, seed) {
    const count = shape.reduce((product, size) => product * size, 1);
    let state = seed >>> 0;
    return Array.from({ length: count }, () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0; // Numerical Recipes' generator
        return state / 2 ** 31 - 1;
    });
}
