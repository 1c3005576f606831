// No memory: whichever allocation fails, a command ends with one line and all its files, or none.

import assert from "node:assert/strict";
import { cpus } from "node:os";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";

import { random } from "./attention.mjs";
import { program, shim, withFiles } from "./command.mjs";
import { npy } from "./npy.mjs";

const half = (shape, seed) =>
    npy(
        shape,
        random(
            shape.reduce((a, b) => a * b),
            seed,
        ),
        { descr: "<f2" },
    );
const arrays = {
    "x.npy": npy([6, 4], random(24, 1)),
    "half.npy": half([6, 4], 2),
    "mask.npy": npy([6, 1], new Array(6).fill(1), { descr: "|b1" }),
    "bias.npy": half([6, 12], 3),
    "wide.npy": npy(
        [3, 40],
        random(120, 4).map((x) => x / 25),
    ),
    "tall.npy": npy(
        [6, 4],
        Array.from({ length: 24 }, (_, at) => ((at >> 2) + 1) * ((at & 3) + 1) * 0.005), // rank 1
    ),
    "data.npy": npy([3], [0.01, 0.02, 0.03]),
    "p.npy": npy([3], [0, 1, 3], { descr: "<i8" }),
    "i.npy": npy([3], [2, 0, 4], { descr: "<i4" }),
    "text.txt": 'some "words", and some more',
};
const files = Object.fromEntries(
    Object.entries(arrays).map(([name, data]) => [name, Buffer.from(data).toString("latin1")]),
);
const inputs = ["--q", "x.npy", "--k", "x.npy", "--v", "x.npy"];
/** [what, arguments, whether its standard output is the same each time] */
const commands = [
    ["list", ["list"], true],
    ["list --json", ["list", "--json"], true],
    ["run", ["run", "softmax", ...inputs, "-o", "o.npy", "--lse=l.npy", "--weights=w.npy"]],
    [
        "run with everything",
        [
            ...["run", "softmax", ...inputs.slice(0, 2), "--k", "half.npy", "--v", "half.npy"],
            ...["--past-k", "x.npy", "--past-v", "half.npy", "--mask", "mask.npy"],
            ...["--bias", "bias.npy", "--sinks", "1", "--alibi", "--kv-lens", "9"],
            ...["--scores", "s.npy", "--present-k", "pk.npy", "--present-v", "pv.npy"],
            ...["-o", "o.npy", "--threads", "2"],
        ],
    ],
    ...["linear", "sparse", "sketch"].map((backend) => [
        `run ${backend}`,
        ["run", backend, ...inputs, "-o", "o.npy"],
    ]),
    ["run to standard output", ["run", "softmax", ...inputs, "-o", "-", "--lse=l.npy"], true],
    ["compare", ["compare", ...inputs, "--time", "0"]],
    ["compare --json", ["compare", ...inputs, "--time", "0", "--json"]],
    ["bench", ["bench", "--backend=linear", "--n=8", "--d=4", "--heads=1", "--time=0"]],
    ["embed", ["embed", "text.txt", "--dim", "4", "-o", "o.npy"], true],
    ["embed --json", ["embed", "text.txt", "--dim", "4", "-o", "o.npy", "--json"], true],
    ...["approximate", "deterministic", "srht"].map((method) => [
        `sketch by ${method}`,
        [
            ...["sketch", "wide.npy", "--method", method, "--size", "30", "-o", "o.npy"],
            ...["--report", "--algebra", "plain"],
        ],
    ]),
    [
        "sketch of more rows than features",
        [
            "sketch",
            "tall.npy",
            "--method",
            "leverage",
            "--size=3",
            "--report",
            "--algebra",
            "plain",
        ],
    ],
    [
        "sketch of CSR",
        [
            ...["sketch", "data.npy", "--x-indptr", "p.npy", "--x-indices", "i.npy", "--size", "2"],
            ...["--method", "osnap", "-o", "o.npy", "--algebra", "plain"],
        ],
    ],
    ["lab list", ["lab", "list"], true],
    ["lab list --json", ["lab", "list", "--json"], true],
];

/** A panel of every lab, but separation's panels with their hundred points. */
const panels = [
    ["separation", "4b", "--trials", "1"],
    ["softmax-regression", "radius", "--trials", "1"],
    ["sparsification", "r", "--trials", "1", "--set", "n=8", "--set", "d=16"],
    ["constructions", "dimension"],
    ["complexity", "memory"],
];

/** {status, signal, stdout, stderr} of the program in `folder` with its `fail`-th allocation failing. */
function attn(args, folder, fail, log) {
    const env = { ...process.env, LD_PRELOAD: shim, ATTN_SHIM_FAIL: fail };
    if (log) env.ATTN_SHIM_LOG = log;
    const options = { cwd: folder, env, encoding: "latin1" };
    return new Promise((resolve) =>
        execFile(program, args, options, (error, stdout, stderr) =>
            resolve({ status: error ? error.code : 0, signal: error?.signal, stdout, stderr }),
        ),
    );
}

/** Everything in a folder, by path. */
function tree(folder) {
    return Object.fromEntries(
        readdirSync(folder, { recursive: true })
            .sort()
            .map((name) => [
                name,
                statSync(join(folder, name)).isFile() && readFileSync(join(folder, name), "latin1"),
            ]),
    );
}

/**
 * Of cases those that ATTN_TEST_SHARE leaves, evenly, as tests/support/test.h has it: the first and a share of the
 * others. Where nothing is said it is a third, as each is a process: 1 takes some minutes.
 */
function shareOf(cases) {
    const share = Number(process.env.ATTN_TEST_SHARE ?? 0.33);
    return cases.filter((_, i) => (i * 0.6180339887498949) % 1 < share);
}

/**
 * Calls `body(k, folder)` for k = 1 to `count`, and for every `step`-th "k+", each in a folder that holds `before`
 * alone: the last one, where `body` says that it does still.
 */
async function forEach(count, step, folder, before, body) {
    const all = Array.from({ length: count }, (_, i) => `${i + 1}`);
    const ks = shareOf([...all, ...all.filter((k) => k % step === 0).map((k) => `${k}+`)]);
    const worker = async (name) => {
        const own = join(folder, `${name}`);
        let holds = false;
        for (let k; (k = ks.shift());) {
            if (!holds) fill(own, before);
            holds = await body(k, own);
        }
        rmSync(own, { recursive: true, force: true });
    };
    await Promise.all(cpus().map((_, i) => worker(i)));
}

/** How often the program allocates, and what it makes of `before`: {count, stdout, files}. */
async function measure(args, folder, before) {
    let found;
    await forEach(1, 2, folder, before, async (_, own) => {
        const log = join(folder, "log");
        const { status, stdout, stderr } = await attn(args, own, "0", log);
        assert.equal(status, 0, stderr);
        const [, count] = readFileSync(log, "utf8").match(/allocations (\d+)\n$/);
        found = { count: Number(count), stdout, files: tree(own) };
    });
    return found;
}

function fill(folder, files) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    for (const [file, data] of Object.entries(files)) {
        mkdirSync(join(folder, file, ".."), { recursive: true });
        writeFileSync(join(folder, file), data, "latin1");
    }
}

const linesOf = (text) => text.split("\n").length;
const MESSAGE = /^attn: [^\n]*(no memory|cannot allocate|out of memory|starts no)[^\n]*\n$/i;

describe("whichever allocation fails", { skip: !shim && "needs the shim" }, () => {
    for (const [what, args, isSame] of commands) {
        test(what, () =>
            withFiles({}, async (folder) => {
                const good = await measure(args, folder, files);
                assert.ok(good.count > 0);
                let refused = 0;
                await forEach(good.count, 1, folder, files, async (k, own) => {
                    const { status, signal, stdout, stderr } = await attn(args, own, k);
                    const where = `${k}: status ${status}, signal ${signal}: ${stderr}`;
                    if (status === 0) {
                        assert.equal(stderr, "", where);
                        if (isSame) assert.equal(stdout, good.stdout, where);
                        else assert.equal(linesOf(stdout), linesOf(good.stdout), where);
                        assert.deepEqual(tree(own), good.files, where);
                        return false;
                    }
                    refused++;
                    assert.equal(status, 2, where);
                    assert.match(stderr, MESSAGE, where);
                    assert.doesNotMatch(stderr, /\b0 bytes or more/, where);
                    assert.equal(stdout, "", where);
                    assert.deepEqual(tree(own), files, where);
                    return true;
                });
                assert.ok(refused > 0 || good.count === 1);
            }),
        );
    }

    // What is finished is kept: the same command goes on from there.
    for (const [name, panel, ...settings] of panels) {
        test(`lab run ${name} --panel ${panel}`, () =>
            withFiles({}, async (folder) => {
                const args = ["lab", "run", name, "--panel", panel, ...settings];
                args.push("--threads", "1", "-o", "out");
                const good = await measure(args, folder, {});
                await forEach(good.count, 10, folder, {}, async (k, own) => {
                    const { status, signal, stderr } = await attn(args, own, k);
                    const where = `${k}: status ${status}, signal ${signal}: ${stderr}`;
                    if (status === 0) {
                        assert.equal(stderr, "", where);
                        assert.deepEqual(tree(own), good.files, where);
                        return;
                    }
                    assert.ok(status === 2 || /starts no thread/.test(stderr), where);
                    assert.match(
                        stderr.replace(/attn: stopped: [^\n]+ are finished .*\n/, ""),
                        MESSAGE,
                        where,
                    );
                    for (const [path, data] of Object.entries(tree(own))) {
                        if (path.endsWith(".points"))
                            assert.ok(good.files[path].startsWith(data), where);
                        else assert.equal(data, good.files[path], `${path}: ${where}`);
                    }
                    if (parseInt(k) % 5) return; // one in five tells, and takes less long
                    const again = await attn(args, own, "0");
                    assert.equal(again.status, 0, `${where}, then: ${again.stderr}`);
                    assert.deepEqual(tree(own), good.files, where);
                });
            }));
    }
});
