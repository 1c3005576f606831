// `attn run --mpi`: the files of one process, whatever the options; and what goes wrong on one rank.

import assert from "node:assert/strict";
import {
    closeSync,
    existsSync,
    openSync,
    readdirSync,
    readlinkSync,
    realpathSync,
    rmSync,
    truncateSync,
    writeFileSync,
    writeSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { arrays, random } from "../cli/attention.mjs";
import { attn, attnAfter, contents, program, succeed, withFiles } from "../cli/command.mjs";
import { npy, read } from "../cli/npy.mjs";
import { ARGS, INPUTS, files, mask, refuse, sizes, square } from "./job.mjs";
import {
    RANKS,
    assertDone,
    assertRefused,
    begin,
    launch,
    onEach,
    onRanks,
    state,
} from "./ranks.mjs";

/**
 * Both compute the same sums in another order, each with an error below 2^-24 times the number of its roundings, d + m and a
 * few more, of terms that are no larger than the largest value.
 */
const tolerance = (most, { m, d }) => 2 ** -24 * (m + 4 * d + 64) * most;

/** One process and ranks write the same: shape, type, and numbers up to rounding (`coarse`: to half precision). */
function compare(given, args, coarse = 0, shape = sizes) {
    withFiles(given, (folder) => {
        succeed(["run", "softmax", ...INPUTS, ...args, "-o", "one.npy"], folder);
        assertDone(onRanks(RANKS, ["softmax", ...INPUTS, ...args, "-o", "many.npy"], folder));
        const [one, many] = ["one.npy", "many.npy"].map((name) => read(folder, name));
        assert.deepEqual([many.shape, many.descr], [one.shape, one.descr]);
        const most = Math.max(...one.data.map(Math.abs), 1);
        const allowed = tolerance(4 * most, shape) + coarse * most;
        one.data.forEach((x, i) =>
            assert.ok(
                Object.is(x, many.data[i]) || Math.abs(x - many.data[i]) <= allowed,
                `[${i}]: ${many.data[i]}, of one process ${x} +- ${allowed}`,
            ),
        );
    });
}

test("causal, in the corner and out of it", () => {
    compare(files(sizes), ["--causal"]);
    compare(files(sizes), ["--causal=bottom-right", "--scale", "0.7"]);
});

test("windows, ALiBi, softcap and sinks", () => {
    const rules = ["--window", "9,", "--alibi", "--softcap", "3", "--sinks", "1,2,-1,0.5"];
    compare(files(sizes), rules);
});

test("a mask by rows, a bias for all, and lengths", () => {
    const given = { ...files(sizes), "mask.npy": mask, "bias.npy": npy([37], random(37, 9)) };
    compare(given, ["--mask", "mask.npy", "--bias", "bias.npy", "--kv-lens", "31"]);
});

test("a past", () => {
    const past = {
        "pk.npy": npy([2, 11, 8], random(2 * 11 * 8, 5)),
        "pv.npy": npy([2, 11, 6], random(2 * 11 * 6, 6)),
    };
    compare({ ...files(sizes), ...past }, ["--causal", "--past-k", "pk.npy", "--past-v", "pv.npy"]);
});

test("one query", () => {
    const one = { ...sizes, n: 1, m: 90 };
    compare(files(one), ["--causal=bottom-right"], 0, one);
});

test("columns that a mask or a bias lacks, of keys that nobody sees", () => {
    const given = {
        ...files(sizes),
        "bias.npy": npy([45, 31], random(45 * 31, 9)),
        "mask.npy": npy(
            [45, 1],
            random(45, 8).map((x) => x > -0.5),
            { descr: "|b1" },
        ),
    };
    compare(given, ["--mask", "mask.npy", "--bias", "bias.npy", "--kv-lens", "31"]);
});

test("more ranks than rows", () => {
    const few = { ...sizes, n: 1, m: 1 };
    compare(files(few), [], 0, few);
    const bytes = (count, seed) => random(count, seed).map((x) => Math.round(40 * x));
    const ints = {
        ...files(few),
        "k.npy": npy([2, 1, 8], bytes(16, 1), { descr: "|i1" }),
        "v.npy": npy([2, 1, 6], bytes(12, 2), { descr: "|i1" }),
    };
    for (const shape of [
        [2, 1],
        [2, 1, 1],
        [1, 2, 1, 1],
    ])
        compare(
            { ...ints, "s.npy": npy(shape, [0.02, 0.03]) },
            ["--key-scales", "s.npy", "--value-scales", "s.npy"],
            0,
            few,
        );
});

test("float16, float64 and int8 with scales", () => {
    compare(files(sizes, { descr: "<f2" }), ["--causal"], 2 ** -11);
    compare(files(sizes, { descr: ">f8" }), []);
    const bytes = (count, seed) => random(count, seed).map((x) => Math.round(40 * x));
    const scales = npy(
        [2, 37],
        random(74, 3).map((x) => 0.02 + 0.005 * Math.abs(x)),
    );
    const given = {
        ...files(sizes),
        "k.npy": npy([2, 37, 8], bytes(2 * 37 * 8, 1), { descr: "|i1" }),
        "v.npy": npy([2, 37, 6], bytes(2 * 37 * 6, 2), { descr: "|i1" }),
        "s.npy": scales,
    };
    compare(given, ["--key-scales", "s.npy", "--value-scales", "s.npy"]);
});

/** The same of outputs beside it: files of those names. */
function compareOutputs(given, args, names, coarse = 0) {
    withFiles(given, (folder) => {
        const into = (i) => args.map((word) => word.replace("@", `${i}`));
        succeed(["run", ...into(1), "-o", "one.npy"], folder);
        assertDone(onRanks(RANKS, [...into(2), "-o", "many.npy"], folder));
        for (const name of names) {
            const [one, many] = [1, 2].map((i) => read(folder, `${name}${i}.npy`));
            assert.deepEqual([many.shape, many.descr], [one.shape, one.descr], name);
            const most = Math.max(...one.data.map(Math.abs).filter(Number.isFinite), 1);
            // Sums of weights times values that are sums themselves.
            const allowed = 8 * tolerance(4 * most, sizes) + coarse * most;
            one.data.forEach((x, i) =>
                assert.ok(
                    Object.is(x, many.data[i]) || Math.abs(x - many.data[i]) <= allowed,
                    `${name}[${i}]: ${many.data[i]}, of one process ${x} +- ${allowed}`,
                ),
            );
        }
    });
}

const grads = (...names) => names.flatMap((name) => ["--grad", `${name}=${name}@.npy`]);
const loss = { "do.npy": npy([4, 45, 6], random(4 * 45 * 6, 21)) };

test("gradients by rows, of rules that ranks share, too", () => {
    const bias = {
        "row.npy": npy([37], random(37, 9)),
        "b.npy": npy([45, 37], random(45 * 37, 7)),
    };
    const given = { ...files(sizes), ...loss, ...bias };
    const inputs = ["softmax", ...INPUTS, "--grad", "out=do.npy"];
    const three = ["query", "key", "value"];
    const rules = ["--causal", "--sinks", "1,2,-1,0.5", "--alibi"];
    const all = [...three, "sinks", "slopes"];
    compareOutputs(given, [...inputs, ...rules, ...grads(...all)], all);
    for (const file of ["row.npy", "b.npy"])
        compareOutputs(given, [...inputs, "--bias", file, ...grads("query", "bias")], ["bias"]);
    const past = {
        "pk.npy": npy([2, 11, 8], random(2 * 11 * 8, 5)),
        "pv.npy": npy([2, 11, 6], random(2 * 11 * 6, 6)),
    };
    const after = ["--causal", "--past-k", "pk.npy", "--past-v", "pv.npy", ...grads(...three)];
    compareOutputs({ ...given, ...past }, [...inputs, ...after], three);
    const half = { ...files(sizes, { descr: "<f2" }), ...loss };
    compareOutputs(half, [...inputs, ...grads(...three)], three, 2 ** -9);
    const pattern = ["--set", "pattern=longformer", "--set", "block=4", "--set", "global=3"];
    const sparse = ["sparse", ...inputs.slice(1), ...pattern];
    compareOutputs(given, [...sparse, ...grads(...three)], three);
});

test("gradients of linear attention, through states", () => {
    const given = {
        ...files(square),
        ...loss,
        "s.npy": npy([2, 8, 6], random(96, 3)),
        "z.npy": npy(
            [2, 8],
            random(16, 4).map((x) => 9 + Math.abs(x)),
        ),
    };
    const run = ["linear", ...INPUTS, "--grad", "out=do.npy"];
    const three = ["query", "key", "value"];
    compareOutputs(given, [...run, ...grads(...three)], three);
    const states = ["--causal", "--input", "state=s.npy", "--input", "state_z=z.npy"];
    const all = [...three, "state", "state_z"];
    compareOutputs(given, [...run, ...states, ...grads(...all)], all);
});

/** Of one call: no rank is busy for longer than all of them are at it. */
function assertTimes({ seconds, computing, waiting }) {
    assert.ok(seconds > 0 && computing > 0 && waiting >= 0);
    assert.ok(computing <= seconds && waiting <= seconds, `${[seconds, computing, waiting]}`);
}

test("a run's times, and its gradients' own", () => {
    const long = { H: 2, Hkv: 2, n: 900, m: 900, d: 64, dv: 64 };
    const given = { ...files(long), "do.npy": npy([2, 900, 64], random(2 * 900 * 64, 21)) };
    withFiles(given, (folder) => {
        const run = ["softmax", ...INPUTS, "-o", "o.npy"];
        const back = ["--grad", "out=do.npy", "--grad", "key=dk.npy", "--grad", "query=dq.npy"];
        const report = (...more) => {
            const done = onRanks(RANKS, [...run, ...more], folder);
            assertDone(done);
            return done.stdout;
        };
        const both = JSON.parse(report(...back, "--json"));
        assertTimes(both);
        assertTimes(both.gradients);
        assert.notEqual(both.computing, both.gradients.computing);
        assert.equal(JSON.parse(report("--json")).gradients, null);
        const ms = "[0-9.e+-]+ ms";
        const rest = `${ms}; the longest of a rank: computing ${ms}, waiting ${ms}`;
        const lines = new RegExp(`^time +${rest}\n(speed .*\n)?gradients +${rest}\n$`, "m");
        assert.match(report(...back), lines);
        assert.doesNotMatch(report(), /gradients/);
    });
});

test("gradients that are wrong", () => {
    const back = (...words) => ({ args: [...ARGS, ...words] });
    const right = back("--grad", "out=do.npy", "--grad", "key=dk.npy");
    refuse([right, back("--grad", "out=do.npy", "--grad", "key=d.npy")], /differ in outputs/, loss);
    const other = { ...loss, "d2.npy": loss["do.npy"] };
    refuse([right, back("--grad", "out=d2.npy", "--grad", "key=dk.npy")], /differ in out/, other);
    const none = back("--grad", "out=do.npy", "--grad", "bias=db.npy");
    refuse([none, none], /--grad: the run has no bias/, loss);
    const short = { "do.npy": npy([4, 44, 6], random(4 * 44 * 6, 21)) };
    refuse([right, right], /do.npy: the gradient of out is \(4, 44, 6\), out itself/, short);
    const linear = ["linear", ...right.args.slice(1), "--causal", "--set", "rule=delta"];
    const beta = ["--input", "beta=0.1"];
    const delta = { args: [...linear, ...beta] };
    const more = { ...files(square), ...loss };
    refuse([delta, delta], /gradients of linear are split over ranks for rule=linear/, more);
});

test("scores of every stage", () => {
    for (const mode of [0, 1, 2, 3]) {
        const scores = ["--output", "scores=s@.npy", "--scores-mode", `${mode}`];
        const rules = ["--causal", "--softcap", "3", "--sinks", "1,2,-1,0.5", "--kv-lens", "31"];
        compareOutputs(files(sizes), ["softmax", ...INPUTS, ...rules, ...scores], ["s"]);
    }
    const one = { ...sizes, n: 1, m: 90 };
    compareOutputs(files(one), ["softmax", ...INPUTS, "--output", "scores=s@.npy"], ["s"]);
});

test("sparse patterns, block masks and sketches", () => {
    const run = (backend, ...settings) => [
        ...[backend, ...INPUTS, "--output", "lse=l@.npy"],
        ...settings.flatMap((setting) => ["--set", setting]),
    ];
    const given = files(sizes);
    for (const pattern of ["band", "window", "longformer", "bigbird", "strided"])
        compareOutputs(given, [...run("sparse", `pattern=${pattern}`), "--causal"], ["l"]);
    const blocks = npy(
        [12, 10],
        random(120, 3).map((x) => x > -0.3),
        { descr: "|b1" },
    );
    const mask = ["--input", "block_mask=blocks.npy"];
    const listed = [...run("sparse", "pattern=blocks", "block=4"), ...mask];
    compareOutputs({ ...given, "blocks.npy": blocks }, listed, ["l"]);
    for (const method of ["gaussian", "srht"])
        compareOutputs(given, [...run("sketch", `method=${method}`, "size=4"), "--causal"], ["l"]);
    const topk = { args: ["sparse", ...ARGS.slice(1), "--set", "pattern=topk"] };
    refuse([topk, topk], /mpi: topk is not split over ranks: it chooses among all keys/);
    const leverage = { args: ["sketch", ...ARGS.slice(1), "--set", "method=leverage"] };
    refuse([leverage, leverage], /mpi: method=leverage is not split over ranks/);
});

test("lse beside the result, and the same bits again", () => {
    withFiles(files(sizes), (folder) => {
        const args = ["softmax", ...INPUTS, "--causal"];
        const outputs = (i) => ["-o", `o${i}.npy`, "--output", `lse=l${i}.npy`];
        for (const i of [1, 2]) assertDone(onRanks(RANKS, [...args, ...outputs(i)], folder));
        const now = contents(folder);
        assert.equal(now["o1.npy"], now["o2.npy"]);
        assert.equal(now["l1.npy"], now["l2.npy"]);
        assert.deepEqual(read(folder, "l1.npy").shape, [4, 45]);
        const json = onRanks(RANKS, [...args, ...outputs(3), "--json"], folder);
        const report = JSON.parse(json.stdout);
        assert.deepEqual([report.ranks, report.layout, report.sizes.m], [RANKS, "zigzag", 37]);
    });
});

/** A file of zeros that takes no room. */
function makeHole(folder, name, shape) {
    const head = npy(shape, []);
    writeFileSync(join(folder, name), head);
    truncateSync(join(folder, name), head.length + 4 * shape.reduce((a, b) => a * b));
}

// ---- what goes wrong -----------------------------------------------------------------------------

test("an option that is none, on one rank or on all", () => {
    refuse([{ args: ARGS }, { args: [...ARGS, "--cau"] }], /rank 1: run: unknown option/);
    const wrong = { args: [...ARGS, "--kv-lens", "38"] };
    refuse([wrong, wrong], /kv_lengths: sequence 0 has 38 keys/);
    for (const [option, says] of [
        [["--stream", "4"], /--mpi has no --stream/],
        [["--weights", "w.npy"], /--mpi has no --weights/],
        [["--error"], /--mpi has no --error/],
    ])
        refuse([{ args: [...ARGS, ...option] }, { args: [...ARGS, ...option] }], says);
});

test("a file that is shorter, missing or another one on one rank", () => {
    const other = (name) => ({ args: ARGS.map((word) => (word === "k.npy" ? name : word)) });
    const whole = files(sizes)["k.npy"];
    const more = {
        "short.npy": whole.subarray(0, whole.length - 4),
        "fewer.npy": files({ ...sizes, m: 36 })["k.npy"],
        "fortran.npy": npy([2, 37, 8], random(2 * 37 * 8, 1), { fortran: true }),
    };
    refuse([{ args: ARGS }, other("short.npy")], /rank 1: short.npy is truncated/, more);
    refuse([other("none.npy"), { args: ARGS }], /rank 0: none.npy: cannot be opened/, more);
    refuse([{ args: ARGS }, other("fewer.npy")], /rank 1: K .* and V .* do not fit/, more);
    refuse([{ args: ARGS }, other("fortran.npy")], /rank 1: fortran.npy: is in Fortran/, more);
});

test("a bias or a gate that is not finite", () => {
    const numbers = random(45 * 37, 9);
    numbers[40 * 37 + 3] = NaN;
    const bias = { args: [...ARGS, "--bias", "bias.npy"] };
    const says = /--bias: bias.npy has NaN at \(0, 0, 40, 3\)/;
    refuse([bias, bias], says, { "bias.npy": npy([45, 37], numbers) });
    const decay = random(90, 4).map((x, i) => (i === 60 ? Infinity : -Math.abs(x)));
    const gates = ["--causal", "--set", "rule=gated", "--input", "decay=decay.npy"];
    const linear = { args: ["linear", ...ARGS.slice(1), ...gates] };
    const given = { ...files(square), "decay.npy": npy([2, 45, 1], decay) };
    refuse([linear, linear], /decay: decay.npy has inf at \(0, 1, 15, 0\)/, given);
});

test("an output that cannot be written", () => {
    const to = (path) => ({ args: [...ARGS.slice(0, -1), path] });
    refuse([to("no/o.npy"), to("no/o.npy")], /rank 0: no\/o.npy: cannot be written/);
    refuse([to("-"), to("-")], /-: ranks write their rows to a file/);
});

test("a rank whose files may not grow leaves nothing behind", () => {
    withFiles(files(sizes), (folder) => {
        makeHole(folder, "q.npy", [4, 200_000, 8]); // 19 MB of results; MPI's own files are smaller
        const before = readdirSync(folder);
        const limited = { setup: "ulimit -f 16384", args: ARGS };
        const result = onEach([{ args: ARGS }, limited], folder);
        assertRefused(result, /rank 1: o.npy: cannot be written/);
        assert.deepEqual(readdirSync(folder), before);
    });
});

/** Ranks of which the last is some other program; what MPI itself says of it is its own. */
function withOther(other, folder) {
    const joining = [program, "run", "--mpi", ...ARGS, "--mpi-wait", "1"];
    return launch(["-n", `${RANKS}`, ...joining, ":", "-n", "1", ...other], folder);
}

test("a rank that never joins ends the job when its time is up", () => {
    withFiles(files(sizes), (folder) => {
        const alone = [program, "run", ...ARGS.slice(0, -1), "alone.npy"];
        for (const other of [["true"], alone]) {
            const { status, lines, stderr } = withOther(other, folder);
            assert.notEqual(status, 0, stderr);
            assert.ok(lines.length > 0, stderr);
            for (const line of lines) assert.match(line, /after 1 s not all ranks have joined/);
        }
        assert.ok(!existsSync(join(folder, "o.npy")));
    });
});

// What MPI asks for is a matter of its version: a rank has enough, or all end.
test("a rank without memory for MPI ends the job", () => {
    const waiting = [...ARGS, "--mpi-wait", "20"];
    for (const kilobytes of [20_000, 40_000, 60_000])
        withFiles(files(sizes), (folder) => {
            const limited = { setup: `ulimit -v ${kilobytes}`, args: waiting };
            const { status, stderr } = onEach([{ args: waiting }, limited], folder);
            assert.equal(existsSync(join(folder, "o.npy")), status === 0, stderr);
            if (kilobytes === 20_000) assert.notEqual(status, 0, stderr);
        });
});

test("a rank that is asked for help tells the others", () => {
    refuse([{ args: ARGS }, { args: [...ARGS, "--help"] }], /rank 1: --help: this rank was asked/);
    refuse([{ args: ["-h"] }, { args: ARGS }], /rank 0: --help: this rank was asked/);
    withFiles(files(sizes), (folder) => {
        const { status, stdout, lines } = onRanks(RANKS, ["--help"], folder);
        assert.deepEqual([status, lines], [0, []]);
        assert.match(stdout, /--mpi-wait/);
    });
});

test("how long to wait is a number, and of ranks", () => {
    const wrong = { args: [...ARGS, "--mpi-wait", "soon"] };
    refuse([wrong, wrong], /--mpi-wait/);
    withFiles(files(sizes), (folder) => {
        const { status, stderr } = attn(["run", ...ARGS, "--mpi-wait", "3"], folder);
        assert.equal(status, 2);
        assert.match(stderr, /--mpi-wait needs --mpi/);
    });
});

/** The processes of a job that have the file open: they are in their run, or about to begin it. */
function ranksWith(path) {
    const holding = (pid) => {
        try {
            return readdirSync(`/proc/${pid}/fd`).some(
                (fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === path,
            );
        } catch {
            return false; // it is gone, or not ours
        }
    };
    return readdirSync("/proc").filter((pid) => /^[0-9]+$/.test(pid) && holding(pid));
}

test("a rank that is killed within its run ends the job", async () => {
    const long = { H: 8, Hkv: 8, n: 12_000, m: 12_000, d: 64, dv: 64 };
    const shape = [long.H, long.n, long.d];
    await withFiles({}, async (folder) => {
        for (const name of ["q.npy", "k.npy", "v.npy"]) makeHole(folder, name, shape);
        const before = readdirSync(folder);
        const job = begin(RANKS, ARGS, folder);
        const found = await state(() => {
            const pids = ranksWith(join(realpathSync(folder), "v.npy"));
            return pids.length === RANKS && pids;
        });
        process.kill(Number(found.at(-1)), "SIGKILL");
        assert.notEqual(await job, 0);
        assert.deepEqual(
            readdirSync(folder).filter((name) => !name.startsWith(".attn-")),
            before,
        );
    });
});

test("a rank that is killed ends the job", () => {
    withFiles(files(sizes), (folder) => {
        const before = contents(folder);
        const result = onEach([{ args: ARGS }, { setup: "kill -9 $$", args: ARGS }], folder);
        assert.notEqual(result.status, 0);
        assert.deepEqual(contents(folder), before);
    });
});

// ---- linear ----------------------------------------------------------------------------------------

/** The same of linear, with states; they have as many sums as rows of Q and K have columns. */
function compareLinear(given, args) {
    withFiles(given, (folder) => {
        const run = ["linear", ...INPUTS, ...args];
        const outputs = (i) => ["-o", `o${i}.npy`, "--output", `state_out=s${i}.npy`];
        succeed(["run", ...run, ...outputs(1)], folder);
        assertDone(onRanks(RANKS, [...run, ...outputs(2)], folder));
        for (const name of ["o", "s"]) {
            const [one, many] = [1, 2].map((i) => read(folder, `${name}${i}.npy`));
            assert.deepEqual(many.shape, one.shape);
            const most = Math.max(...one.data.map(Math.abs), 1);
            one.data.forEach((x, i) =>
                assert.ok(
                    Math.abs(x - many.data[i]) <= tolerance(4 * most, square),
                    `${name}[${i}]`,
                ),
            );
        }
    });
}

test("linear attention by states, with gates by rows and in lists", () => {
    const given = {
        ...files(square),
        "decay.npy": npy(
            [2, 45, 1],
            random(90, 4).map((x) => -Math.abs(x)),
        ),
        "beta.npy": npy(
            [2, 45],
            random(90, 5).map((x) => 0.1 + 0.1 * Math.abs(x)),
        ),
    };
    compareLinear(given, []);
    compareLinear(given, ["--causal"]);
    compareLinear(given, ["--causal", "--set", "rule=gated", "--input", "decay=decay.npy"]);
    const delta = ["--set", "rule=gated_delta", "--set", "feature_map=lin"];
    const gates = ["--input", "beta=beta.npy", "--input", "decay=-0.1,-0.2"];
    compareLinear(given, ["--causal", ...delta, ...gates]);
});

// ---- the example ------------------------------------------------------------------------------------

test("the example of the manual gets what one process gets", () => {
    const [heads, n, d] = [3, 41, 8];
    const [q, k, v] = arrays({ H: heads, n, d });
    const shape = [heads, n, d];
    const given = { "q.npy": npy(shape, q), "k.npy": npy(shape, k), "v.npy": npy(shape, v) };
    withFiles(given, (folder) => {
        const example = process.env.ATTN_MPI_EXAMPLE;
        const words = ["-n", `${RANKS}`, example, `${heads}`, `${n}`, `${d}`];
        const done = launch(words, folder);
        assertDone(done);
        const off = [...done.stdout.matchAll(/is off by (\S+)$/gm)].map(([, x]) => Number(x));
        assert.equal(off.length, RANKS);
        for (const x of off) assert.ok(x <= tolerance(4, { m: n, d }), `${x}`);
        succeed(["run", "softmax", ...INPUTS, "--causal", "-o", "one.npy"], folder);
        const [one, many] = [read(folder, "one.npy"), read(folder, "o.npy")];
        one.data.forEach((x, i) =>
            assert.ok(Math.abs(x - many.data[i]) <= tolerance(4, { m: n, d })),
        );
        rmSync(join(folder, "k.npy"));
        const { status, stderr } = launch(words, folder);
        assert.notEqual(status, 0);
        assert.match(stderr, /^rank 0: k.npy: its rows cannot be read$/m);
    });
});

// ---- memory ----------------------------------------------------------------------------------------

/** Keys that are all zero weigh alike: the result is the mean of the values. */
function makeLong(folder, rows) {
    const [heads, d] = [2, 64];
    for (const name of ["k.npy", "v.npy"]) makeHole(folder, name, [heads, rows, d]);
    const [file, head] = [openSync(join(folder, "v.npy"), "r+"), npy([heads, rows, d], []).length];
    for (const [row, x] of [
        [0, 3],
        [rows / 2, -5],
        [rows - 1, 7],
    ])
        writeSync(file, Float32Array.of(x * rows), 0, 4, head + row * d * 4);
    closeSync(file);
    writeFileSync(join(folder, "q.npy"), npy([4, 3, d], random(4 * 3 * d, 1)));
}

test("files that no rank could read whole", () => {
    withFiles({}, (folder) => {
        const limit = (kilobytes) => ({ setup: `ulimit -v ${kilobytes}`, args: ARGS });
        makeLong(folder, 600_000);
        const alone = attnAfter("ulimit -v 450000", ["run", ...ARGS], folder);
        assert.match(alone.stderr, /no memory/);
        assertDone(onEach(Array(4).fill(limit(450_000)), folder));
        const { data } = read(folder, "o.npy");
        data.forEach((x, i) => {
            const mean = i % 64 === 0 && i < 2 * 3 * 64 ? 3 - 5 + 7 : 0; // of the first two heads of four
            assert.ok(Math.abs(x - mean) <= 2 ** -20 * 15, `[${i}]: ${x}, not ${mean}`);
        });
        rmSync(join(folder, "o.npy"));
        const before = readdirSync(folder);
        const last = { setup: "ulimit -v 450000", args: ARGS };
        const tight = { setup: "ulimit -v 200000", args: ARGS };
        assertRefused(onEach([last, last, last, tight], folder), /rank 3: .*no memory/);
        assert.deepEqual(readdirSync(folder), before);
    });
});
