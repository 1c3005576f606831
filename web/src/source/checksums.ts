/** What a zip archive says of its files, which fflate unpacks but does not check: PKWARE's APPNOTE.TXT, 4.3. */

const end = 0x06054b50; // of the directory, in 22 bytes and a comment
const end64 = 0x06064b50;
const entry = 0x02014b50;

/** Of each file, in the directory's order. An archive without a directory has none. */
export function* checksums(bytes: Uint8Array): Generator<number, undefined> {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const at = (place: number) =>
        place >= 0 && place + 4 <= bytes.length ? view.getUint32(place, true) : 0;
    let last = bytes.length - 22;
    while (last >= 0 && at(last) !== end) last--;
    let place = at(last + 16);
    const long = at(last - 12); // a record's place, where there is one
    if (place === 0xffffffff && at(long) === end64) place = at(long + 48);
    while (at(place) === entry) {
        yield at(place + 16);
        const [name, extra] = [at(place + 28) & 0xffff, at(place + 28) >>> 16];
        place += 46 + name + extra + (at(place + 32) & 0xffff);
    }
}

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
