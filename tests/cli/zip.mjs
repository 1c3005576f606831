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

/** The bytes of an archive of {name: bytes}; with `level` they are deflated. */
export function zip(files, level) {
    const parts = [];
    const entries = [];
    let at = 0;
    for (const [name, bytes] of Object.entries(files)) {
        const packed = level === undefined ? bytes : deflateRawSync(bytes, { level });
        const method = level === undefined ? 0 : 8;
        const common = [
            ...[
                [2, 45],
                [2, 0],
                [2, method],
                [2, 0],
                [2, 0],
            ],
            ...[
                [4, crcOf(bytes)],
                [4, packed.length],
                [4, bytes.length],
                [2, name.length],
            ],
        ];
        // NumPy leaves room for sizes of 64 bits in the local header.
        const extra = Buffer.alloc(20);
        extra.writeUInt16LE(1, 0);
        extra.writeUInt16LE(16, 2);
        const text = Buffer.from(name, "latin1");
        const part = record("PK\x03\x04", [...common, [2, 20]], text, extra, packed);
        const rest = [
            [2, 0],
            [2, 0],
            [2, 0],
            [2, 0],
            [4, 0],
            [4, at],
        ];
        entries.push(record("PK\x01\x02", [[2, 45], ...common, ...rest], text));
        parts.push(part);
        at += part.length;
    }
    const directory = Buffer.concat(entries);
    const count = entries.length;
    const end = record("PK\x05\x06", [
        ...[
            [2, 0],
            [2, 0],
            [2, count],
            [2, count],
            [4, directory.length],
            [4, at],
            [2, 0],
        ],
    ]);
    return Buffer.concat([...parts, directory, end]);
}
