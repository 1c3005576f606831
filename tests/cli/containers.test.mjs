// Arrays by name in .npz and .safetensors files, in every type that attention takes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { arrays, attention, inputFiles, random } from "./attention.mjs";
import { assertClose, assertRefused, attn, contents, succeed, withFiles } from "./command.mjs";
import { halfBits, npy, read } from "./npy.mjs";
import { safetensors } from "./safetensors.mjs";
import { zip } from "./zip.mjs";

const sizes = { H: 2, n: 3, m: 5, d: 8, dv: 4 };
const [q, k, v] = arrays(sizes);
const shapes = { q: [2, 3, 8], k: [2, 5, 8], v: [2, 5, 4] };
const plain = inputFiles(sizes, 3);
const from = (file) => ["q", "k", "v"].flatMap((name) => [`--${name}`, `${file}:${name}`]);
const RUN = ["run", "softmax", "-o", "o.npy"];

const f32 = (values) => Buffer.from(Float32Array.from(values).buffer);
const words = (values, convert) => Buffer.from(Uint16Array.from(values, convert).buffer);
/** bf16: the upper half of a float32, rounded to nearest even. */
const bf16Bits = (x) => {
    const bits = new Uint32Array(Float32Array.of(x).buffer)[0];
    return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
};
const bf16Value = (bits) => new Float32Array(Uint32Array.of(bits << 16).buffer)[0];

const tensorsOf = (dtype, pack) => ({
    q: { dtype, shape: shapes.q, bytes: pack(q) },
    k: { dtype, shape: shapes.k, bytes: pack(k) },
    v: { dtype, shape: shapes.v, bytes: pack(v) },
});

describe("an array by name", () => {
    const archive = (level) =>
        zip(Object.fromEntries(["q", "k", "v"].map((x) => [`${x}.npy`, plain[`${x}.npy`]])), level);
    for (const [name, bytes] of [
        ["x.npz", archive()],
        ["deflated.npz", archive(9)],
        ["with:colon.npz", archive(1)],
        ["x.safetensors", safetensors(tensorsOf("F32", f32), { format: "pt" })],
        [
            "f64.safetensors",
            safetensors(tensorsOf("F64", (x) => Buffer.from(Float64Array.from(x).buffer))),
        ],
        ["named-otherwise", safetensors(tensorsOf("F32", f32))],
    ])
        test(`of ${name} is what a file of its own is`, () => {
            withFiles({ ...plain, [name]: bytes }, (folder) => {
                succeed([...RUN, "--q", "q.npy", "--k", "k.npy", "--v", "v.npy"], folder);
                const alone = read(folder, "o.npy");
                succeed([...RUN, ...from(name)], folder);
                assert.deepEqual(read(folder, "o.npy"), alone);
            });
        });

    test("may be left out where there is but one", () => {
        const files = {
            ...plain,
            "q.npz": zip({ "arr_0.npy": plain["q.npy"] }),
            "k.safetensors": safetensors({ k: tensorsOf("F32", f32).k }),
        };
        withFiles(files, (folder) => {
            succeed([...RUN, "--q=q.npz", "--k=k.safetensors", "--v=v.npy"], folder);
            assertClose(
                read(folder, "o.npy").data,
                attention(sizes, q, k, v).out,
                attention(sizes, q, k, v).outBound,
                "o",
            );
        });
    });

    test("a file that is called with a colon comes first", () => {
        withFiles({ ...plain, "x.npz:q": plain["q.npy"] }, (folder) =>
            succeed([...RUN, "--q=x.npz:q", "--k=k.npy", "--v=v.npy"], folder),
        );
    });

    test("masks, biases and lists come from there, too", () => {
        const bias = { dtype: "F32", shape: [3, 5], bytes: f32(random(15, 9)) };
        const mask = { dtype: "BOOL", shape: [5], bytes: Buffer.from([1, 1, 0, 1, 1]) };
        const lens = { dtype: "I64", shape: [1], bytes: Buffer.from([4, 0, 0, 0, 0, 0, 0, 0]) };
        const sinks = { dtype: "BF16", shape: [2], bytes: words([1, 2], bf16Bits) };
        const all = { bias, mask, lens, sinks, ...tensorsOf("F32", f32) };
        withFiles({ "x.safetensors": safetensors(all) }, (folder) => {
            const flags = ["bias", "mask", "sinks"].map((x) => `--${x}=x.safetensors:${x}`);
            const args = [...RUN, ...from("x.safetensors"), ...flags];
            const report = succeed([...args, "--input=kv_lengths=x.safetensors:lens"], folder);
            assert.match(report, /bias, mask, kv_lengths, sinks/);
        });
    });

    for (const [what, path, says] of [
        ["that is not there", "x.npz:w", /x\.npz: has no array 'w'; there are q, k, v\n/],
        ["that is missing", "x.npz", /x\.npz: has 3 arrays; name one as x\.npz:NAME, of q, k, v/],
        ["of .safetensors", "x.safetensors:w", /has no array 'w'; there are q, k, v\n/],
        ["that is missing there", "x.safetensors", /has 3 arrays; name one as x\.safetensors:NAME/],
        ["of .npy", "q.npy:q", /q\.npy: is neither \.npz nor \.safetensors, and has no 'q'/],
        ["in no file", "none.npz:q", /none\.npz: cannot be opened/],
        ["in no file at all", "none:q", /none:q: cannot be opened/],
    ])
        test(`${what} is refused`, () => {
            const files = { ...plain, "x.npz": archive() };
            files["x.safetensors"] = safetensors(tensorsOf("F32", f32));
            withFiles(files, (folder) => {
                const before = Object.keys(contents(folder));
                assertRefused(attn([...RUN, "--q", path, "--k=k.npy", "--v=v.npy"], folder), says);
                assert.deepEqual(Object.keys(contents(folder)), before);
            });
        });
});

test("an array that is in an archive twice is refused", () => {
    const twice = zip({ "q.npy": plain["q.npy"], "r.npy": plain["k.npy"] });
    for (let at = twice.indexOf("r.npy"); at >= 0; at = twice.indexOf("r.npy"))
        twice.write("q", at);
    withFiles({ ...plain, "x.npz": twice }, (folder) => {
        const result = attn([...RUN, "--q=x.npz:q", "--k=k.npy", "--v=v.npy"], folder);
        assertRefused(result, /x\.npz: has q\.npy twice/);
    });
});

describe("types that .npy has not", () => {
    test("bf16 is attended in bf16, and written as float32", () => {
        const rounded = [q, k, v].map((x) => x.map((y) => bf16Value(bf16Bits(y))));
        const exact = attention(sizes, ...rounded);
        const pack = (x) => words(x, bf16Bits);
        withFiles({ "x.safetensors": safetensors(tensorsOf("BF16", pack)) }, (folder) => {
            const present = ["--present-k=pk.npy", "--present-v=pv.npy"];
            succeed([...RUN, ...from("x.safetensors"), ...present], folder);
            const out = read(folder, "o.npy");
            const bound = exact.out.map((x, i) => exact.outBound[i] + 2 ** -8 * Math.abs(x));
            assert.deepEqual(out.shape, [2, 3, 4]);
            assertClose(out.data, exact.out, bound, "o");
            assert.ok(
                out.data.every((x) => bf16Value(bf16Bits(x)) === x),
                "is of bf16",
            );
            assert.deepEqual([...read(folder, "pk.npy").data], rounded[1]);
        });
    });

    test("f16", () => {
        const pack = (x) => words(x, halfBits);
        withFiles({ "x.safetensors": safetensors(tensorsOf("F16", pack)) }, (folder) => {
            succeed([...RUN, ...from("x.safetensors")], folder);
            assert.equal(read(folder, "o.npy").descr ?? "<f2", "<f2");
        });
    });

    /** Rows of int8 with a scale each, and what they stand for. */
    const quantise = (values, columns) => {
        const scales = [];
        const integers = [];
        for (let at = 0; at < values.length; at += columns) {
            const row = values.slice(at, at + columns);
            const scale = Math.fround(Math.max(...row.map(Math.abs)) / 127);
            scales.push(scale);
            integers.push(...row.map((x) => Math.round(x / scale)));
        }
        return {
            scales,
            integers,
            numbers: integers.map((x, i) => x * scales[Math.floor(i / columns)]),
        };
    };

    test("int8 with scales, of .safetensors and of .npz", () => {
        const [keys, values] = [quantise(k, 8), quantise(v, 4)];
        const exact = attention(sizes, q, keys.numbers, values.numbers);
        const pack = ({ integers }) => Buffer.from(Int8Array.from(integers).buffer);
        const scaled = {
            q: { dtype: "F32", shape: shapes.q, bytes: f32(q) },
            k: { dtype: "I8", shape: shapes.k, bytes: pack(keys) },
            v: { dtype: "I8", shape: shapes.v, bytes: pack(values) },
            ks: { dtype: "F32", shape: [2, 5], bytes: f32(keys.scales) },
            vs: { dtype: "F32", shape: [2, 5, 1], bytes: f32(values.scales) },
        };
        const npz = zip({
            "q.npy": plain["q.npy"],
            "k.npy": npy(shapes.k, keys.integers, { descr: "|i1" }),
            "v.npy": npy(shapes.v, values.integers, { descr: "|i1" }),
            "ks.npy": npy([2, 5], keys.scales),
            "vs.npy": npy([2, 5], values.scales),
        });
        withFiles({ "x.safetensors": safetensors(scaled), "x.npz": npz }, (folder) => {
            for (const file of ["x.safetensors", "x.npz"]) {
                const scales = [`--key-scales=${file}:ks`, `--value-scales=${file}:vs`];
                succeed([...RUN, ...from(file), ...scales], folder);
                assertClose(read(folder, "o.npy").data, exact.out, exact.outBound, file);
                const all = succeed(
                    ["compare", "--json", ...from(file), ...scales, "--time=0"],
                    folder,
                );
                assert.ok(JSON.parse(all).rows[0].error < 1e-5);
            }
            assertRefused(
                attn([...RUN, ...from("x.npz")], folder),
                /int8: .*key_scales=FILE is missing/,
            );
            const mixed = ["--q=x.npz:q", "--k=x.npz:k", "--v=x.safetensors:ks"];
            assertRefused(attn([...RUN, ...mixed], folder), /rows|int8/);
            const wrong = ["--q=x.npz:k", "--k=x.npz:k", "--v=x.npz:v"];
            assertRefused(attn([...RUN, ...wrong], folder), /x\.npz:k has elements of int8/);
            const past = ["--past-k=x.npz:q", "--past-v=x.npz:q"];
            assertRefused(
                attn([...RUN, ...from("x.npz"), ...past], folder),
                /must all be int8|fit/,
            );
        });
        withFiles({ ...plain, "s.npy": npy([2, 5], keys.scales) }, (folder) => {
            const args = [...RUN, "--q=q.npy", "--k=k.npy", "--v=v.npy", "--key-scales=s.npy"];
            assertRefused(attn(args, folder), /--key-scales: is for K and V of int8/);
        });
    });
});

describe("a damaged .safetensors says why", () => {
    const good = safetensors(tensorsOf("F32", f32));
    const bytes = f32(q);
    const header = (text, data = Buffer.alloc(0)) => {
        const head = Buffer.alloc(8);
        head.writeUInt32LE(text.length);
        return Buffer.concat([head, Buffer.from(text), data]);
    };
    const entry = (dtype, shape, begin, end) =>
        JSON.stringify({ dtype, shape, data_offsets: [begin, end] });
    const two = (a, b, data = Buffer.alloc(16)) =>
        header(`{"q":${entry("F32", [1, 2], ...a)},"k":${entry("F32", [1, 2], ...b)}}`, data);
    for (const [what, file, says] of [
        [
            "cut in its data",
            good.subarray(0, -1),
            /is truncated: tensor 'v' ends at byte 672 of the/,
        ],
        ["cut in its header", good.subarray(0, 40), /is truncated: its header has \d+ bytes, and/],
        ["of 3 bytes", good.subarray(0, 3), /is truncated: a \.safetensors file begins with/],
        [
            "with bytes behind",
            Buffer.concat([good, bytes]),
            /bytes 672 to 864 of the data belong to no/,
        ],
        [
            "with a hole",
            two([0, 8], [12, 20], Buffer.alloc(20)),
            /bytes 8 to 12 of the data belong/,
        ],
        ["with an overlap", two([0, 8], [4, 12], Buffer.alloc(12)), /tensors 'q' and 'k' overlap/],
        ["with twins", two([0, 8], [0, 8], Buffer.alloc(8)), /tensors .* overlap/],
        [
            "with a name twice",
            header(
                `{"q":${entry("F32", [1, 2], 0, 8)},"q":${entry("F32", [1, 2], 8, 16)}}`,
                Buffer.alloc(16),
            ),
            /it has tensor 'q' twice/,
        ],
        [
            "with another size",
            header(`{"q":${entry("F32", [2, 2], 0, 8)}}`, Buffer.alloc(8)),
            /has bytes 0 to 8, where its type and shape need 16/,
        ],
        [
            "that ends before it begins",
            header(`{"q":${entry("F32", [1, 2], 8, 0)}}`, Buffer.alloc(8)),
            /has bytes 8 to 0/,
        ],
        [
            "of a claim too large",
            header(`{"q":${entry("F32", [2 ** 40, 2 ** 40], 0, 8)}}`, Buffer.alloc(8)),
            /claims more elements for tensor 'q'/,
        ],
        [
            "of F8",
            header(`{"q":${entry("F8_E4M3", [2, 2], 0, 4)}}`, Buffer.alloc(4)),
            /x\.safetensors:q is of F8_E4M3, which is not read; save it as F32, F16 or BF16/,
        ],
        [
            "of no type",
            header(`{"q":${entry("F7", [2, 2], 0, 4)}}`, Buffer.alloc(4)),
            /x\.safetensors:q is of F7, which is not read; save it as F32/,
        ],
        [
            "without a shape",
            header('{"q":{"dtype":"F32","data_offsets":[0,8]}}', Buffer.alloc(8)),
            /tensor 'q' has no 'shape'/,
        ],
        [
            "with a field twice",
            header('{"q":{"dtype":"F32","dtype":"F32"}}'),
            /tensor 'q' has 'dtype' twice/,
        ],
        [
            "with broken JSON",
            header('{"q":{"dtype":"F32",'),
            /does not describe tensor 'q' as JSON does/,
        ],
        ["that is no JSON", header("nothing"), /its header is no JSON object/],
        [
            "with metadata twice",
            header('{"__metadata__":{},"__metadata__":{}}'),
            /its header is no JSON object/,
        ],
        ...["tru", "-.-", "01", "1.", "1e", "+1", "nul", "Infinity"].map((value) => [
            `with ${value} in its metadata`,
            header(`{"__metadata__":{"a":${value}}}`),
            /its header is no JSON object/,
        ]),
        [
            "with a size that JSON has not",
            header('{"q":{"dtype":"F32","shape":[01,2],"data_offsets":[0,8]}}', Buffer.alloc(8)),
            /does not describe tensor 'q' as JSON does/,
        ],
        [
            "with more axes than anything has",
            header(`{"q":${entry("F32", Array(33).fill(1), 0, 4)}}`, Buffer.alloc(4)),
            /is not read: tensor 'q' has more than 32 axes/,
        ],
        [
            "with a name too long",
            header(`{"${"n".repeat(300)}":${entry("F32", [1], 0, 4)}}`, Buffer.alloc(4)),
            /is not read: the name of a tensor, 'n{40}\.\.\.', has more than 255 bytes/,
        ],
    ])
        test(what, () => {
            withFiles({ ...plain, "x.safetensors": file }, (folder) => {
                const args = [...RUN, "--q=x.safetensors:q", "--k=k.npy", "--v=v.npy"];
                assertRefused(attn(args, folder), says);
            });
        });

    test("cut anywhere, it is refused", () => {
        withFiles({ ...plain }, (folder) => {
            for (let size = 0; size < good.length; size += 37)
                withFiles({ ...plain, "x.safetensors": good.subarray(0, size) }, (place) => {
                    const args = [...RUN, "--q=x.safetensors:q", "--k=k.npy", "--v=v.npy"];
                    assertRefused(attn(args, place), /x\.safetensors/);
                });
            assert.ok(folder);
        });
    });

    test("other tensors may be of later types, and have fields that are not read", () => {
        const later = entry("F8_E4M3FNUZ", [3], 192, 195);
        const more = `{"x":[1,-2.5e-3,null],"dtype":"F32","shape":[${shapes.q}],"data_offsets":[0,192]}`;
        const file = header(
            `{"q":${more},"later":${later}}`,
            Buffer.concat([bytes, Buffer.alloc(3)]),
        );
        withFiles({ ...plain, "x.safetensors": file }, (folder) => {
            succeed([...RUN, "--q=x.safetensors:q", "--k=k.npy", "--v=v.npy"], folder);
            assertRefused(
                attn([...RUN, "--q=x.safetensors:later", "--k=k.npy", "--v=v.npy"], folder),
                /later is of F8_E4M3FNUZ, which is not read/,
            );
        });
    });

    test("names may be escaped, and metadata is skipped", () => {
        const text = `{"__metadata__":{"a":"\\"}"},"\\u0071\\u00e9":${entry("F32", shapes.q, 0, 192)}}`;
        withFiles({ ...plain, "x.safetensors": header(text, bytes) }, (folder) =>
            succeed([...RUN, "--q=x.safetensors:qé", "--k=k.npy", "--v=v.npy"], folder),
        );
    });
});
