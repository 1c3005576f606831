// Files, plugins and machines that are not what a command needs: refused as wrong.test.mjs has it.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { attn, attnAfter, contents, isWasi, plugin, program, withFiles } from "./command.mjs";
import { files, header, inputs, ok, refuse, run, x, zeros } from "./wrong.mjs";

/** [what, bytes of the .npy file, what the line says] */
const arrays = [
    ["an empty file", "", /is empty/],
    [
        "another kind of file",
        "PK\x03\x04 and so on",
        /is cut off: an archive ends with a directory/,
    ],
    ["the magic alone", x.subarray(0, 6), /is truncated/],
    ["half a header", x.subarray(0, 40), /is truncated/],
    ["no data", x.subarray(0, 128), /is truncated: 0 bytes of data where its shape needs 96/],
    ["one byte too few", x.subarray(0, x.length - 1), /is truncated: 95 bytes of data .* 96/],
    ["one byte too many", Buffer.concat([x, Buffer.alloc(1)]), /has bytes after its end: 97 bytes/],
    ["a later version", Buffer.from(x).fill(4, 6, 7), /version 4\.0/],
    ["int64", zeros([6, 4], "<i8"), /int64 \('<i8'\); only float32, float64, float16, .*are read/],
    ["one float16 too few", zeros([6, 4], "<f2").subarray(0, -2), /46 bytes of data .* 48/],
    ["bool", zeros([6, 4], "|b1"), /bool \('\|b1'\)/],
    ["complex numbers", zeros([6, 4], "<c8"), /complex64/],
    ["text", zeros([6, 4], "<U9"), /elements of text/],
    [
        "records",
        header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6, 4), }"),
        /records/,
    ],
    ["rank 0", zeros([]), /has rank 0/],
    ["rank 1", zeros([24]), /has rank 1/],
    ["rank 5", zeros([1, 1, 1, 6, 4]), /has rank 5/],
    ["n of 0", zeros([0, 4]), /size 0 in dimension 1 of 2/],
    ["d of 0", zeros([6, 0]), /size 0 in dimension 2 of 2/],
    ["heads of 0", zeros([0, 6, 4]), /size 0 in dimension 1 of 3/],
    [
        "more than there is",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 4), }"),
        /is truncated/,
    ],
    [
        "sizes that overflow",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }"),
        /more elements/,
    ],
    [
        "a size that overflows",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 4), }"),
        /'shape'/,
    ],
    [
        "a negative size",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (-6, 4), }"),
        /'shape'/,
    ],
    ["no dictionary", header("hello"), /is no dictionary/],
    ["half a dictionary", header("{'descr': '<f4', 'fortran_order': False"), /does not end/],
    ["no order", header("{'descr': '<f4', 'shape': (6, 4), }"), /lacks 'fortran_order'/],
    [
        "a word for the order",
        header("{'descr': '<f4', 'fortran_order': maybe, 'shape': (6, 4), }"),
        /'fortran_order'/,
    ],
    [
        "an unknown entry",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (6, 4), 'x': 1}"),
        /'x'/,
    ],
    ["an entry twice", header("{'descr': '<f4', 'descr': '<f4', 'shape': (6, 4), }"), /'descr'/],
    [
        "text after the header",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (6, 4)} 1"),
        /text after/,
    ],
];

describe("wrong .npy files", () => {
    for (const [name, bytes, says] of arrays) {
        test(name, () => {
            const args = run(...inputs("x.npy", "bad.npy"), "-o", "o.npy", "--lse", "l.npy");
            refuse({ "bad.npy": bytes }, (folder) => attn(args, folder), says);
            refuse(
                { "bad.npy": bytes },
                (folder) => attn(["compare", ...inputs("bad.npy")], folder),
                /bad\.npy/,
            );
        });
    }

    test("standard input twice", () => {
        withFiles({}, (folder) => {
            const written = attn(["embed", "-", "--dim", "4", "-o", "q.npy"], folder, {
                input: "a b",
            });
            assert.equal(written.status, 0, written.stderr);
            const input = readFileSync(join(folder, "q.npy"));
            const args = ["run", "softmax", "--q", "-", "--k", "-", "--v", "q.npy", "-o", "o.npy"];
            const { status, stderr } = attn(args, folder, { input });
            assert.equal(status, 2, stderr);
            assert.match(stderr, /^attn: -: standard input has been read already: give a file\n$/);
        });
    });

    test("a name with a line break is still one line", () => {
        refuse(
            {},
            (folder) => attn(run(...inputs("a\nb.npy"), "-o", "o.npy"), folder),
            /a\\x0ab\.npy/,
        );
    });

    test("a name with control characters of C1 and Unicode has them escaped", () => {
        refuse(
            {},
            (folder) => attn(run(...inputs("é\u009bx\u2028.npy"), "-o", "o.npy"), folder),
            /é\\xc2\\x9bx\\xe2\\x80\\xa8\.npy/,
        );
    });
});

describe("embed refuses what is not text", () => {
    const ascii = Buffer.from("some words ");
    const cafe = Buffer.from("café ");
    /** [what, the bytes, which of them it is] */
    const cases = [
        ["NUL", [...ascii, 0, 65], "0x00 at offset 11"],
        ["NUL at the very end", [...ascii, 0], "0x00 at offset 11"],
        ["UTF-16", [0xff, 0xfe, 0x61, 0], "0xFF at offset 0"],
        ["UTF-16 without its mark", [0x61, 0, 0x62, 0], "0x00 at offset 1"],
        ["Latin-1", Buffer.from("un café noir", "latin1"), "0xE9 at offset 6"],
        ["half a character at the end", cafe.subarray(0, 4), "0xC3 at offset 3"],
        ["a continuation without a beginning", [...cafe, 0x80], "0x80 at offset 6"],
        ["a surrogate", [...ascii, 0xed, 0xa0, 0x80], "0xED at offset 11"],
        ["not the shortest form", [...ascii, 0xc0, 0xaf], "0xC0 at offset 11"],
        ["beyond Unicode", [...ascii, 0xf4, 0x90, 0x80, 0x80], "0xF4 at offset 11"],
        ["an image", [0x89, 0x50, 0x4e, 0x47], "0x89 at offset 0"],
    ];
    for (const [what, list, says] of cases) {
        test(what, () => {
            const bytes = Buffer.from(list);
            const args = (path) => ["embed", path, "--dim", "4", "-o", "o.npy"];
            const told = (name) =>
                new RegExp(`^attn: ${name}: is not UTF-8 text: byte ${says} .*--any-bytes`);
            const embed = (folder) => attn(args("bytes"), folder);
            refuse({ bytes }, embed, told("bytes"));
            refuse(
                { bytes },
                (folder) => attn(args("-"), folder, { input: bytes }),
                told("standard input"),
            );
            withFiles({ bytes }, (folder) => {
                const { status, stderr } = attn([...args("bytes"), "--any-bytes"], folder);
                assert.equal(status, 0, stderr);
            });
        });
    }

    test("and takes what is", () => {
        const text = "\ufeffcafé, 注意力 \u{1F600}\u007f\t\u0001";
        withFiles({ text }, (folder) => {
            const args = ["embed", "text", "--dim", "4", "-o", "o.npy"];
            const { status, stderr } = attn(args, folder);
            assert.equal(status, 0, stderr);
        });
    });
});

describe("wrong plugins", { skip: (!plugin || isWasi) && "no plugin to load" }, () => {
    /** The template plugin with `from`, which must be in it just once, replaced by `to`. */
    function patched(from, to) {
        const bytes = readFileSync(plugin);
        const at = bytes.indexOf(from);
        assert.ok(
            at >= 0 && bytes.indexOf(from, at + 1) < 0,
            "the template plugin looks different",
        );
        bytes.set(to, at);
        return bytes;
    }
    const load = (folder) => attn(run(...ok, "--plugin", "./other.so"), folder);

    test("of another ABI major version", () => {
        // attn_plugin_entry_t: struct_size 24, ABI 1.1, one backend.
        const entry = Buffer.from("180000000100010001000000", "hex");
        const other = Buffer.from("180000000200010001000000", "hex");
        refuse({ "other.so": patched(entry, other) }, load, /other\.so.*ABI/);
    });

    test("without an entry", () => {
        const bytes = readFileSync(plugin);
        for (let at = 0; (at = bytes.indexOf("attn_plugin_entry\0", at)) >= 0;)
            bytes.write("attn_plugin_other\0", at);
        refuse({ "other.so": bytes }, load, /other\.so/);
    });

    test("cut off", () => {
        refuse({ "other.so": readFileSync(plugin).subarray(0, 1000) }, load, /other\.so/);
    });

    test("a backend that is there already", () => {
        const twice = ["list", "--plugin", plugin, "--plugin", plugin];
        refuse({}, (folder) => attn(twice, folder), /org\.libattn\.template/);
    });
});

describe("limits of the machine", { skip: isWasi && "native only" }, () => {
    const fits = attnAfter("ulimit -v 400000", ["--version"]).status === 0;

    test("no memory", { skip: !fits && "this build cannot live within a limit" }, () => {
        const bench = ["bench", "--backend=softmax", "--n=400000", "--d=128", "--time=0"];
        refuse({}, (folder) => attnAfter("ulimit -v 400000", bench, folder), /no memory/);
        const weights = ["--backend=softmax", "--n=1000000000000", "--d=1", "--heads=1"];
        refuse({}, (folder) => attn(["bench", ...weights], folder), /no memory/);
    });

    // Memory that is promised and not there ends a program without a word: what is there is the limit.
    const told = "/proc/meminfo";
    test("no more memory than there is", { skip: !existsSync(told) && "Linux's" }, async () => {
        const child = spawn(program, ["sketch", "-"], { stdio: ["pipe", "ignore", "ignore"] });
        const dataOf = () =>
            Number(
                readFileSync(`/proc/${child.pid}/limits`, "utf8").match(
                    /^Max data size +(\d+)/m,
                )?.[1],
            );
        const total = 1024 * Number(readFileSync(told, "utf8").match(/^MemTotal: +(\d+)/m)[1]);
        try {
            while (!dataOf()) await new Promise((go) => setTimeout(go, 10));
            const used = readFileSync(`/proc/${child.pid}/status`, "utf8").match(
                /^VmData:\s+(\d+)/m,
            );
            assert.ok(dataOf() <= total + 1024 * Number(used[1]), `${dataOf()} of ${total}`);
        } finally {
            child.kill();
        }
    });

    test(
        "no memory for the weights",
        { skip: !fits && "this build cannot live within a limit" },
        () => {
            const long = zeros([20000, 2]);
            const args = run(
                ...inputs("long.npy", "long.npy", "long.npy"),
                "-o",
                "o.npy",
                "--weights",
                "w.npy",
            );
            refuse(
                { "long.npy": long },
                (folder) => attnAfter("ulimit -v 400000", args, folder),
                /no memory/,
            );
        },
    );

    // The file's limit stands for a full disk: the machine's fault, so the status is 1.
    test("a full disk leaves no file", () => {
        const big = zeros([1024, 8]);
        withFiles({ "x.npy": big, "o.npy": "old" }, (folder) => {
            const before = contents(folder);
            const result = attnAfter("trap '' XFSZ\nulimit -f 8", run(...ok), folder);
            assert.equal(result.status, 1);
            assert.match(result.stderr, /^attn: o\.npy: cannot be written: [^\n]+\n$/);
            assert.deepEqual(contents(folder), before);
        });
    });

    test("a full device", { skip: !existsSync("/dev/full") && "no /dev/full" }, () => {
        withFiles(files, (folder) => {
            const result = attn(run(...inputs(), "-o", "/dev/full"), folder);
            assert.equal(result.status, 1);
            assert.match(result.stderr, /^attn: \/dev\/full: cannot be written: [^\n]+\n$/);
            const list = attnAfter("exec >/dev/full", ["list"], folder);
            assert.equal(list.status, 1);
            assert.match(list.stderr, /^attn: cannot write to standard output\n$/);
        });
    });

    test("a leftover temporary file is in nobody's way", () => {
        withFiles(files, (folder) => {
            writeFileSync(join(folder, ".attn-0"), "somebody else's");
            assert.equal(attn(run(...ok), folder).status, 0);
            assert.equal(readFileSync(join(folder, ".attn-0"), "utf8"), "somebody else's");
            assert.ok(!existsSync(join(folder, ".attn-1")));
        });
    });
});
