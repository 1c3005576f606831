/** .safetensors: the header's length in 8 bytes, the header in JSON, and the elements (huggingface.co/docs/safetensors). */

import type { Tensor } from "./tensors";

/** Of its types; bfloat16, which NumPy has no name for, as ml_dtypes writes it. */
const descrs = new Map([
    ...Object.entries({ F64: "<f8", F32: "<f4", F16: "<f2", BF16: "<V2", BOOL: "|b1" }),
    ...Object.entries({ I64: "<i8", I32: "<i4", I16: "<i2", I8: "|i1" }),
    ...Object.entries({ U64: "<u8", U32: "<u4", U16: "<u2", U8: "|u1" }),
]);

/** Bits of types that are not read. */
const bits: Record<string, number> = {
    ...{ F8_E4M3: 8, F8_E5M2: 8, F8_E8M0: 8, F6_E2M3: 6, F6_E3M2: 6, F4: 4, C64: 64 },
};

const fields = new Set(["dtype", "shape", "data_offsets"]);

interface Entry {
    dtype: string;
    shape: number[];
    data_offsets: [number, number];
}

const longest = 100_000_000; // bytes of a header, by the format

/** Do these bytes begin as such a file does? */
export function isSafetensors(bytes: Uint8Array): boolean {
    if (bytes.length < 9 || bytes[8] !== "{".charCodeAt(0)) return false;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return view.getBigUint64(0, true) <= longest;
}

export function readSafetensors(file: string, bytes: Uint8Array): Tensor[] {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < 8)
        throw new Error(
            `${file} is cut off: it has ${bytes.length} bytes, and the length of its header takes 8`,
        );
    const told = view.getBigUint64(0, true);
    const length = Number(told);
    if (length > bytes.length - 8)
        throw new Error(
            `${file} is cut off, or no safetensors file: its header has ${told} bytes, and ${bytes.length - 8} are there`,
        );
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(
        bytes.subarray(8, 8 + length),
    );
    const elements = bytes.subarray(8 + length);
    const tensors = entriesOf(file, text);
    if (tensors.length === 0) throw new Error(`${file} has no tensors in it`);
    checkPlaces(file, tensors, elements.length);
    return tensors.map(([tensor, { dtype, shape, data_offsets: offsets }]) => ({
        info: { file, tensor, dtype, shape },
        ...{ descr: descrs.get(dtype) ?? dtype, isBigEndian: false, isFortran: false },
        ...{ data: elements.subarray(...offsets), npy: null },
    }));
}

function entriesOf(file: string, text: string): [string, Entry][] {
    const entries = Object.entries(headerOf(file, text));
    const twice = repeated(text);
    const broken = /"(?:shape|data_offsets)"\s*:\s*\[[^\]]*[-.eE]/.test(text); // numbers, and no sizes
    if (broken) throw new Error(`the header of ${file} has sizes that are no whole numbers`);
    if (twice?.depth === 1) throw new Error(`${file} has two tensors named ${twice.name}`);
    if (twice) throw new Error(`the header of ${file} has '${twice.name}' of a tensor twice`);
    return entries
        .filter(([name]) => name !== "__metadata__")
        .map(([name, entry]) => {
            const missing = missingIn((entry ?? {}) as Partial<Entry>);
            if (missing === null) return [name, entry as Entry];
            throw new Error(`${file} is damaged: its header has no valid ${missing} for ${name}`);
        });
}

function headerOf(file: string, text: string): Record<string, unknown> {
    try {
        const header: unknown = JSON.parse(text);
        if (typeof header === "object" && header !== null && !Array.isArray(header))
            return header as Record<string, unknown>;
    } catch {
        // It is said below.
    }
    throw new Error(`the header of ${file} is no object of JSON`);
}

/** A name that a tensor shares with another one, or that one of its fields does; JSON.parse() takes the last. */
function repeated(json: string): { name: string; depth: number } | undefined {
    const names: Set<string>[] = [];
    for (const [token, isName] of json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g)) {
        if (token === "{" || token === "[") names.push(new Set());
        else if (token === "}" || token === "]") names.pop();
        else if (isName) {
            const name = JSON.parse(token.slice(0, -isName.length)) as string;
            if (names.at(-1)?.has(name) && (names.length === 1 || fields.has(name)))
                return { name, depth: names.length };
            names.at(-1)?.add(name);
        }
    }
    return undefined;
}

/** What an entry ought to have, by the format's name; null: it has all. */
function missingIn({ dtype, shape, data_offsets: offsets }: Partial<Entry>): keyof Entry | null {
    if (typeof dtype !== "string") return "dtype";
    if (!areSizes(shape)) return "shape";
    const [from = 0, to = 0] = offsets ?? [];
    const isPlace = areSizes(offsets) && offsets?.length === 2 && from <= to;
    return isPlace ? null : "data_offsets";
}

function areSizes(value: unknown): boolean {
    return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

/** The elements are those of one tensor after the other, and nothing else. */
function checkPlaces(file: string, tensors: readonly [string, Entry][], length: number): void {
    const inOrder = tensors.toSorted(([, a], [, b]) => {
        const [one, other] = [a.data_offsets, b.data_offsets];
        return one[0] - other[0] || one[1] - other[1];
    });
    let [reached, before] = [0, ""];
    for (const [name, entry] of inOrder) {
        const [first, last] = entry.data_offsets;
        if (last > length) {
            throw new Error(
                `${file} is cut off: ${name} ends at byte ${last} of the elements, and ${length} are there`,
            );
        }
        checkSize(file, name, entry);
        if (first < reached) throw new Error(`${file} is damaged: ${before} and ${name} overlap`);
        if (first > reached) throw uncovered(file, reached, first);
        [reached, before] = [last, name];
    }
    if (reached < length) throw uncovered(file, reached, length);
}

function checkSize(
    file: string,
    name: string,
    { dtype, shape, data_offsets: [first, last] }: Entry,
) {
    const width = (bits[dtype] ?? NaN) / 8 || Number(descrs.get(dtype)?.slice(2) ?? NaN);
    const size = shape.reduce((product, count) => product * count, width);
    if (Number.isNaN(size) || size === last - first) return; // of other types it is said that they are not read
    const said = `${dtype} (${shape.join(", ")}) is ${size} bytes`;
    throw new Error(`${file} is damaged: ${name}, ${said}, and has ${last - first}`);
}

function uncovered(file: string, first: number, last: number): Error {
    return new Error(
        `${file} is damaged: bytes ${first} to ${last} of the elements are no tensor's`,
    );
}
