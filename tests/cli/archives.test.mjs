// Archives and arrays as others write them, and those that claim more than they hold.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { random } from "./attention.mjs";
import { assertRefused, attn, attnAfter, shim, succeed, withFiles } from "./command.mjs";
import { csr, ints, members } from "./csr.mjs";
import { npy } from "./npy.mjs";
import { zip } from "./zip.mjs";

const [n, d] = [9, 40];
const numbers = random(n * d, 5);
const x = Array.from({ length: n }, (_, i) =>
    numbers.slice(i * d, (i + 1) * d).map((value, j) => (j % 3 ? 0 : value)),
);
const archive = members(x);
const { data, indices, indptr } = csr(x);
const files = {
    "data.npy": npy([data.length], data),
    "indices.npy": ints(indices, "<i8"),
    "indptr.npy": ints(indptr, "<i8"),
    "v.npy": npy([n, 3], random(n * 3, 3)),
};
const last = ["--v", "v.npy", "-o", "o.npy", "--set", "size=12"];
const arrays = ["--x-data", "data.npy", "--x-indptr", "indptr.npy", "--x-indices", "indices.npy"];

describe("an archive", () => {
    for (const level of [undefined, 6])
        for (const zip64 of [false, true])
            for (const descriptor of [false, true])
                test(`level ${level}, zip64 ${zip64}, data descriptors ${descriptor}`, () => {
                    const bytes = zip(archive, level, { zip64, descriptor });
                    withFiles({ ...files, "x.npz": bytes }, (folder) => {
                        succeed(["run", "sketch", ...arrays, "--columns", `${d}`, ...last], folder);
                        const expected = readFileSync(join(folder, "o.npy"));
                        succeed(["run", "sketch", "--x", "x.npz", ...last], folder);
                        assert.deepEqual(readFileSync(join(folder, "o.npy")), expected);
                    });
                });

    /** [what, how its bytes are damaged, what the line says] */
    const wide = zip(archive, 6, { zip64: true });
    const damage = (mark, offset, value) => {
        const bytes = Buffer.from(wide);
        bytes.writeUInt8(value, bytes.lastIndexOf(Buffer.from(mark, "latin1")) + offset);
        return bytes;
    };
    const wrong = [
        ["no zip64 end of directory", damage("PK\x06\x07", 8, 7), /zip64 end of directory/],
        ["no locator", damage("PK\x06\x07", 0, 0), /zip64 end of directory is not there/],
        ["a directory elsewhere", damage("PK\x06\x06", 48, 9), /directory is not whole/],
        ["no zip64 field", damage("PK\x01\x02", 30, 0), /directory is not whole|has no|is damaged/],
    ];
    for (const [what, bytes, says] of wrong)
        test(`is refused with ${what}`, () => {
            withFiles({ ...files, "x.npz": bytes }, (folder) => {
                const result = attn(["run", "sketch", "--x", "x.npz", ...last], folder);
                assertRefused(result, says);
            });
        });

    const one = zip({ "a.npy": npy([2, 4], random(8, 1)) });
    for (const [what, bytes, says] of [
        ["of nothing", zip({}), /x\.npz: has no arrays in it \(files that end in \.npy\)\n/],
        ["without arrays", zip({ "a.txt": Buffer.from("a") }), /x\.npz: has no arrays in it/],
        [
            "and bytes behind it",
            Buffer.concat([one, one.subarray(0, 9)]),
            /has 9 bytes after its end/,
        ],
        ["cut off", one.subarray(0, -1), /x\.npz: is cut off/],
        ["behind other bytes", Buffer.concat([Buffer.from("#!"), one]), /x\.npz: is no \.npz file/],
        ["of no bytes", Buffer.alloc(0), /x\.npz is empty/],
    ])
        test(`of arrays is refused ${what}`, () => {
            withFiles({ "x.npz": bytes }, (folder) => {
                const inputs = ["--q=x.npz", "--k=x.npz", "--v=x.npz", "-o", "o.npy"];
                assertRefused(attn(["run", "softmax", ...inputs], folder), says);
            });
        });
});

describe("a size that is claimed", () => {
    const noise = npy([20000], random(20000, 7), { descr: "<f8" });
    const claiming = (claims, level, options) =>
        zip({ ...archive, "data.npy": noise }, level, { claims, ...options });
    for (const [what, bytes] of [
        ["2 GB, deflated", claiming(2e9, 6)],
        ["of 64 bits, deflated", claiming(2 ** 31 + 5, 6, { zip64: true })],
        ["2 GB, stored", claiming(2e9)],
        ["150 MB, which so many bytes could give", claiming(150e6, 6)],
    ])
        test(`takes no memory: ${what}`, { skip: !shim && "no limit under a sanitizer" }, () => {
            withFiles({ ...files, "x.npz": bytes }, (folder) => {
                const args = ["run", "sketch", "--x", "x.npz", ...last];
                const result = attnAfter("ulimit -v 120000", args, folder);
                assertRefused(result, /in it is damaged: it does not unpack to \d+ bytes from \d+/);
            });
        });

    test("is unpacked where it is true, of any ratio", () => {
        const rows = 50000;
        const zeros = { ...members([[0.1], ...Array(rows - 1).fill([0])]) };
        zeros["indptr.npy"] = ints([0, ...Array(rows).fill(1)], "<i8");
        zeros["shape.npy"] = ints([rows, 64], "<i8");
        withFiles({ "x.npz": zip(zeros, 9) }, (folder) => {
            succeed(["sketch", "x.npz", "--method", "uniform", "--size", "4"], folder);
        });
    });
});

describe("an array's type", () => {
    const inputs = ["--q", "x.npy", "--k", "x.npy", "--v", "x.npy", "-o", "o.npy"];
    const values = random(24, 1);
    const plain = npy([6, 4], values);
    const run = (folder) => {
        const result = attn(["run", "softmax", ...inputs], folder);
        assert.equal(result.status, 0, result.stderr);
        return readFileSync(join(folder, "o.npy"));
    };
    const named = (descr, from) => {
        const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (6, 4), }`;
        const start = 128;
        return Buffer.concat([npy([], [], { header }), from.subarray(start)]);
    };
    const half = npy([6, 4], values, { descr: "<f2" });
    const double = npy([6, 4], values, { descr: "<f8" });
    const swapped = (bytes, size) => {
        const copy = Buffer.from(bytes);
        copy.subarray(128)[size === 2 ? "swap16" : size === 4 ? "swap32" : "swap64"]();
        return copy;
    };
    for (const [descr, bytes, same] of [
        ["=f4", plain, plain],
        ["f4", plain, plain],
        ["float32", plain, plain],
        [">f4", swapped(plain, 4), plain],
        [">f8", swapped(double, 8), double],
        ["=f8", double, double],
        ["float64", double, double],
        [">f2", swapped(half, 2), half],
        ["float16", half, half],
        ["f2", half, half],
        ...["f", "<f", "=f", "single"].map((descr) => [descr, plain, plain]),
        ...["d", "=d", "float", "double"].map((descr) => [descr, double, double]),
        ...["e", "half"].map((descr) => [descr, half, half]),
        [">d", swapped(double, 8), double],
    ])
        test(`'${descr}' is read`, () => {
            const [output, expected] = [named(descr, bytes), same].map((input) =>
                withFiles({ "x.npy": input }, run),
            );
            assert.deepEqual(output, expected);
        });

    for (const [descr, says] of [
        ["i", /int32 \('i'\)/],
        ["q", /int64 \('q'\)/],
        ["intc", /int32 \('intc'\)/],
        ["longlong", /int64 \('longlong'\)/],
        ["b", /int8 \('b'\)/],
        ["B", /uint8 \('B'\)/],
        ["H", /uint16 \('H'\)/],
        ["<i2", /int16 \('<i2'\)/],
        ["?", /bool \('\?'\)/],
        ["g", /float128 \('g'\)/],
        ["F", /complex64 \('F'\)/],
        ["D", /complex128 \('D'\)/],
        ["l", /integers whose size depends on the machine \('l'\)/],
        ["|O", /Python objects \('\|O'\)/],
        ["<U3", /text \('<U3'\)/],
        ["|S1", /text \('\|S1'\)/],
        ["<M8[ns]", /dates and times \('<M8\[ns\]'\)/],
        ["|V4", /bytes without a type \('\|V4'\)/],
        ["", /a type unknown here \(''\)/],
        ["f3", /a type unknown here \('f3'\)/],
    ])
        test(`'${descr}' is refused by its name`, () => {
            withFiles({ "x.npy": named(descr, plain) }, (folder) => {
                const result = attn(["run", "softmax", ...inputs], folder);
                assertRefused(result, new RegExp(`x\\.npy has elements of ${says.source}; only f`));
            });
        });

    for (const descr of ["|V2", "<V2", "V2"])
        test(`'${descr}' is read as bfloat16`, () => {
            withFiles({ "x.npy": named(descr, half) }, (folder) => {
                const { status, stderr } = attn(["run", "softmax", ...inputs], folder);
                assert.equal(status, 0, stderr);
            });
        });

    test("integers in the other order of bytes", () => {
        const mask = (bytes) => ({ "x.npy": plain, "l.npy": bytes });
        const args = ["run", "softmax", ...inputs, "--kv-lens", "l.npy"];
        const header = "{'descr': '>i8', 'fortran_order': False, 'shape': (1,), }";
        const number = Buffer.alloc(8);
        number.writeBigInt64BE(3n);
        const big = Buffer.concat([npy([], [], { header }), number]);
        const outputs = [ints([3], "<i8"), big].map((bytes) => {
            return withFiles(mask(bytes), (folder) => {
                succeed(args, folder);
                return readFileSync(join(folder, "o.npy"));
            });
        });
        assert.deepEqual(outputs[0], outputs[1]);
    });
});
