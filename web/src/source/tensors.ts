/**
 * The tensors in a file: a .npy file is one, .npz and .safetensors have names for theirs. Each is given as a
 * .npy file that libattn/data reads, which knows orders of axes and says what is wrong.
 */

import { descrOf } from "./descr";
import { parseHeader } from "./header";
import { npyMagic, writeNpy } from "./npy";
import { isSafetensors, readSafetensors } from "./safetensors";
import { isPacked, packedAxis, thirdData, thirdOf, thirdShape, thirdsOf } from "./split";
import { listZip } from "./zip";
import type { TensorInfo } from "../state/types";

/** A tensor's elements as they lie in the file, which is kept alive by them. */
export interface Tensor {
    info: TensorInfo;
    /** NumPy's name of the element type, in the order of bytes that this machine has; "" for none. */
    descr: string;
    /** Are its bytes in the other order? */
    isBigEndian: boolean;
    isFortran: boolean;
    data: Uint8Array;
    /** The .npy file that it is. */
    npy: Uint8Array | null;
}

const zipMagics = ["PK\x03\x04", "PK\x05\x06"];
const largest = 256 * 2 ** 20; // bytes of the unpacked arrays of a file
const longest = 10_000; // bytes of a header of .npy: NumPy reads no longer ones

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

/** Those that are in the file, and behind them the thirds of arrays that are query, key and value in one. */
export function listTensors(file: string, bytes: Uint8Array): TensorInfo[] {
    const found = tensorsOf(file, bytes).map(({ info }) => info);
    const packed = found.filter(
        ({ tensor, shape }) => isPacked(tensor ?? file) && packedAxis(shape) >= 0,
    );
    const thirds = packed.flatMap((info) => {
        const shape = thirdShape(info.shape);
        return thirdsOf(info.tensor).map((tensor) => ({ ...info, tensor, shape }));
    });
    return [...found, ...thirds];
}

/** The tensor of this name as a .npy file; of a .npy file the one that it is. */
export function npyOf(file: string, bytes: Uint8Array, name: string | null): Uint8Array {
    const tensors = tensorsOf(file, bytes);
    const whole = tensors.find(({ info }) => info.tensor === name);
    if (whole?.npy && (!whole.descr || isPlain(whole))) return whole.npy;
    if (whole) return written(elementsOf(whole));
    const third = thirdOf(name);
    const packed = third && tensors.find(({ info }) => info.tensor === third.tensor);
    if (!packed) throw new Error(`there is no tensor ${name}`);
    const { data, ...rest } = elementsOf(packed);
    const size = Number(rest.descr.slice(2));
    const { shape, isFortran } = rest;
    const own = thirdData(data, shape, { size, isFortran, index: third.index });
    return written({ ...rest, shape: thirdShape(shape), data: own });
}

interface Elements {
    descr: string;
    isFortran: boolean;
    shape: number[];
    data: Uint8Array;
}

const written = ({ descr, isFortran, shape, data }: Elements) =>
    writeNpy(descr, isFortran, shape, data);

/** Does libattn/data read it as it stands in the file? */
function isPlain({ descr, isBigEndian, info }: Tensor): boolean {
    return floats.includes(descr) && !isBigEndian && descr === info.dtype;
}

/** As floats that libattn/data reads. */
function elementsOf({ descr, data, isFortran, isBigEndian, npy, info }: Tensor): Elements {
    const { shape, dtype } = info;
    const convert = numbers.get(descr);
    if (!convert && !floats.includes(descr)) throw new Error(notRead(dtype));
    const width = Number(descr.slice(2));
    const size = shape.reduce((product, count) => product * count, width);
    if (npy) checkSize(data.length, size);
    else if (data.length !== size) {
        throw new Error(
            `${dtype} (${shape.join(", ")}) is ${size} bytes, and ${data.length} are there`,
        );
    }
    const bytes = new Uint8Array(data); // a copy
    if (isBigEndian)
        for (let at = 0; at < size; at += width) bytes.subarray(at, at + width).reverse();
    if (!convert) return { descr, isFortran, shape, data: bytes };
    const elements = Float32Array.from(convert(bytes.buffer), Number);
    return { descr: "<f4", isFortran, shape, data: new Uint8Array(elements.buffer) };
}

/** Of an .npy file, as libattn/data checks those that it reads. */
function checkSize(found: number, needed: number): void {
    if (found === needed) return;
    const what = found < needed ? "is truncated" : "has bytes after its end";
    throw new Error(`the file ${what}: ${found} bytes of data where its shape needs ${needed}`);
}

function notRead(dtype: string): string {
    if (/^F8_|float8/i.test(dtype))
        return `elements of type '${dtype}' are floats of 8 bits, which mean nothing without their scales: save them as F16 or F32`;
    return `elements of type '${dtype}' are not read; floats of 16 to 64 bits, whole numbers and booleans are`;
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
    checkSize(data.length, size);
    return { shape, seen: data.slice() };
}

/** What a file is, its first bytes say; where they do not, its name. */
function tensorsOf(file: string, bytes: Uint8Array): Tensor[] {
    const first = latin1(bytes.subarray(0, npyMagic.length));
    if (first === npyMagic) return [readNpyHeader(file, null, bytes)];
    const isZip = zipMagics.some((magic) => first.startsWith(magic));
    if (isZip || /\.npz$/i.test(file)) return readNpz(file, bytes);
    if (/\.safetensors$/i.test(file) || isSafetensors(bytes)) return readSafetensors(file, bytes);
    return [readNpyHeader(file, null, bytes)];
}

function readNpz(file: string, bytes: Uint8Array): Tensor[] {
    try {
        const arrays = listZip(bytes).filter(({ name }) => name.endsWith(".npy"));
        const unpacked = arrays.reduce((sum, { size }) => sum + size, 0);
        if (unpacked > largest) throw new Error(`it has over ${largest} bytes unpacked`);
        if (arrays.length === 0) throw new Error("it has no array in it, no file .npy");
        return arrays.map((array) =>
            readNpyHeader(file, array.name.replace(/\.npy$/, ""), array.read()),
        );
    } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        throw new Error(`${file}: ${reason}`, { cause: error });
    }
}

/** What the header says; where it is none, libattn/data says so. */
function readNpyHeader(file: string, tensor: string | null, npy: Uint8Array): Tensor {
    const view = new DataView(npy.buffer, npy.byteOffset, npy.byteLength);
    const version = npy[6] ?? 0;
    const start = version === 1 ? 10 : 12;
    const isNpy =
        npy.length > start &&
        latin1(npy.subarray(0, 6)) === npyMagic &&
        [1, 2, 3].includes(version);
    const length = !isNpy ? 0 : version === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
    const end = start + Math.min(length, longest);
    const header = npy.length < end ? null : parseHeader(latin1(npy.subarray(start, end)));
    const { dtype, isFortran, shape } = header ?? { dtype: "", isFortran: false, shape: [] };
    return {
        info: { file, tensor, dtype, shape },
        ...descrOf(dtype),
        isFortran,
        data: npy.subarray(start + length),
        npy,
    };
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
