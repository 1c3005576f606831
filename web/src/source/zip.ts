/**
 * The files in a zip archive, with the sizes of 64 bits that NumPy writes where it is told to: PKWARE's APPNOTE.TXT,
 * 4.3 and 4.5.3. Sizes and places are those of the directory, which stands at the end, so that it is all the same
 * whether sizes stand before the files or behind them (data descriptors).
 */

import { inflateSync } from "fflate";
import { crc32 } from "./checksums";

const signatures = { end: 0x06054b50, end64: 0x06064b50, locator: 0x07064b50 };
const inDirectory = 0x02014b50;
const beforeFile = 0x04034b50;
const unknown32 = 0xffffffff; // the number is in 64 bits elsewhere
const steepest = 1032; // bytes that one byte of deflate can give

export interface ZipFile {
    name: string;
    size: number;
    /** Unpacks it. Throws where it is damaged, or packed in a way that is not read. */
    read(): Uint8Array;
}

export function listZip(bytes: Uint8Array): ZipFile[] {
    const zip = new Zip(bytes);
    const names = new Set<string>();
    return zip.list().map((entry) => {
        if (names.has(entry.name)) throw new Error(`it has two files named ${entry.name}`);
        names.add(entry.name);
        return { name: entry.name, size: entry.size, read: () => zip.read(entry) };
    });
}

interface Entry {
    name: string;
    flags: number;
    method: number;
    sum: number;
    packed: number;
    size: number;
    place: number;
}

class Zip {
    #bytes: Uint8Array;
    #view: DataView;
    /** Bytes before the archive: a program that unpacks itself has some. */
    #before = 0;

    constructor(bytes: Uint8Array) {
        this.#bytes = bytes;
        this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }

    list(): Entry[] {
        const { count, place, size } = this.#directory();
        const entries: Entry[] = [];
        let at = this.#before + place;
        const last = at + size;
        for (let i = 0; i < count; i++) {
            const [name, extra, comment] = [28, 30, 32].map((offset) => this.#u16(at + offset));
            const next = at + 46 + (name ?? 0) + (extra ?? 0) + (comment ?? 0);
            if (next > last || this.#u32(at) !== inDirectory)
                throw new Error(`its directory has ${i} of the ${count} files that it should have`);
            entries.push(this.#entry(at, name ?? 0, extra ?? 0));
            at = next;
        }
        return entries;
    }

    read({ name, flags, method, sum, packed, size, place }: Entry): Uint8Array {
        const at = this.#before + place;
        if (this.#u32(at) !== beforeFile)
            throw new Error(`${name} is not where its directory says`);
        if (flags & 1) throw new Error(`${name} is encrypted`);
        const first = at + 30 + this.#u16(at + 26) + this.#u16(at + 28);
        const data = this.#bytes.subarray(first, first + packed);
        if (data.length < packed) throw cutOff();
        const unpacked = unpack(name, method, data, size);
        if (unpacked.length !== size)
            throw new Error(`${name} has ${unpacked.length} bytes, and its directory says ${size}`);
        if (crc32(unpacked) !== sum)
            throw new Error(`it is damaged: ${name} is not what its checksum (CRC) says`);
        return unpacked;
    }

    /** Where the directory is, and how many files there are. */
    #directory() {
        const end = this.#end();
        const short = {
            count: this.#u16(end + 10),
            size: this.#u32(end + 12),
            place: this.#u32(end + 16),
        };
        const isLong = end >= 20 && this.#u32(end - 20) === signatures.locator;
        const found = isLong ? this.#directory64(end - 20) : { ...short, end };
        if (!isLong && short.place === unknown32)
            throw new Error("it has no end of directory in 64 bits, which it says to have");
        this.#before = found.end - found.size - found.place;
        if (this.#before < 0) throw cutOff();
        return found;
    }

    #directory64(locator: number) {
        // A program may stand before the archive, and then the place is too near.
        const said = this.#u64(locator + 8);
        const end = [said, locator - 56].find((at) => this.#u32(at) === signatures.end64);
        if (end === undefined) throw cutOff();
        return {
            count: this.#u64(end + 32),
            size: this.#u64(end + 40),
            place: this.#u64(end + 48),
            end,
        };
    }

    /** The record at the end, with its comment; only where there is none, one that other bytes follow. */
    #end(): number {
        const found = [0, Infinity].map((most) => this.#endBefore(most)).find((at) => at >= 0);
        if (found !== undefined) return found;
        throw this.#u32(0) === beforeFile ? cutOff() : new Error("it is no zip archive");
    }

    /** The last record of an end with at most so many bytes behind it and its comment; -1 for none. */
    #endBefore(most: number): number {
        for (let at = this.#bytes.length - 22; at >= 0; at--) {
            if (this.#u32(at) !== signatures.end) continue;
            const behind = this.#bytes.length - (at + 22 + this.#u16(at + 20));
            if (behind >= 0 && behind <= most) return at;
        }
        return -1;
    }

    #entry(at: number, nameLength: number, extraLength: number): Entry {
        const from = at + 46;
        const name = new TextDecoder().decode(this.#bytes.subarray(from, from + nameLength));
        const entry = {
            name,
            flags: this.#u16(at + 8),
            method: this.#u16(at + 10),
            sum: this.#u32(at + 16),
            packed: this.#u32(at + 20),
            size: this.#u32(at + 24),
            place: this.#u32(at + 42),
        };
        let long = this.#long(from + nameLength, extraLength);
        for (const field of ["size", "packed", "place"] as const) {
            if (entry[field] !== unknown32) continue;
            const [number, ...rest] = long;
            if (number === undefined)
                throw new Error(`the ${field} of ${name} is not said in 64 bits`);
            [entry[field], long] = [number, rest];
        }
        return entry;
    }

    /** The numbers of an entry that are in 64 bits, in their order. */
    #long(first: number, length: number): number[] {
        for (let at = first; at + 4 <= first + length; at += 4 + this.#u16(at + 2)) {
            if (this.#u16(at) !== 1) continue;
            const size = this.#u16(at + 2);
            const count = at + 4 + size > first + length ? 0 : Math.floor(size / 8);
            return Array.from({ length: count }, (_, i) => this.#u64(at + 4 + 8 * i));
        }
        return [];
    }

    #u16(at: number): number {
        return this.#inside(at, 2) ? this.#view.getUint16(at, true) : 0;
    }

    #u32(at: number): number {
        return this.#inside(at, 4) ? this.#view.getUint32(at, true) : 0;
    }

    #u64(at: number): number {
        return this.#inside(at, 8) ? Number(this.#view.getBigUint64(at, true)) : 0;
    }

    #inside(at: number, length: number): boolean {
        return at >= 0 && at + length <= this.#bytes.length;
    }
}

function unpack(name: string, method: number, data: Uint8Array, size: number): Uint8Array {
    if (method === 0) return data;
    if (method !== 8)
        throw new Error(`${name} is packed by method ${method}; stored and deflate are read`);
    if (size > steepest * data.length + steepest)
        throw new Error(`${name} cannot be ${size} bytes: only ${data.length} are there, packed`);
    try {
        return inflateSync(data, { out: new Uint8Array(size + 1) });
    } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`${name} cannot be unpacked: ${reason}`, { cause: error });
    }
}

function cutOff(): Error {
    return new Error("it is cut off: the end of the archive is not there");
}
