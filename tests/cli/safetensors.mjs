// Files of named tensors, as Hugging Face's safetensors writes them.

/** The bytes of a file of {name: {dtype, shape, bytes}}. */
export function safetensors(tensors, metadata) {
    let at = 0;
    const header = metadata ? { __metadata__: metadata } : {};
    for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
        header[name] = { dtype, shape, data_offsets: [at, at + bytes.length] };
        at += bytes.length;
    }
    const text = JSON.stringify(header);
    const padded = text.padEnd(Math.ceil(text.length / 8) * 8);
    const length = Buffer.alloc(8);
    length.writeUInt32LE(padded.length);
    const data = Object.values(tensors).map(({ bytes }) => bytes);
    return Buffer.concat([length, Buffer.from(padded, "latin1"), ...data]);
}
