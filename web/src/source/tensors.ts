/**
 * The tensors in a file: a .npy file is one, .npz and .safetensors have names for theirs. Each is given as a
 * .npy file that libattn/data reads, which knows orders of axes and says what is wrong.
 */

import { unzipSync, type UnzipFileFilter } from "fflate";
import { checksums, crc32 } from "./checksums";
import { npyMagic, writeNpy } from "./npy";
import type { TensorInfo } from "../types";

/** A tensor's elements as they lie in the file, which is kept alive by them. */
interface Tensor {
    info: TensorInfo;
    /** NumPy's name of the element type. */
    descr: string;
    isFortran: boolean;
    data: Uint8Array;
    /** The .npy file that it is. */
    npy: Uint8Array | null;
}

const largest = 256 * 2 ** 20; // bytes of the unpacked arrays of a file
const longest = 10_000; // bytes of a header of .npy: NumPy reads no longer ones

/** Of safetensors' types; bfloat16, which NumPy has no name for, as ml_dtypes writes it. */
const descrs = new Map([
    ...Object.entries({ F64: "<f8", F32: "<f4", F16: "<f2", BF16: "<V2", BOOL: "|b1" }),
    ...Object.entries({ I64: "<i8", I32: "<i4", I16: "<i2", I8: "|i1" }),
    ...Object.entries({ U64: "<u8", U32: "<u4", U16: "<u2", U8: "|u1" }),
]);

/** Types that libattn/data reads, those of floats. */
const floats = ["<f8", "<f4", "<f2"];

/** Types that libattn/data does not read, as numbers. */
const numbers = new Map<string, (buffer: ArrayBuffer) => ArrayLike<number | bigint>>([
    ["<V2", (buffer) => Float32Array.from(new Uint16Array(buffer), upperHalf)],
    ["|b1", (buffer) => new Uint8Array(buffer)],
    ["|i1", (buffer) => new Int8Array(buffer)],
    ["|u1", (buffer) => new Uint8Array(buffer)],
    ["<i2", (buffer) => new Int16Array(buffer)],
    ["<u2", (buffer) => new Uint16Array(buffer)],
    ["<i4", (buffer) => new Int32Array(buffer)],
    ["<u4", (buffer) => new Uint32Array(buffer)],
    ["<i8", (buffer) => new BigInt64Array(buffer)],
    ["<u8", (buffer) => new BigUint64Array(buffer)],
]);

export function listTensors(file: string, bytes: Uint8Array): TensorInfo[] {
    return tensorsOf(file, bytes).map(({ info }) => info);
}

/** The tensor of this name as a .npy file; of a .npy file the one that it is. */
export function npyOf(file: string, bytes: Uint8Array, name: string | null): Uint8Array {
    const tensor = tensorsOf(file, bytes).find(({ info }) => info.tensor === name);
    if (!tensor) throw new Error(`there is no tensor ${name}`);
    const { descr, data, isFortran, info } = tensor;
    const convert = numbers.get(descr);
    if (tensor.npy && (!descr || floats.includes(descr))) return tensor.npy;
    if (!convert && !floats.includes(descr)) throw new Error(notRead(info.dtype));
    const size = info.shape.reduce((product, count) => product * count, Number(descr.slice(2)));
    if (data.length < size || (!tensor.npy && data.length > size)) {
        throw new Error(
            `${info.dtype} (${info.shape.join(", ")}) is ${size} bytes, and ${data.length} are there`,
        );
    }
    if (!convert) return writeNpy(descr, isFortran, info.shape, data);
    const elements = Float32Array.from(convert(data.slice(0, size).buffer), Number);
    return writeNpy("<f4", isFortran, info.shape, new Uint8Array(elements.buffer));
}

function notRead(dtype: string): string {
    const order = dtype.startsWith(">") ? ", which is big-endian," : "";
    return `elements of type '${dtype}'${order} are not read; floats, whole numbers and booleans are`;
}

/** The elements of a .npy file of booleans. */
export function readBooleans(
    file: string,
    bytes: Uint8Array,
): { shape: number[]; seen: Uint8Array } {
    const { descr, isFortran, data, info } = readNpyHeader(file, null, bytes);
    const { shape } = info;
    if (descr !== "|b1") throw new Error(`a mask is of booleans, not ${descr || "no array"}`);
    if (isFortran && shape.length > 1) throw new Error("a mask is in C order");
    const size = shape.reduce((product, count) => product * count, 1);
    if (!(data.length >= size))
        throw new Error(`${size} elements are said, ${data.length} are there`);
    return { shape, seen: data.slice(0, size) };
}

function tensorsOf(file: string, bytes: Uint8Array): Tensor[] {
    if (/\.npz$/i.test(file)) return readNpz(file, bytes);
    if (/\.safetensors$/i.test(file)) return readSafetensors(file, bytes);
    return [readNpyHeader(file, null, bytes)];
}

function readNpz(file: string, bytes: Uint8Array): Tensor[] {
    let unpacked = 0;
    const sums = new Map<string, number>();
    const directory = checksums(bytes);
    const filter: UnzipFileFilter = ({ name, originalSize }) => {
        const { value: sum } = directory.next(); // of each file, in their order
        if (!name.endsWith(".npy")) return false;
        if (sum !== undefined) sums.set(name, sum);
        unpacked += originalSize;
        return unpacked <= largest;
    };
    const arrays = Object.entries(unzip(file, bytes, filter));
    if (unpacked > largest) throw new Error(`${file} has over ${largest} bytes unpacked`);
    if (arrays.length === 0) throw new Error(`${file} has no array in it, no file .npy`);
    return arrays.map(([name, npy]) => {
        if (crc32(npy) !== sums.get(name)) {
            throw new Error(`${file} is damaged: ${name} is not what its checksum (CRC) says`);
        }
        return readNpyHeader(file, name.replace(/\.npy$/, ""), npy);
    });
}

function unzip(file: string, bytes: Uint8Array, filter: UnzipFileFilter) {
    try {
        return unzipSync(bytes, { filter });
    } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`${file}: ${reason}`, { cause: error });
    }
}

/** What the header says; where it is none, libattn/data says so. */
function readNpyHeader(file: string, tensor: string | null, npy: Uint8Array): Tensor {
    const view = new DataView(npy.buffer, npy.byteOffset, npy.byteLength);
    const isLong = npy.length > 12 && npy[6] !== 1; // version 2 and 3
    const start = isLong ? 12 : 10;
    const isNpy = npy.length > start && latin1(npy.subarray(0, 6)) === npyMagic;
    const length = !isNpy ? 0 : isLong ? view.getUint32(8, true) : view.getUint16(8, true);
    const header = latin1(npy.subarray(start, start + Math.min(length, longest)));
    const descr = /'descr': *'([^']*)'/.exec(header)?.[1] ?? "";
    const sizes = /'shape': *\(([^)]*)\)/.exec(header)?.[1] ?? "";
    const shape = sizes
        .split(",")
        .filter((size) => size.trim() !== "")
        .map(Number);
    return {
        info: { file, tensor, dtype: descr, shape },
        descr,
        isFortran: /'fortran_order': *True/.test(header),
        data: npy.subarray(start + length),
        npy,
    };
}

/** huggingface.co/docs/safetensors: the header's length in 8 bytes, the header in JSON, and the elements. */
function readSafetensors(file: string, bytes: Uint8Array): Tensor[] {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const length = bytes.length < 8 ? Infinity : Number(view.getBigUint64(0, true));
    if (length > bytes.length - 8) throw new Error(`the header of ${file} is cut off`);
    const text = new TextDecoder().decode(bytes.subarray(8, 8 + length));
    const entries = Object.entries(headerOf(file, text));
    const elements = bytes.subarray(8 + length);
    const tensors = entries.filter(([name]) => name !== "__metadata__");
    return tensors.map(([tensor, entry]) => {
        if (!isEntry(entry, elements.length)) {
            throw new Error(`the header of ${file} does not say where ${tensor} is`);
        }
        const { dtype, shape, data_offsets: offsets } = entry;
        const info = { file, tensor, dtype, shape };
        const data = elements.subarray(...offsets);
        return { info, descr: descrs.get(dtype) ?? dtype, isFortran: false, data, npy: null };
    });
}

function headerOf(file: string, text: string): Record<string, Entry | null> {
    try {
        const header: unknown = JSON.parse(text);
        if (typeof header === "object" && header !== null)
            return header as ReturnType<typeof headerOf>;
    } catch {
        // It is said below.
    }
    throw new Error(`the header of ${file} is no object of JSON`);
}

/** Whether it is one, of elements that are there. */
function isEntry(entry: Entry | null, bytes: number): entry is Entry {
    const { dtype, shape, data_offsets: offsets } = entry ?? {};
    if (typeof dtype !== "string" || !Array.isArray(shape) || !Array.isArray(offsets)) return false;
    const [first, last] = offsets;
    return (
        [...shape, ...offsets].every((size) => Number.isSafeInteger(size) && size >= 0) &&
        offsets.length === 2 &&
        first <= last &&
        last <= bytes
    );
}

interface Entry {
    dtype: string;
    shape: number[];
    data_offsets: [number, number];
}

/** The number whose upper 16 bits these are. */
function upperHalf(bits: number): number {
    word.setUint32(0, bits << 16);
    return word.getFloat32(0);
}

const word = new DataView(new ArrayBuffer(4));

function latin1(bytes: Uint8Array): string {
    return String.fromCharCode(...bytes);
}
