// ZIP archives in a few lines: what scipy.sparse.save_npz() writes, deflated or stored.

import { deflateRawSync } from "node:zlib";

const crcOf = (bytes) => {
    let crc = -1;
    for (const byte of bytes) {
        crc ^= byte;
        for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc >>> 0;
};

const record = (signature, fields, ...rest) => {
    const head = Buffer.alloc(4 + fields.reduce((sum, [size]) => sum + size, 0));
    head.write(signature, "latin1");
    let at = 4;
    for (const [size, value] of fields) at = head.writeUIntLE(value, at, size);
    return Buffer.concat([head, ...rest]);
};

const ones = 0xffffffff;

/** An extra field of numbers of 64 bits (zip64). */
function wide(...values) {
    const extra = Buffer.alloc(4 + 8 * values.length);
    extra.writeUInt16LE(1, 0);
    extra.writeUInt16LE(8 * values.length, 2);
    values.forEach((value, i) => extra.writeBigUInt64LE(BigInt(value), 4 + 8 * i));
    return extra;
}

/** The end of the directory, and with zip64 the two records before it that have its numbers. */
function ending(count, size, at, zip64) {
    const pair = (width) => [
        [width, zip64 && width === 2 ? 0xffff : count],
        [width, zip64 && width === 2 ? 0xffff : count],
    ];
    const last = zip64 ? [ones, ones] : [size, at];
    const end = record("PK\x05\x06", [
        [2, 0],
        [2, 0],
        ...pair(2),
        [4, last[0]],
        [4, last[1]],
        [2, 0],
    ]);
    if (!zip64) return end;
    const long = (value) => [
        [4, value],
        [4, 0],
    ];
    const head = [...long(44), [2, 45], [2, 45], [4, 0], [4, 0]];
    const end64 = record("PK\x06\x06", [
        ...head,
        ...long(count),
        ...long(count),
        ...long(size),
        ...long(at),
    ]);
    const locator = record("PK\x06\x07", [[4, 0], ...long(at + size), [4, 1]]);
    return Buffer.concat([end64, locator, end]);
}

/**
 * The bytes of an archive of {name: bytes}; with `level` they are deflated. Options: `zip64`, all numbers of
 * 32 bits stand in records of 64; `descriptor`, sizes follow the data instead of standing before it;
 * `claims`, the size that the archive says its files have.
 */
export function zip(files, level, { zip64 = false, descriptor = false, claims } = {}) {
    const parts = [];
    const entries = [];
    let at = 0;
    for (const [name, bytes] of Object.entries(files)) {
        const packed = level === undefined ? bytes : deflateRawSync(bytes, { level });
        const [method, flags] = [level === undefined ? 0 : 8, descriptor ? 8 : 0];
        const size = claims ?? bytes.length;
        const sizes = (...values) => values.map((value) => [4, value]);
        const common = (numbers) => [
            ...[45, flags, method, 0, 0].map((value) => [2, value]),
            ...sizes(...numbers),
            [2, name.length],
        ];
        const crc = crcOf(bytes);
        const known = zip64 ? [crc, ones, ones] : [crc, packed.length, size];
        // NumPy leaves room for sizes of 64 bits in the local header.
        const extra = zip64 && !descriptor ? wide(size, packed.length) : wide(0, 0);
        const text = Buffer.from(name, "latin1");
        const local = [...common(descriptor ? [0, 0, 0] : known), [2, extra.length]];
        const behind = descriptor
            ? record("PK\x07\x08", [
                  ...sizes(crc, packed.length),
                  ...(zip64 ? sizes(0, size, 0) : sizes(size)),
              ])
            : Buffer.alloc(0);
        const part = record("PK\x03\x04", local, text, extra, packed, behind);
        const own = zip64 ? wide(size, packed.length, at) : Buffer.alloc(0);
        const rest = [
            ...[own.length, 0, 0, 0].map((value) => [2, value]),
            ...sizes(0, zip64 ? ones : at),
        ];
        entries.push(record("PK\x01\x02", [[2, 45], ...common(known), ...rest], text, own));
        parts.push(part);
        at += part.length;
    }
    const directory = Buffer.concat(entries);
    return Buffer.concat([
        ...parts,
        directory,
        ending(entries.length, directory.length, at, zip64),
    ]);
}
