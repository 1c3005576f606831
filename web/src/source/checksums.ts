/** Checksums of a zip archive's files: PKWARE's APPNOTE.TXT, 4.4.7. */

const table = Int32Array.from({ length: 256 }, (_, byte) => {
    let sum = byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
    return sum;
});

/** ISO 3309's. */
export function crc32(bytes: Uint8Array): number {
    let sum = -1;
    for (const byte of bytes) sum = (sum >>> 8) ^ (table[(sum ^ byte) & 255] ?? 0);
    return ~sum >>> 0;
}
