/** Writes NumPy's array files. */

export const npyMagic = "\x93NUMPY";

/** `descr`: NumPy's name of the element type. */
export function writeNpy(
    descr: string,
    isFortran: boolean,
    shape: readonly number[],
    data: Uint8Array,
): Uint8Array<ArrayBuffer> {
    const order = isFortran ? "True" : "False";
    const sizes = shape.map((size) => `${size},`).join(" ");
    const text = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${sizes}), }`;
    const header = `${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`;
    const npy = new Uint8Array(10 + header.length + data.length);
    npy.set(Uint8Array.from(`${npyMagic}\x01\x00`, (letter) => letter.charCodeAt(0)));
    new DataView(npy.buffer).setUint16(8, header.length, true);
    npy.set(new TextEncoder().encode(header), 10);
    npy.set(data, 10 + header.length);
    return npy;
}

/** The file of an array in C's order. */
export function float32Npy(array: Float32Array, shape: readonly number[]): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    return writeNpy("<f4", false, shape, bytes);
}
