// NumPy's .npy files in a few lines, for tests and measurements.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const writers = {
    "<f4": (data, x, at) => data.writeFloatLE(x, at),
    "<f8": (data, x, at) => data.writeDoubleLE(x, at),
    "<f2": (data, x, at) => data.writeUInt16LE(halfBits(x), at),
    ">f4": (data, x, at) => data.writeFloatBE(x, at),
    ">f8": (data, x, at) => data.writeDoubleBE(x, at),
    "|b1": (data, x, at) => data.writeUInt8(x ? 1 : 0, at),
    "|i1": (data, x, at) => data.writeInt8(x, at),
    "<i4": (data, x, at) => data.writeInt32LE(x, at),
    "<i8": (data, x, at) => data.writeBigInt64LE(BigInt(x), at),
};

/** IEEE binary16: the number of these bits, and the bits of a number rounded to nearest even. */
export function halfValue(bits) {
    const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
    const size = exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24;
    const finite = exponent < 31 ? size : fraction ? NaN : Infinity;
    return bits & 0x8000 ? -finite : finite;
}

export function halfBits(x) {
    const sign = x < 0 || Object.is(x, -0) ? 0x8000 : 0;
    if (Number.isNaN(x)) return 0x7e00;
    if (Math.abs(x) >= 65520) return sign | 0x7c00;
    const exponent = Math.max(-14, Math.floor(Math.log2(Math.abs(x) || 1)));
    const units = Math.abs(x) / 2 ** (exponent - 10);
    const down = Math.floor(units);
    const up = units - down > 0.5 || (units - down === 0.5 && down % 2 === 1);
    const whole = down + (up ? 1 : 0);
    return sign | (whole < 1024 ? whole : ((exponent + 15) << 10) + whole - 1024);
}

/** A file with these bytes, as they lie in it. Options: descr, fortran, version, header. */
export function npyFile(shape, bytes, options = {}) {
    const { descr = "<f4", fortran = false, version = 1 } = options;
    const tuple = `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
    const order = fortran ? "True" : "False";
    const text =
        options.header ?? `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': ${tuple}, }`;
    const prefix = version === 1 ? 10 : 12;
    const length = Math.ceil((prefix + text.length + 1) / 64) * 64 - prefix;
    const head = Buffer.alloc(prefix);
    head.write("\x93NUMPY", "latin1");
    head[6] = version;
    if (version === 1) head.writeUInt16LE(length, 8);
    else head.writeUInt32LE(length, 8);
    return Buffer.concat([head, Buffer.from(text.padEnd(length - 1) + "\n", "latin1"), bytes]);
}

/** The same with these numbers; `values` in C order, whatever the file's. */
export function npy(shape, values, options = {}) {
    const { descr = "<f4", fortran = false } = options;
    const size = Number(descr.slice(2));
    const data = Buffer.alloc(values.length * size);
    const order = fortran ? fortranOrder(shape) : values.map((_, i) => i);
    const write = writers[descr] ?? (() => {});
    order.forEach((from, to) => write(data, values[from], to * size));
    return npyFile(shape, data, options);
}

/** C-order indices of an array's elements in Fortran order: the first dimension runs fastest. */
function fortranOrder(shape) {
    const total = shape.reduce((a, b) => a * b, 1);
    return Array.from({ length: total }, (_, position) => {
        const indices = shape.map((extent) => {
            const index = position % extent;
            position = Math.floor(position / extent);
            return index;
        });
        return indices.reduce((index, i, axis) => index * shape[axis] + i, 0);
    });
}

const readers = {
    "<f4": (bytes, at) => bytes.readFloatLE(at),
    "<f2": (bytes, at) => halfValue(bytes.readUInt16LE(at)),
    "|b1": (bytes, at) => bytes.readUInt8(at) !== 0,
};

/** { descr, shape, start } of a file in C order, as the command line writes them; its elements are from `start` on. */
export function npyHeader(bytes) {
    const start = 10 + bytes.readUInt16LE(8);
    const header = bytes.toString("latin1", 10, start);
    const form = /^\{'descr': '([^']+)', 'fortran_order': False, 'shape': \(([^)]*)\), \} *\n$/;
    const match = header.match(form);
    if (start % 64 || !match) throw new Error(`not what the command line writes: ${header}`);
    const [, descr, sizes] = match;
    const shape = sizes
        .split(",")
        .filter((s) => s.trim())
        .map(Number);
    return { descr, shape, start };
}

/** {shape, data, descr} of a float32, float16 or bool file. */
export function parseNpy(bytes) {
    const { descr, shape, start } = npyHeader(bytes);
    if (!readers[descr]) throw new Error(`not what the command line writes: ${descr}`);
    const size = Number(descr.slice(2));
    const data = [];
    for (let at = start; at < bytes.length; at += size) data.push(readers[descr](bytes, at));
    return { shape, data, descr };
}

/** A file as parseNpy() gives it. */
export const read = (folder, name) => parseNpy(readFileSync(join(folder, name)));
