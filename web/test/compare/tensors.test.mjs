/** What the page reads of files of arrays: zip archives of 64 bits, element types, thirds, and what is wrong with others. */

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { deflateRawSync, crc32 as nodeCrc32 } from "node:zlib";
import { readNpy } from "libattn/data";
import { rolldown } from "rolldown";
import { npyOf as npyFile } from "../support/npy.mjs";

const folder = mkdtempSync(join(tmpdir(), "libattn-"));
after(() => rmSync(folder, { recursive: true }));

async function compiled(source) {
    const input = fileURLToPath(new URL(`../../src/${source}.ts`, import.meta.url));
    const file = join(folder, `${source.replaceAll("/", "-")}.mjs`);
    await (await rolldown({ input, platform: "browser" })).write({ file, format: "es" });
    return import(pathToFileURL(file).href);
}
const { listTensors, npyOf } = await compiled("source/tensors");
const { crc32 } = await compiled("source/checksums");
const { isPacked, thirdOf } = await compiled("source/split");
const { ofRefusal } = await compiled("words/de/refusals");

/** It is refused so, and the German page has its own words for it. */
function refuses(read, message) {
    assert.throws(read, (error) => {
        assert.match(error.message, message);
        const german = ofRefusal(error.message);
        assert.doesNotMatch(german, /\b(is|are|has|it|its|the|and|of|not|cannot)\b/, error.message);
        return true;
    });
}

const floats = (...numbers) => Buffer.from(Float32Array.from(numbers).buffer);
const numbers = [1, -2, 0.5, 4, 5.25, -6];
const array = npyFile("<f4", [2, 3], floats(...numbers));

test("checksums are those of zip", () => {
    if (nodeCrc32) assert.equal(crc32(array), nodeCrc32(array));
    assert.equal(crc32(Buffer.from("123456789")), 0xcbf43926);
});

const u16 = (number) => Buffer.from(Uint16Array.of(number).buffer);
const u32 = (number) => Buffer.from(Uint32Array.of(number).buffer);
const u64 = (number) => Buffer.from(BigUint64Array.of(BigInt(number)).buffer);
const extra64 = (...values) => Buffer.concat([u16(1), u16(8 * values.length), ...values.map(u64)]);

/**
 * An archive as many programs write them: sizes of 64 bits before the files (`local64`, as numpy.savez does), in the
 * directory (`central64`) and at the end (`end64`), sizes behind the files (`descriptor`), packed or not.
 */
function zip(files, { local64, central64, end64, descriptor, packed, before = 0, method } = {}) {
    const parts = [Buffer.alloc(before, 7)];
    const directory = [];
    let place = 0;
    for (const [name, data] of files) {
        const body = packed ? deflateRawSync(data) : data;
        const [sum, flags] = [crc32(data), descriptor ? 8 : 0];
        const how = method ?? (packed ? 8 : 0);
        const start = [u16(45), u16(flags), u16(how), u32(0)];
        const long = local64
            ? extra64(descriptor ? 0 : data.length, descriptor ? 0 : body.length)
            : Buffer.alloc(0);
        const sizes = local64
            ? [u32(0xffffffff), u32(0xffffffff)]
            : descriptor
              ? [u32(0), u32(0)]
              : [u32(body.length), u32(data.length)];
        const local = [
            u32(0x04034b50),
            ...start,
            u32(descriptor ? 0 : sum),
            ...sizes,
            u16(name.length),
            u16(long.length),
            Buffer.from(name),
            long,
            body,
        ];
        if (descriptor) {
            const wide = local64 ? u64 : u32;
            local.push(u32(0x08074b50), u32(sum), wide(body.length), wide(data.length));
        }
        const more = central64 ? extra64(data.length, body.length, place) : Buffer.alloc(0);
        const central = central64
            ? [u32(0xffffffff), u32(0xffffffff)]
            : [u32(body.length), u32(data.length)];
        directory.push(
            u32(0x02014b50),
            u16(45),
            ...start,
            u32(sum),
            ...central,
            u16(name.length),
            u16(more.length),
            u16(0),
            u16(0),
            u16(0),
            u32(0),
            central64 ? u32(0xffffffff) : u32(place),
            Buffer.from(name),
            more,
        );
        const whole = Buffer.concat(local);
        parts.push(whole);
        place += whole.length;
    }
    const list = Buffer.concat(directory);
    const count = files.length;
    const end = end64
        ? [
              ...[
                  u32(0x06064b50),
                  u64(44),
                  u16(45),
                  u16(45),
                  u32(0),
                  u32(0),
                  u64(count),
                  u64(count),
              ],
              ...[u64(list.length), u64(place)],
              ...[u32(0x07064b50), u32(0), u64(place + list.length), u32(1)],
              ...[
                  u32(0x06054b50),
                  u16(0),
                  u16(0),
                  u16(0xffff),
                  u16(0xffff),
                  u32(0xffffffff),
                  u32(0xffffffff),
                  u16(0),
              ],
          ]
        : [
              u32(0x06054b50),
              u16(0),
              u16(0),
              u16(count),
              u16(count),
              u32(list.length),
              u32(place),
              u16(0),
          ];
    return Buffer.concat([...parts, list, ...end]);
}

const FILES = [
    ["q.npy", array],
    ["k.npy", npyFile("<f4", [1, 1], floats(9))],
    ["readme.txt", Buffer.from("no array")],
];
const read = async (file, bytes, name) => [...(await readNpy(npyOf(file, bytes, name))).data];

describe("zip archives", () => {
    const flags = ["local64", "central64", "end64", "descriptor", "packed"];
    for (let bits = 0; bits < 2 ** flags.length; bits++) {
        const options = Object.fromEntries(
            flags.map((flag, i) => [flag, Boolean(bits & (1 << i))]),
        );
        test(`with ${flags.filter((flag) => options[flag]).join(", ") || "nothing more"}`, async () => {
            for (const before of [0, 100]) {
                const bytes = zip(FILES, { ...options, before });
                const listed = listTensors("x.npz", bytes).map(({ tensor }) => tensor);
                assert.deepEqual(listed, ["q", "k"]);
                assert.deepEqual(await read("x.npz", bytes, "q"), numbers);
                assert.deepEqual(await read("x.npz", bytes, "k"), [9]);
            }
        });
    }

    const commented = (bytes, comment) => {
        const head = Buffer.from(bytes);
        head.writeUInt16LE(comment.length, head.length - 2);
        return Buffer.concat([head, Buffer.from(comment, "latin1")]);
    };
    const noise = Buffer.alloc(70000, 7); // more than a comment may have
    for (const options of [{}, { central64: true, end64: true }]) {
        const one = zip(FILES, options);
        for (const [what, bytes] of Object.entries({
            "between other bytes": Buffer.concat([noise, one, noise]),
            "behind another archive": Buffer.concat([zip([["q.npy", FILES[1][1]]]), one]),
            "with an end in its comment": commented(one, `PK\x05\x06${"\0".repeat(18)}more`),
        }))
            test(`read as the command line does: ${what}, ${JSON.stringify(options)}`, async () => {
                assert.deepEqual(await read("x.npz", bytes, "q"), numbers);
            });
    }
    test("read by what they are, whatever their names", async () => {
        assert.deepEqual(await read("x.npy", zip(FILES), "q"), numbers);
        assert.deepEqual(await read("x.safetensors", array, null), numbers);
        assert.deepEqual(await read("x.npz", array, null), numbers);
    });

    const whole = zip(FILES, { packed: true });
    const damaged = Buffer.from(zip(FILES));
    damaged[damaged.indexOf("NUMPY") + 120] ^= 1;
    const huge = Buffer.from(whole);
    huge.writeUInt32LE(2 ** 27, huge.indexOf("PK\x01\x02") + 24);
    const spilt = Buffer.from(zip(FILES));
    spilt.writeUInt16LE(9, spilt.lastIndexOf("PK\x01\x02") + 32); // of a comment
    const wrong = {
        "an entry that is longer than its directory": [
            spilt,
            /its directory has 2 of the 3 files that it should have/,
        ],
        "cut off at its end": [whole.subarray(0, -30), /x\.npz: it is cut off: the end/],
        "no archive": [Buffer.from("no archive"), /x\.npz: it is no zip archive/],
        "a flipped bit": [damaged, /x\.npz: it is damaged: q\.npy is not what its checksum/],
        "two of a name": [zip([FILES[0], FILES[0]]), /x\.npz: it has two files named q\.npy/],
        "another method": [
            zip(FILES, { method: 12 }),
            /q\.npy is packed by method 12; stored and defl/,
        ],
        "a size that deflate cannot give": [
            huge,
            /q\.npy cannot be 134217728 bytes: only \d+ are there/,
        ],
        "no array": [zip([FILES[2]]), /x\.npz: it has no array in it/],
    };
    for (const [what, [bytes, message]] of Object.entries(wrong))
        test(`refused: ${what}`, () => refuses(() => listTensors("x.npz", bytes), message));
});

describe("element types", () => {
    const big = floats(...numbers).swap32();
    const bits = (values) =>
        Buffer.from(Uint16Array.from(values, (x) => floats(x).readUInt16LE(2)).buffer);
    const types = {
        ...Object.fromEntries(
            ["=f4", "f4", "float32", "single", "f", "|f4", "<f4"].map((name) => [
                name,
                floats(...numbers),
            ]),
        ),
        ...{
            ">f4": big,
            "|V2": bits(numbers),
            "<V2": bits(numbers),
            V2: bits(numbers),
            bfloat16: bits(numbers),
        },
        ">V2": bits(numbers).swap16(),
        ...{
            float64: Buffer.from(Float64Array.from(numbers).buffer),
            ">f8": Buffer.from(Float64Array.from(numbers).buffer).swap64(),
        },
    };
    for (const [descr, data] of Object.entries(types)) {
        test(descr, async () => {
            assert.deepEqual(await read("x.npy", npyFile(descr, [2, 3], data), null), numbers);
        });
    }
    test("whole numbers in the other order", async () => {
        const data = Buffer.from(Int16Array.of(1, -2, 300, 4).buffer).swap16();
        assert.deepEqual(await read("x.npy", npyFile(">i2", [2, 2], data), null), [1, -2, 300, 4]);
    });
    for (const [names, array] of [
        [["h", "short", "int16", "<i2"], Int16Array],
        [["i", "=i", "intc", "int32"], Int32Array],
        [["q", "longlong", "int64"], BigInt64Array],
        [["b", "byte", "int8", "|i1"], Int8Array],
        [["H", "ushort", "uint16"], Uint16Array],
        [["I", "uintc", "uint32"], Uint32Array],
        [["Q", "ulonglong", "uint64"], BigUint64Array],
        [["B", "ubyte", "uint8"], Uint8Array],
        [["?", "bool_", "bool"], Uint8Array],
    ])
        test(`whole numbers: ${names}`, async () => {
            const wanted = [1, 0, 1, 1];
            const whole = wanted.map((x) => (array.name.startsWith("Big") ? BigInt(x) : x));
            const data = Buffer.from(array.from(whole).buffer);
            for (const name of names)
                assert.deepEqual(await read("x.npy", npyFile(name, [2, 2], data), null), wanted);
        });
    /** Headers that libattn/data refuses of floats are refused of all. */
    const header = (text, data = Buffer.alloc(12)) => {
        const head = Buffer.from(npyFile("<i2", [2, 3], data));
        head.fill(0x20, 10, 127).write(text, 10, "latin1");
        return head;
    };
    const entries = "'descr': '<i2', 'fortran_order': False, 'shape': (2, 3)";
    test("whole numbers with any order of entries and quotes", async () => {
        for (const text of [
            `{${entries}}`,
            `{${entries}, }`,
            `{"shape":(2,3,),"descr":"<i2","fortran_order":False}`,
            "{'fortran_order': True, 'shape': (2L, 3L), 'descr': 'int16', }",
        ])
            assert.deepEqual(await read("x.npy", header(text), null), Array(6).fill(0), text);
    });
    for (const text of [
        `{${entries}, 'x': 1}`,
        `{${entries}, 'descr': '<i2'}`,
        `{${entries}} 1`,
        `{${entries.replace("2, 3", "2.0, 3")}}`,
        `{${entries.replace("2, 3", "2 3")}}`,
        `{${entries.replace("'fortran_order': False, ", "")}}`,
        `${entries}}`,
        `{${entries}}\f`,
        `{${entries}`,
    ])
        test(`refused, as of floats: ${text}`, async () => {
            await assert.rejects(read("x.npy", header(text), null), /the file is damaged/);
        });
    test("refused, as of floats: other lengths and versions", async () => {
        const data = Buffer.alloc(12);
        const whole = npyFile("<i2", [2, 3], data);
        const long = Buffer.concat([whole, Buffer.alloc(2)]);
        refuses(
            () => npyOf("x.npy", long, null),
            /the file has bytes after its end: 14 bytes of data where its shape needs 12/,
        );
        refuses(
            () => npyOf("x.npy", whole.subarray(0, -1), null),
            /the file is truncated: 11 bytes of data where its shape needs 12/,
        );
        refuses(
            () => npyOf("x.npz", zip([["a.npy", long]]), "a"),
            /the file has bytes after its end: 14 bytes/,
        );
        for (const version of [0, 4])
            await assert.rejects(
                read("x.npy", Buffer.from(whole).fill(version, 6, 7), null),
                /version/,
            );
    });
    test("what is not read is named", () => {
        const complex = npyFile("<c8", [1, 1], Buffer.alloc(8));
        refuses(() => npyOf("x.npy", complex, null), /'<c8' are not read; floats of 16/);
    });
});

describe("safetensors", () => {
    function file(header, data) {
        const text = Buffer.from(typeof header === "string" ? header : JSON.stringify(header));
        return Buffer.concat([u64(text.length), text, data]);
    }
    const entry = (first, last, more) => ({
        dtype: "F32",
        shape: [(last - first) / 4, 1],
        data_offsets: [first, last],
        ...more,
    });
    const data = floats(1, 2, 3, 4);

    test("tensors one after the other", async () => {
        const bytes = file(
            { b: entry(8, 16), a: entry(0, 8), __metadata__: { format: "pt" } },
            data,
        );
        assert.deepEqual(await read("x.safetensors", bytes, "b"), [3, 4]);
    });
    const twice = `{"a": ${JSON.stringify(entry(0, 8))}, "b{": {"a": 1}, "a" : ${JSON.stringify(entry(8, 16))}}`;
    const wrong = {
        "elements cut off": [
            file({ a: entry(0, 8), b: entry(8, 24) }, data),
            /is cut off: b ends at byte 24 .* 16 are there/,
        ],
        "a header cut off": [
            file({ a: entry(0, 16) }, data).subarray(0, 20),
            /^x\.safetensors is cut off, or no safetensors file: its header has \d+ bytes, and 12 are there$/,
        ],
        "8 bytes cut off": [
            Buffer.from("01234"),
            /^x\.safetensors is cut off: it has 5 bytes, and the length of its header takes 8$/,
        ],
        ...Object.fromEntries(
            [
                ["dtype", undefined],
                ["dtype", 7],
                ["shape", "4"],
                ["data_offsets", undefined],
                ["data_offsets", [16, 0]],
                ["data_offsets", [0]],
                ["data_offsets", ["0", "16"]],
            ].map(([field, value]) => [
                `${field} of ${JSON.stringify(value)}`,
                [
                    file({ a: entry(0, 16, { [field]: value }) }, data),
                    new RegExp(
                        `^x\\.safetensors is damaged: its header has no valid ${field} for a$`,
                    ),
                ],
            ]),
        ),
        "an entry that is no object": [
            file({ a: null }, data),
            /^x\.safetensors is damaged: its header has no valid dtype for a$/,
        ],
        overlap: [file({ a: entry(0, 12), b: entry(8, 16) }, data), /is damaged: a and b overlap/],
        "no tensors": [file("{}", Buffer.alloc(0)), /has no tensors in it$/],
        "metadata alone": [file('{"__metadata__":{}}', Buffer.alloc(0)), /has no tensors in it$/],
        "a name twice": [file(twice, data), /has two tensors named a$/],
        "bytes in between": [
            file({ a: entry(0, 4), b: entry(8, 16) }, data),
            /bytes 4 to 8 .* are no tensor's/,
        ],
        "bytes behind": [file({ a: entry(0, 8) }, data), /bytes 8 to 16 .* are no tensor's/],
        "a field twice": [
            file('{"a":{"dtype":"F32","shape":[6],"shape":[4,1],"data_offsets":[0,16]}}', data),
            /header of x\.safetensors has 'shape' of a tensor twice$/,
        ],
        "a size with a point": [
            file('{"a":{"dtype":"F32","shape":[4.0,1],"data_offsets":[0,16]}}', data),
            /sizes that are no whole numbers$/,
        ],
        "floats of 8 bits of another size": [
            file({ a: entry(0, 16, { dtype: "F8_E4M3", shape: [15] }) }, data),
            /a, F8_E4M3 \(15\) is 15 bytes, and has 16/,
        ],
        "a shape of another size": [
            file({ a: entry(0, 16, { shape: [3, 1] }) }, data),
            /a, F32 \(3, 1\) is 12 bytes, and has 16/,
        ],
    };
    for (const [what, [bytes, message]] of Object.entries(wrong)) {
        test(`refused: ${what}`, () => {
            refuses(() => listTensors("x.safetensors", bytes), message);
        });
    }
    test("floats of 8 bits are said to need their scales", () => {
        for (const dtype of ["F8_E4M3", "F8_E5M2"]) {
            const bytes = file({ a: { dtype, shape: [4, 4], data_offsets: [0, 16] } }, data);
            const message = new RegExp(
                `'${dtype}' are floats of 8 bits, .* scales: save them as F16`,
            );
            refuses(() => npyOf("x.safetensors", bytes, "a"), message);
        }
    });
});

describe("Q, K and V in one", () => {
    const counted = (count) => floats(...Array(count).keys());
    const thirdsIn = async (shape, fortran) => {
        const bytes = npyFile("<f4", shape, counted(shape.reduce((a, b) => a * b)), fortran);
        const [whole, ...thirds] = listTensors("my_qkv.npy", bytes);
        assert.deepEqual(whole.shape, shape);
        return Promise.all(
            thirds.map(async ({ tensor, shape: own }) => {
                const got = await readNpy(npyOf("my_qkv.npy", bytes, tensor));
                assert.deepEqual(got.shape, own);
                return [...got.data];
            }),
        );
    };
    test("by columns", async () => {
        assert.deepEqual(await thirdsIn([2, 6]), [
            [0, 1, 6, 7],
            [2, 3, 8, 9],
            [4, 5, 10, 11],
        ]);
    });
    test("by an axis of three", async () => {
        assert.deepEqual(await thirdsIn([2, 3, 2]), [
            [0, 1, 6, 7],
            [2, 3, 8, 9],
            [4, 5, 10, 11],
        ]);
        assert.deepEqual(await thirdsIn([3, 1, 2]), [
            [0, 1],
            [2, 3],
            [4, 5],
        ]);
    });
    test("of another type, in an archive", async () => {
        const bytes = zip([["block.qkv.npy", npyFile(">f4", [1, 3], floats(1, 2, 3).swap32())]]);
        const names = listTensors("x.npz", bytes).map(({ tensor }) => tensor);
        assert.deepEqual(names, ["block.qkv", "block.qkv → q", "block.qkv → k", "block.qkv → v"]);
        assert.deepEqual(await read("x.npz", bytes, "block.qkv → k"), [2]);
    });
    test("what cannot be split is not", () => {
        const bytes = npyFile("<f4", [2, 4], counted(8));
        assert.deepEqual(listTensors("qkv.npy", bytes).length, 1);
        assert.ok(isPacked("qkv.npy") && isPacked("h.0.attn.c_attn") && !isPacked("q_proj"));
        assert.deepEqual(thirdOf("→ v"), { tensor: null, index: 2 });
        assert.equal(thirdOf("q"), null);
    });
});
