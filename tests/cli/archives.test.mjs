// Archives and arrays as others write them, and those that claim more than they hold.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { random } from "./attention.mjs";
import { assertRefused, attn, attnAfter, shim, succeed, withFiles } from "./command.mjs";
import { csr, ints, members } from "./csr.mjs";
import { npy } from "./npy.mjs";
import { safetensors } from "./safetensors.mjs";
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
        ["no zip64 end of directory", damage("PK\x06\x06", 0, 0), /zip64 end of directory/],
        ["no locator", damage("PK\x06\x07", 0, 0), /zip64 end of directory is not there/],
        ["a directory elsewhere", damage("PK\x06\x06", 40, 9), /directory is not whole/],
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
    const spilt = Buffer.from(one);
    spilt.writeUInt16LE(9, spilt.lastIndexOf("PK\x01\x02") + 32); // of a comment
    for (const [what, bytes, says] of [
        ["of nothing", zip({}), /x\.npz: has no arrays in it \(files that end in \.npy\)\n/],
        ["without arrays", zip({ "a.txt": Buffer.from("a") }), /x\.npz: has no arrays in it/],
        ["cut off", one.subarray(0, -1), /x\.npz: is cut off/],
        ["whose directory is too short", spilt, /x\.npz: is damaged: its directory is not whole/],
        ["in pieces", one.subarray(9), /is not where the archive's directory has it|not whole/],
        ["of another kind", Buffer.from("#!".repeat(99)), /x\.npz: is no \.npz file/],
        ["of no bytes", Buffer.alloc(0), /x\.npz is empty/],
    ])
        test(`of arrays is refused ${what}`, () => {
            withFiles({ "x.npz": bytes }, (folder) => {
                const inputs = ["--q=x.npz", "--k=x.npz", "--v=x.npz", "-o", "o.npy"];
                assertRefused(attn(["run", "softmax", ...inputs], folder), says);
            });
        });
});

describe("an archive among other bytes", () => {
    const values = random(24, 4);
    const array = npy([6, 4], values);
    const other = npy([3, 4], random(12, 5));
    const noise = Buffer.alloc(70000, 7); // more than a comment may have
    const commented = (bytes, comment) => {
        const head = Buffer.from(bytes);
        head.writeUInt16LE(comment.length, head.length - 2);
        return Buffer.concat([head, Buffer.from(comment, "latin1")]);
    };
    const inputs = ["--q=x.npz:a", "--k=x.npz:a", "--v=x.npz:a", "-o", "o.npy"];
    const outputOf = (bytes) =>
        withFiles({ "x.npz": bytes }, (folder) => {
            succeed(["run", "softmax", ...inputs], folder);
            return readFileSync(join(folder, "o.npy"));
        });
    const expected = outputOf(zip({ "a.npy": array }));
    for (const options of [{}, { zip64: true }, { descriptor: true }]) {
        const one = zip({ "a.npy": array }, 6, options);
        for (const [what, bytes] of [
            ["behind a line", Buffer.concat([Buffer.from("#!"), one])],
            ["far behind", Buffer.concat([noise, one])],
            ["before a byte", Buffer.concat([one, Buffer.alloc(1)])],
            ["far before", Buffer.concat([one, noise])],
            ["in between", Buffer.concat([noise, one, noise])],
            ["behind another archive", Buffer.concat([zip({ "a.npy": other }), one])],
            ["with a comment", commented(one, "a comment")],
            ["with an end in its comment", commented(one, `PK\x05\x06${"\0".repeat(18)}more`)],
        ])
            test(`is read: ${what}, ${JSON.stringify(options)}`, () => {
                assert.deepEqual(outputOf(bytes), expected);
            });
    }
    test("is read by what it is, whatever its name", () => {
        const bytes = zip({ "a.npy": array });
        withFiles({ "x.dat": bytes, "X.NPZ": Buffer.concat([noise, bytes]) }, (folder) => {
            for (const name of ["x.dat", "X.NPZ"]) {
                const args = [`--q=${name}:a`, `--k=${name}`, `--v=${name}`, "-o", "o.npy"];
                succeed(["run", "softmax", ...args], folder);
                assert.deepEqual(readFileSync(join(folder, "o.npy")), expected);
            }
        });
    });
    test("names no output, in capitals either", () => {
        withFiles({ "x.npz": zip({ "a.npy": array }) }, (folder) => {
            for (const name of ["o.NPZ", "o.Safetensors"]) {
                const args = [...inputs.slice(0, 3), "-o", name];
                assertRefused(attn(["run", "softmax", ...args], folder), /are written as \.npy/);
            }
        });
    });
    test("has the sparse X", () => {
        const args = ["run", "sketch", "--x", "x.npz", ...last];
        const outputs = [zip(archive, 6), Buffer.concat([noise, zip(archive, 6), noise])].map(
            (bytes) =>
                withFiles({ ...files, "x.npz": bytes }, (folder) => {
                    succeed(args, folder);
                    return readFileSync(join(folder, "o.npy"));
                }),
        );
        assert.deepEqual(outputs[1], outputs[0]);
    });
});

describe("attn sketch and sparse arrays by name", () => {
    const dense = npy([n, d], numbers);
    const parts = { "data.npy": files["data.npy"], "i.npy": files["indices.npy"] };
    const all = {
        "x.npy": dense,
        "one.npz": zip({ "x.npy": dense }, 6),
        "two.npz": zip({ "x.npy": dense, "y.npy": dense }),
        "x.safetensors": safetensors({
            x: { dtype: "F32", shape: [n, d], bytes: dense.subarray(128) },
        }),
        "csr.npz": zip({ ...parts, "p.npy": files["indptr.npy"] }, 6),
        "scipy.npz": zip(archive),
        ...files,
    };
    const sketch = (folder, ...args) => {
        const method = ["--method", "uniform", "--size", "6", "-o", "y.npy"];
        const { status, stderr } = attn(["sketch", ...args, ...method], folder);
        assert.equal(status, 0, stderr); // it warns of what it cannot bound
        return readFileSync(join(folder, "y.npy"));
    };
    test("dense ones of .npz and .safetensors", () => {
        withFiles(all, (folder) => {
            const expected = sketch(folder, "x.npy");
            for (const path of [
                "one.npz",
                "one.npz:x",
                "two.npz:y",
                "x.safetensors",
                "x.safetensors:x",
            ])
                assert.deepEqual(sketch(folder, path), expected, path);
            const rows = sketch(folder, "x.npy", "--k", "x.npy");
            assert.deepEqual(sketch(folder, "two.npz:x", "--k", "one.npz"), rows);
        });
    });
    test("those of CSR", () => {
        withFiles(all, (folder) => {
            const expected = sketch(folder, "scipy.npz");
            const lists = ["--x-indptr", "csr.npz:p", "--x-indices", "csr.npz:i"];
            const columns = ["--columns", `${d}`];
            assert.deepEqual(sketch(folder, "csr.npz:data", ...lists, ...columns), expected);
        });
    });
    test("that are not there", () => {
        withFiles(all, (folder) => {
            for (const [args, says] of [
                [["two.npz"], /two\.npz: has 2 arrays; name one as two\.npz:NAME, of x, y/],
                [["two.npz:z"], /two\.npz: has no array 'z'; there are x, y/],
                [["none.npz:z"], /none\.npz: cannot be opened/],
            ])
                assertRefused(attn(["sketch", ...args], folder), says);
            assertRefused(
                attn(["run", "sketch", "--x", "two.npz", ...last], folder),
                /two\.npz: has no matrix of SciPy's save_npz\(\); name a dense one as two\.npz:NAME/,
            );
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
