// NumPy's .npy files in a few lines: what the tests feed to the command line and read back.

/** The bytes of an array; `values` in C order. Options: descr, fortran, version, header. */
export function npy(shape, values, options = {}) {
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
    const size = Number(descr.slice(2));
    const data = Buffer.alloc(values.length * size);
    const order_ = fortran ? fortranOrder(shape) : values.map((_, i) => i);
    order_.forEach((from, to) => {
        if (descr === "<f8") data.writeDoubleLE(values[from], to * size);
        else if (descr === ">f8") data.writeDoubleBE(values[from], to * size);
        else if (descr === ">f4") data.writeFloatBE(values[from], to * size);
        else if (descr === "<f4") data.writeFloatLE(values[from], to * size);
    });
    return Buffer.concat([head, Buffer.from(text.padEnd(length - 1) + "\n", "latin1"), data]);
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

/** {shape, data} of a float32 file in C order. */
export function parseNpy(bytes) {
    const start = 10 + bytes.readUInt16LE(8);
    const header = bytes.toString("latin1", 10, start);
    if (start % 64 || !header.startsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (")) {
        throw new Error(`not what the command line writes: ${header}`);
    }
    const shape = header
        .match(/\(([^)]*)\)/)[1]
        .split(",")
        .filter((s) => s.trim())
        .map(Number);
    const data = [];
    for (let at = start; at < bytes.length; at += 4) data.push(bytes.readFloatLE(at));
    return { shape, data };
}
