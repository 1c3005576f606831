// Wrong input: one clear line on standard error, exit status 2, and no file that was not there.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { random } from "./attention.mjs";
import { attn, attnAfter, contents, isWasi, plugin, withFiles } from "./command.mjs";
import { npy } from "./npy.mjs";

const x = npy([6, 4], random(24, 1));
const header = (text) => npy([6, 4], random(24, 1), { header: text });
const zeros = (shape, descr = "<f4") =>
    npy(shape, new Array(shape.reduce((a, b) => a * b, 1)).fill(0), { descr });

const files = {
    "x.npy": x,
    "heads3.npy": zeros([3, 6, 4]),
    "heads2.npy": zeros([2, 6, 4]),
    "batch2.npy": zeros([2, 1, 6, 4]),
    "d5.npy": zeros([6, 5]),
    "m7.npy": zeros([7, 4]),
    "old.npy": x,
    "mask.npy": zeros([6, 6], "|b1"),
    "mask57.npy": zeros([5, 7], "|b1"),
    "mask65.npy": zeros([6, 5], "|b1"),
    "mask3.npy": zeros([3, 6, 6], "|b1"),
    "mask5.npy": zeros([1, 1, 1, 6, 6], "|b1"),
    "bytes.npy": zeros([6, 6], "|u1"),
    "square.npy": zeros([6, 6]),
    "int1.npy": zeros([1], "<i8"),
    "int2.npy": zeros([2], "<i4"),
    "seven.npy": npy([1], [7], { descr: "<i8" }),
    "float1.npy": zeros([1]),
    "float2.npy": zeros([2]),
    "float11.npy": zeros([1, 1]),
    "text.txt": "some words",
    "blank.txt": " \n\t\n",
    "empty.txt": "",
};

const run = (...args) => ["run", "softmax", ...args];
const inputs = (q = "x.npy", k = "x.npy", v = "x.npy") => ["--q", q, "--k", k, "--v", v];
const ok = [...inputs(), "-o", "o.npy"];

/** [what, arguments, what the line says] */
const commands = [
    ["no command", [], /command is missing/],
    ["an unknown command", ["frobnicate"], /unknown command 'frobnicate'/],
    ["an unknown option", run(...ok, "--fast"), /unknown option '--fast'/],
    ["an unknown letter", run(...ok, "-x"), /unknown option '-x'/],
    ["no backend", ["run", "--q", "x.npy"], /BACKEND is missing/],
    ["a second backend", run("linear", ...ok), /unexpected 'linear'/],
    [
        "a value without its sign",
        run(...ok, "--causal", "bottom-right"),
        /unexpected 'bottom-right' \(.*--causal=bottom-right\)/,
    ],
    ["no output", run(...inputs()), /--output is missing/],
    ["no keys", run("--q", "x.npy", "--v", "x.npy", "-o", "o.npy"), /--k is missing/],
    ["no value", run(...inputs(), "-o"), /--output needs a value/],
    ["a value for a switch", ["list", "--json=yes"], /--json takes no value/],
    ["two formats", ["compare", ...inputs(), "--md", "--csv"], /exclude each other/],
    [
        "no number of threads",
        run(...ok, "--threads", "many"),
        /--threads: 'many' is not a whole number/,
    ],
    ["no threads", run(...ok, "--threads", "0"), /--threads: 0 is outside 1 to 1024/],
    ["too many threads", run(...ok, "--threads", "1025"), /outside 1 to 1024/],
    [
        "a number that overflows",
        run(...ok, "--threads", "99999999999999999999"),
        /not a whole number/,
    ],
    ["no scale", run(...ok, "--scale", "big"), /--scale: 'big' is not a finite number/],
    ["an infinite scale", run(...ok, "--scale", "1e99"), /not a finite number/],
    ["a NaN scale", run(...ok, "--scale=nan"), /not a finite number/],
    ["an unknown corner", run(...ok, "--causal=left"), /--causal: 'left' is neither/],
    ["a window of one number", run(...ok, "--window", "3"), /--window: '3' is not of the form L,R/],
    ["a window of three", run(...ok, "--window=1,2,3"), /'1,2,3' is not of the form/],
    ["a window of words", run(...ok, "--window=a,b"), /'a,b' is not of the form/],
    ["a negative window", run(...ok, "--window=-2,0"), /'-2,0' is not of the form/],
    ["a window of fractions", run(...ok, "--window=1.5,0"), /'1.5,0' is not of the form/],
    [
        "a window that overflows",
        run(...ok, "--window=99999999999999999999,0"),
        /is not of the form/,
    ],
    ["a window too large", run(...ok, "--window=9223372036854775807,0"), /window/],
    [
        "a window that sees what causal hides",
        run(...ok, "--causal", "--window=2,1"),
        /window of 1 keys to the right contradicts causal/,
    ],
    [
        "a window on a backend that has none",
        ["run", "linear", ...ok, "--window=2,2"],
        /'linear' does not do sliding windows/,
    ],
    ["a mask on one", ["run", "linear", ...ok, "--mask=mask.npy"], /'linear' does not do masks/],
    ["a softcap on one", ["run", "sketch", ...ok, "--softcap=3"], /'sketch' does not do softcap/],
    ["a negative softcap", run(...ok, "--softcap=-1"), /softcap is -1, must be 0 or more/],
    ["no softcap", run(...ok, "--softcap=much"), /--softcap: 'much' is not a finite number/],
    ["scores of one", ["run", "linear", ...ok, "--scores=s.npy"], /does not do scores/],
    ["a mode beyond", run(...ok, "--scores=s.npy", "--scores-mode=4"), /4 is outside 0 to 3/],
    ["a mode of nothing", run(...ok, "--scores-mode=1"), /--scores-mode needs --scores/],
    ["a missing mask", run(...ok, "--mask=none.npy"), /none\.npy: cannot be opened/],
    [
        "a mask of floats",
        run(...ok, "--mask=square.npy"),
        /square\.npy .*float32.*only bool is read/,
    ],
    ["a mask of bytes", run(...ok, "--mask=bytes.npy"), /bytes\.npy .*uint8.*only bool is read/],
    [
        "a bias of truths",
        run(...ok, "--bias=mask.npy"),
        /mask\.npy has elements of bool .*only float32/,
    ],
    ["a mask of rank 5", run(...ok, "--mask=mask5.npy"), /has rank 5; wanted 1 \(m\) to 4/],
    [
        "a mask of other rows and columns",
        run(...ok, "--mask=mask57.npy"),
        /mask57\.npy \(5, 7\) does not broadcast to \(B, H, n, m\) = \(1, 1, 6, 6\)/,
    ],
    ["a mask of a key too few", run(...ok, "--mask=mask65.npy"), /\(6, 5\) does not broadcast/],
    [
        "a mask without columns that somebody has",
        run(...ok, "--mask=mask65.npy", "--kv-lens=6"),
        /\(6, 5\) does not broadcast/,
    ],
    ["a mask of other heads", run(...ok, "--mask=mask3.npy"), /\(3, 6, 6\) does not broadcast/],
    ["a bias of other columns", run(...ok, "--bias=x.npy"), /\(6, 4\) does not broadcast/],
    ["lengths too many", run(...ok, "--kv-lens=3,4"), /--kv-lens: 2 values for 1 batches/],
    ["lengths too many in a file", run(...ok, "--kv-lens=int2.npy"), /2 values for 1 batches/],
    ["a length too large", run(...ok, "--kv-lens=7"), /sequence 0 has 7 keys, must be 0 to 6/],
    ["one in a file", run(...ok, "--kv-lens=seven.npy"), /sequence 0 has 7 keys/],
    ["a negative length", run(...ok, "--kv-lens=-1"), /sequence 0 has -1 keys/],
    ["a length of a fraction", run(...ok, "--kv-lens=1.5"), /'1.5' is not a whole number/],
    ["lengths of floats", run(...ok, "--kv-lens=float1.npy"), /only int32 and int64 are read/],
    ["lengths of nothing", run(...ok, "--kv-lens="), /'' is neither a list nor/],
    ["a length after a comma", run(...ok, "--kv-lens=3,"), /2 values for 1 batches/],
    ["sinks too many", run(...ok, "--sinks=1,2"), /--sinks: 2 values for 1 heads/],
    ["sinks too many in a file", run(...ok, "--sinks=float2.npy"), /2 values for 1 heads/],
    ["sinks of rank 2", run(...ok, "--sinks=float11.npy"), /float11\.npy has rank 2; wanted 1/],
    ["sinks of integers", run(...ok, "--sinks=int1.npy"), /int64.*only float32, float64 and/],
    ["sinks from nowhere", run(...ok, "--sinks=auto"), /auto: cannot be opened/],
    ["a sink of NaN", run(...ok, "--sinks=nan"), /--sinks: 'nan' is not a finite number/],
    ["slopes too many", run(...ok, "--alibi=1,2"), /--alibi: 2 values for 1 heads/],
    ["a slope that is a word", run(...ok, "--alibi=steep"), /steep: cannot be opened/],
    [
        "slopes of a batch",
        run(...inputs("heads3.npy"), "-o", "o.npy", "--alibi=1,x,2"),
        /'x' is not/,
    ],
    ["past keys alone", run(...ok, "--past-k=x.npy"), /--past-v is missing/],
    ["past values alone", run(...ok, "--past-v=x.npy"), /--past-k is missing/],
    [
        "a past of other columns",
        run(...ok, "--past-k=d5.npy", "--past-v=x.npy"),
        /past K \(6, 5\) and K \(6, 4\) do not fit together: 5 and 4 columns/,
    ],
    [
        "a past of other heads",
        run(...ok, "--past-k=heads2.npy", "--past-v=heads2.npy"),
        /past K .* 2 and 1 heads/,
    ],
    [
        "a past of other rows",
        run(...ok, "--past-k=m7.npy", "--past-v=x.npy"),
        /past K \(7, 4\) and past V \(6, 4\) do not fit together: 7 and 6 rows/,
    ],
    [
        "a past aligned bottom-right",
        run(...ok, "--past-k=x.npy", "--past-v=x.npy", "--causal=bottom-right"),
        /past \(6\) contradicts the bottom-right alignment/,
    ],
    [
        "a present that fails",
        run(...ok, "--present-k=p.npy", "--present-v=none/p.npy"),
        /none\/p\.npy: cannot be written/,
    ],
    ["one name for O and a present", run(...ok, "--present-k=o.npy"), /named for two outputs/],
    [
        "a wrong mask to compare",
        ["compare", ...inputs(), "--mask=mask57.npy"],
        /does not broadcast/,
    ],
    [
        "wrong lengths to compare",
        ["compare", ...inputs(), "--kv-lens=9"],
        /^attn: softmax: .*9 keys/,
    ],
    ["an unknown tier", run(...ok, "--cpu", "avx1024"), /'avx1024'/],
    ["a seed that is none", run(...ok, "--seed", "x"), /--seed: 'x' is not a whole number/],
    ["a negative time", ["compare", ...inputs(), "--time", "-1"], /--time: -1 is outside/],

    ["an unknown backend", ["run", "fast", ...ok], /unknown backend 'fast'/],
    ["two backends in one", ["run", "softmax,linear", ...ok], /unknown backend 'softmax,linear'/],
    [
        "an unknown backend in a list",
        ["compare", ...inputs(), "--backends", "softmax,fast"],
        /unknown backend 'fast'/,
    ],
    ["a backend twice", ["compare", ...inputs(), "--backends", "softmax,softmax"], /named twice/],
    ["an empty backend", ["compare", ...inputs(), "--backends", "softmax,"], /unknown backend ''/],
    ["an unknown backend to bench", ["bench", "--backend", "fast"], /unknown backend 'fast'/],

    [
        "an unknown parameter",
        ["run", "sparse", ...ok, "--set", "blocks=4"],
        /'sparse' has no parameter 'blocks'/,
    ],
    [
        "a parameter of nobody",
        ["compare", ...inputs(), "--set", "blocks=4"],
        /none of the backends has a parameter/,
    ],
    [
        "a parameter of another",
        ["compare", ...inputs(), "--set", "softmax.block=4"],
        /'softmax' has no parameter/,
    ],
    [
        "a parameter of an absent one",
        ["compare", ...inputs(), "--backends=softmax", "--set", "sparse.block=4"],
        /not one of/,
    ],
    ["a setting without a value", run(...ok, "--set", "block"), /'block' is not of the form/],
    ["a setting without a name", run(...ok, "--set", "=4"), /not of the form/],
    [
        "a parameter out of range",
        ["run", "sparse", ...ok, "--set", "local=0"],
        /local.* 0 is outside/,
    ],
    ["a number out of range", ["run", "sketch", ...ok, "--set", "eps=7"], /eps.* 7 is outside/],
    [
        "a parameter that is no number",
        ["run", "sparse", ...ok, "--set", "block=big"],
        /'big' is not a number/,
    ],
    [
        "a parameter that is not whole",
        ["run", "sparse", ...ok, "--set", "block=1.5"],
        /not a whole number/,
    ],
    [
        "an unknown choice",
        ["run", "linear", ...ok, "--set", "feature_map=cosine"],
        /'cosine' is not one of/,
    ],
    ["a seed out of range", ["run", "sketch", ...ok, "--seed=-1"], /seed.*-1 is outside/],
    [
        "a wrong parameter to compare",
        ["compare", ...inputs(), "--set", "eps=7"],
        /^attn: sketch: .*outside/,
    ],
    ["a wrong parameter to bench", ["bench", "--n", "8", "--set", "sketch.eps=7"], /outside/],

    [
        "a missing file",
        run(...inputs("none.npy"), "-o", "o.npy"),
        /none\.npy: cannot be opened: No such file/,
    ],
    [
        "a folder as a file",
        run(...inputs("x.npy", "."), "-o", "o.npy"),
        /\.: cannot be (opened|read)/,
    ],
    [
        "d that differs",
        run(...inputs("x.npy", "d5.npy"), "-o", "o.npy"),
        /Q \(6, 4\) and K \(6, 5\).* 4 and 5 columns/,
    ],
    [
        "m that differs",
        run(...inputs("x.npy", "m7.npy"), "-o", "o.npy"),
        /K \(7, 4\) and V \(6, 4\).* 7 and 6 rows/,
    ],
    [
        "heads of K and V",
        run(...inputs("heads2.npy", "heads2.npy"), "-o", "o.npy"),
        /2 and 1 heads/,
    ],
    [
        "H % Hkv",
        run(...inputs("heads3.npy", "heads2.npy", "heads2.npy"), "-o", "o.npy"),
        /\b3\b.*\b2\b/,
    ],
    ["batches", run(...inputs("batch2.npy"), "-o", "o.npy"), /2 and 1 batches/],

    [
        "an output without a folder",
        run(...inputs(), "-o", "none/o.npy"),
        /none\/o\.npy: cannot be written/,
    ],
    ["an output that is a folder", run(...inputs(), "-o", "folder"), /names a folder/],
    ["an output without a name", run(...inputs(), "-o", "folder/"), /names a folder/],
    [
        "one name for two outputs",
        run(...ok, "--lse", "o.npy"),
        /o\.npy is named for two outputs\n$/,
    ],
    [
        "a second output that fails",
        run(...ok, "--lse", "none/l.npy"),
        /none\/l\.npy: cannot be written/,
    ],
    [
        "a failure beside an old file",
        run(...inputs(), "-o", "old.npy", "--lse", "none/l.npy"),
        /cannot be written/,
    ],

    ["n of 0", ["bench", "--n", "0"], /--n: 0 is outside/],
    ["d of 0", ["bench", "--d", "8,0"], /--d: 0 is outside/],
    ["an empty list", ["bench", "--n="], /'' is not a whole number/],
    ["sizes that overflow", ["bench", "--n=1099511627776", "--d=1099511627776"], /^attn: /],

    ["no text", ["embed", "--dim", "4", "-o", "o.npy"], /TEXT\.txt is missing/],
    [
        "a missing text",
        ["embed", "none.txt", "--dim", "4", "-o", "o.npy"],
        /none\.txt: cannot be opened/,
    ],
    ["an empty text", ["embed", "empty.txt", "--dim", "4", "-o", "o.npy"], /has no word/],
    ["a blank text", ["embed", "blank.txt", "--dim", "4", "-o", "o.npy"], /has no word/],
    ["no dimension", ["embed", "text.txt", "-o", "o.npy"], /--dim is missing/],
    [
        "a dimension of 1",
        ["embed", "text.txt", "--dim", "1", "-o", "o.npy"],
        /--dim: 1 is outside 2 to/,
    ],

    ["a missing plugin", ["list", "--plugin", "none.so"], /none\.so/],
    ["a text as a plugin", ["list", "--plugin", "text.txt"], /text\.txt/],
];

/** [what, bytes of the .npy file, what the line says] */
const arrays = [
    ["an empty file", "", /is empty/],
    ["another kind of file", "PK\x03\x04 and so on", /is not an \.npy file/],
    ["the magic alone", x.subarray(0, 6), /is truncated/],
    ["half a header", x.subarray(0, 40), /is truncated/],
    ["no data", x.subarray(0, 128), /is truncated: 0 bytes of data where its shape needs 96/],
    ["one byte too few", x.subarray(0, x.length - 1), /is truncated: 95 bytes of data .* 96/],
    ["one byte too many", Buffer.concat([x, Buffer.alloc(1)]), /has bytes after its end: 97 bytes/],
    ["a later version", Buffer.from(x).fill(4, 6, 7), /version 4\.0/],
    ["big-endian float32", zeros([6, 4], ">f4"), /is big-endian \('>f4'\)/],
    ["big-endian float64", zeros([6, 4], ">f8"), /is big-endian \('>f8'\)/],
    ["big-endian float16", zeros([6, 4], ">f2"), /is big-endian \('>f2'\)/],
    ["int64", zeros([6, 4], "<i8"), /int64 \('<i8'\); only float32, float64 and float16 are read/],
    ["one float16 too few", zeros([6, 4], "<f2").subarray(0, -2), /46 bytes of data .* 48/],
    ["bool", zeros([6, 4], "|b1"), /bool \('\|b1'\)/],
    ["complex numbers", zeros([6, 4], "<c8"), /complex64/],
    ["text", zeros([6, 4], "<U9"), /unknown/],
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

/** Runs `call(folder)` and checks that it was refused and left everything as it was. */
function refuse(extra, call, says) {
    withFiles({ ...files, ...extra }, (folder) => {
        mkdirSync(join(folder, "folder"));
        const before = contents(folder);
        const { status, stdout, stderr } = call(folder);
        assert.equal(status, 2, stderr);
        assert.equal(stdout, "");
        assert.match(stderr, /^attn: [^\n]+\n$/);
        assert.match(stderr, says);
        assert.deepEqual(contents(folder), before);
    });
}

describe("wrong command lines", () => {
    for (const [name, args, says] of commands) {
        test(name, () => refuse({}, (folder) => attn(args, folder), says));
    }
});

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

    test("a name with a line break is still one line", () => {
        refuse(
            {},
            (folder) => attn(run(...inputs("a\nb.npy"), "-o", "o.npy"), folder),
            /a\?b\.npy/,
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
