// attn run --x: sparse X in place of Q and K gives what dense ones do, and what is no CSR is refused.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { random } from "./attention.mjs";
import { assertRefused, isWasi, attn, succeed, withFiles } from "./command.mjs";
import { csr, csrFiles, format, ints, members } from "./csr.mjs";
import { npy } from "./npy.mjs";
import { zip } from "./zip.mjs";

const [heads, n, d, dv] = [2, 9, 40, 3];
// Small whole numbers: where T has powers of two, no sum is rounded, and all forms of X give the same bits.
const numbers = random(heads * n * d, 5).map((x, i) =>
    i % 4 === 1 || i % d === d - 1 ? Math.round(4 * x) || 1 : 0,
);
const x = Array.from({ length: heads * n }, (_, i) =>
    i === 4 ? Array(d).fill(0) : numbers.slice(i * d, (i + 1) * d),
);
const { data, indices, indptr } = csr(x);
const files = {
    "x.npy": npy([heads, n, d], x.flat()),
    "v.npy": npy([heads, n, dv], random(heads * n * dv, 3)),
    ...csrFiles(x),
};
const inputs = [
    ["--x", "deflated.npz"],
    ["--x", "stored.npz"],
    ["--x-data", "data.npy", "--x-indptr", "indptr.npy", "--x-indices", "indices.npy"],
];
const last = ["--v", "v.npy", "-o", "o.npy"];

describe("attn run sketch --x", () => {
    for (const settings of [
        ["--set", "method=osnap", "--set", "size=12", "--seed", "3"],
        ["--set", "method=ams", "--set", "size=16", "--causal"],
        ["--set", "method=srht", "--set", "size=16", "--threads", "1"],
        ["--set", "method=leverage", "--set", "size=16", "--seed", "5"],
        ["--set", "size=40"],
    ])
        test(`${settings.join(" ")}: the same bits from every form of X`, () => {
            withFiles(files, (folder) => {
                const run = (...from) => {
                    const more = ["--weights", "w.npy", "--lse", "l.npy"];
                    const said = succeed(
                        ["run", "sketch", ...from, ...last, ...settings, ...more],
                        folder,
                    );
                    return [
                        said,
                        ["o", "w", "l"].map((f) => readFileSync(join(folder, `${f}.npy`))),
                    ];
                };
                const [, dense] = run("--q", "x.npy", "--k", "x.npy");
                for (const input of inputs) {
                    const [said, sparse] = run(...input);
                    assert.match(
                        said,
                        new RegExp(`X \\(${heads * n}, ${d}\\), ${data.length} elements, V`),
                    );
                    sparse.forEach((bytes, i) => assert.ok(bytes.equals(dense[i]), `${i}`));
                }
            });
        });

    test("--columns: features behind the last one that has an element", () => {
        withFiles(files, (folder) => {
            const run = (...more) =>
                succeed(["run", "sketch", ...inputs[2], ...last, ...more], folder);
            assert.match(run(), /X \(18, 40\)/);
            assert.match(run("--columns", "100"), /X \(18, 100\)/);
            // Of osnap's T no more is made than elements need. X written out would have to have an address.
            const columns = isWasi ? 2 ** 23 : 2 ** 31;
            const most = ["--columns", columns, "--set", "method=osnap", "--set", "size=8"];
            assert.ok(run(...most).includes(`X (18, ${columns})`));
        });
    });

    const archive = members(x);
    /** X with one byte of the directory's first entry changed. */
    const entryWith = (at, value) => {
        const bytes = Buffer.from(files["stored.npz"]);
        bytes[bytes.indexOf("PK\x01\x02") + at] = value;
        return bytes;
    };
    const wrong = {
        "coo.npz": zip({ ...archive, "format.npy": format("coo") }),
        "wide.npz": zip({ ...archive, "shape.npy": ints([heads * n, 2 ** 40], "<i8") }),
        "none.npz": zip({ ...archive, "shape.npy": ints([heads * n, 0], "<i8") }),
        "few.npz": zip({ ...archive, "shape.npy": ints([heads * n, d - 1], "<i8") }),
        "nan.npz": zip({
            ...archive,
            "data.npy": npy([data.length], [NaN, ...data.slice(1)], { descr: "<f8" }),
        }),
        "late.npz": zip({ ...archive, "indptr.npy": ints([1, ...indptr.slice(1)], "<i4") }),
        "falls.npz": zip({
            ...archive,
            "indptr.npy": ints([0, 99, ...indptr.slice(2)], "<i4"),
        }),
        "twice.npz": zip({
            ...archive,
            "indices.npy": ints([indices[1], ...indices.slice(1)], "<i4"),
        }),
        "less.npz": zip({ ...archive, "indices.npy": ints(indices.slice(1), "<i4") }),
        "empty.npz": zip(members(x.map((row) => row.map(() => 0)))),
        "cut.npz": files["deflated.npz"].subarray(0, 700),
        "text.npz": "no archive",
        "locked.npz": entryWith(8, 1),
        "packed.npz": entryWith(10, 12),
        "sum.npz": entryWith(16, 0xa5),
        "long.npz": entryWith(24, 0xff),
        "moved.npz": entryWith(42, 3),
        "short.npy": npy([n, dv], random(n * dv, 3)),
        "negative.npy": ints([-1, ...indices.slice(1)], "<i8"),
        "all-negative.npy": ints(
            indices.map(() => -7),
            "<i8",
        ),
        "huge.npy": ints([...indices.slice(1), 2 ** 31], "<i8"),
    };
    const [, , asArrays] = inputs;
    const refused = [
        [["--x", "coo.npz", ...last], /another form than CSR/],
        [["--x", "wide.npz", ...last], /1099511627776 features, must be 1 to 2\^31/],
        [["--x", "none.npz", ...last], /0 features, must be 1/],
        [["--x", "few.npz", ...last], /few\.npz.*has column 39, must be 0 to 38/],
        [["--x", "nan.npz", ...last], /nan\.npz.*element 0 is NaN/],
        [["--x", "late.npz", ...last], /late\.npz.*indptr: begins with 1/],
        [["--x", "falls.npz", ...last], /indptr: falls from 99/],
        [["--x", "twice.npz", ...last], /they have to ascend, each once/],
        [["--x", "less.npz", ...last], /indices for \d+ elements/],
        [["--x", "empty.npz", ...last], /empty\.npz: X has no elements: it has rank 0/],
        [["--x", "cut.npz", ...last], /is cut off: an archive ends with a directory/],
        [["--x", "text.npz", ...last], /is no .npz file/],
        [["--x", "moved.npz", ...last], /is not where the archive's directory has it/],
        [["--x", "locked.npz", ...last], /in it is encrypted/],
        [["--x", "packed.npz", ...last], /is packed by method 12, not stored or deflated/],
        [["--x", "long.npz", ...last], /in it is damaged: it does not unpack to \d+ bytes/],
        [["--x", "sum.npz", ...last], /in it is damaged: its CRC-32 is [\da-f]{8}, not [\da-f]{8}/],
        [["--x", "away.npz", ...last], /away.npz/],
        [["--x", "deflated.npz", "--v", "short.npy", "-o", "o.npy"], /X has 18 rows, V has 9/],
        [
            [...asArrays.slice(0, 4), "--x-indices", "negative.npy", ...last],
            /has column -1, must be 0 to 39/,
        ],
        [
            [...asArrays.slice(0, 4), "--x-indices", "all-negative.npy", ...last],
            /indices go up to column -7, must be 0 to 2\^31 - 1/,
        ],
        [
            [...asArrays.slice(0, 4), "--x-indices", "huge.npy", ...last],
            /indices go up to column 2147483648, must be 0 to 2\^31 - 1/,
        ],
        [[...asArrays, "--columns", "39", ...last], /has column 39, must be 0 to 38/],
        [
            [...asArrays, ...last, "--set", "method=leverage", "--set", "rank=3"],
            /'rank' is 3, and \[Q; K\] of key\/value head 0 has rank \d/,
        ],
        [[...asArrays, ...last, "--stream", "4", "--causal"], /--stream.*need --q and --k/],
        [[...asArrays, ...last, "--present-k", "pk.npy"], /--present-k.*need --q and --k/],
        [[...asArrays, ...last, "--q", "x.npy"], /--x stands for --q and --k/],
        [[...asArrays, ...last, "--input", "x_data=data.npy"], /--x stands for --input x_data/],
        [[...asArrays, ...last, "--past-k", "x.npy"], /has no past/],
        [[...asArrays, ...last, "--x", "stored.npz"], /two ways to say one thing/],
        [["--x", "-", ...last], /standard input is read once: give a file/],
        [[...asArrays, ...last, "--set", "elements=5"], /x_indices: shape .* needs .* 5\)/],
        [["--x", "stored.npz", "--x-indices", "indices.npy", ...last], /come together/],
        [["--x", "stored.npz", "--columns", "50", ...last], /--columns is for/],
        [["--x-data", "data.npy", ...last], /--x-data needs --x-indptr/],
        [["--x-indptr", "indptr.npy", "--q", "x.npy", "--k", "x.npy", ...last], /are for --x-data/],
        [["--columns", "3", "--q", "x.npy", "--k", "x.npy", ...last], /--columns are for --x-data/],
        [["--q", "x.npy", ...last], /run: --k is missing/],
        [["--k", "x.npy", ...last], /run: --q is missing, or --x for both/],
        [last, /run: --q is missing, or --x for both/],
        [
            ["indptr", "indices", "data"]
                .flatMap((f) => ["--input", `x_${f}=${f}.npy`])
                .concat(last),
            /--input x_indptr: a sparse X is given by --x, or by --x-data/,
        ],
    ];
    for (const [args, says] of refused)
        test(`refused: ${args.join(" ")}`, () => {
            withFiles({ ...files, ...wrong }, (folder) => {
                const command = ["run", "sketch", "--set", "method=osnap"];
                const given = args.includes("method=leverage") ? command.slice(0, 2) : command;
                assertRefused(attn([...given, ...args, "--set", "size=8"], folder), says);
            });
        });

    test("a dense X is Q and K", () => {
        withFiles(files, (folder) => {
            const run = (...from) => {
                succeed(["run", "softmax", ...from, ...last], folder);
                return readFileSync(join(folder, "o.npy"));
            };
            assert.ok(run("--x", "x.npy").equals(run("--q", "x.npy", "--k", "x.npy")));
        });
    });

    test("attn compare: sketches of CSR beside backends that have X written out", () => {
        withFiles(files, (folder) => {
            const settings = ["--set", "method=ams", "--set", "size=16", "--time", "0", "--json"];
            const compare = (...from) =>
                JSON.parse(succeed(["compare", ...from, "--v", "v.npy", ...settings], folder));
            const errors = ({ rows }) => rows.map((row) => [row.backend, row.error]);
            const dense = compare("--q", "x.npy", "--k", "x.npy");
            assert.deepEqual(errors(compare("--x", "x.npy")), errors(dense));
            for (const input of inputs) {
                const report = compare(...input);
                assert.deepEqual([report.q, report.k], [dense.q, dense.k]);
                assert.deepEqual(errors(report), errors(dense));
                const [of, sketch] = [dense, report].map(({ rows }) => rows[3]);
                assert.ok(sketch.workspace < of.workspace, "one sketch, not two");
                assert.equal(sketch.stream, null);
            }
            assertRefused(attn(["compare", "--v", "v.npy"], folder), /compare: --q is missing/);
        });
    });

    test("refused: another backend", () => {
        withFiles(files, (folder) => {
            assertRefused(
                attn(["run", "softmax", ...inputs[0], ...last], folder),
                /'softmax' has no input 'x_indptr'/,
            );
        });
    });
});
