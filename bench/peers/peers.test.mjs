// The parts that need no peer: numbers, tables, figures. Figures are drawn where jsdom is installed, models
// read back where onnx-proto is. `node --test bench/peers/*.test.mjs`

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { commitOf } from "./measure/commit.mjs";
import { compress } from "./measure/layouts.mjs";
import { encodeModel, makers } from "./contenders/models.mjs";
import { commandOf } from "./measure/measure.mjs";
import { inRoot } from "./measure/paths.mjs";
import { mostOf, peaksOf } from "./measure/peaks.mjs";
import { plot } from "./results/plot.mjs";
import { beginningOf, fastestOf, heldAgainst, labelOf, rowsOf, times } from "../report/lines.mjs";
import { resultsOf } from "./results/results.mjs";
import { bytesOf, contenderOf, families, flopsOf, participants, selectRows } from "./rows/rows.mjs";
import { units } from "./rows/tasks.mjs";
import { summarize } from "./measure/statistics.mjs";
import { csv, digits, markdown, percent } from "./results/table.mjs";
import { sizesOf } from "./measure/task.mjs";
import { spinner } from "./contenders/wasm_peak.mjs";
import { peer, swapAxes } from "./contenders/worker.mjs";

const peaks = {
    ...{ flops: 200, flops2: 400, avx2: 100, read: 15, read2: 30, state: 60 },
    ...{ wasm: 40, wasm2: 80, chromium: 50 },
};
const [full] = selectRows(["full-4096-64"]);
const [row] = full.rows;

/** The peaks of a row's contenders, each as fast as `peaks` has it in most of its calls. */
function peakEntries(contenders, family) {
    return peaksOf(contenders, family).map((contender) => {
        const seconds = contender.task.amount / (1e9 * peaks[contender.name]);
        return { contender, about: "", failure: "", times: [seconds, seconds / 2, 2 * seconds] };
    });
}

/** The family's first row, measured: contender number i takes i + 1 seconds and the last one fails. */
function measuredRow(family) {
    const [row] = family.rows;
    const entries = row.names.map((name, i) => ({
        contender: contenderOf(name, row),
        about: `${name} 1.0`,
        error: 1e-7,
        failure: i === row.names.length - 1 ? 'wrong: "much", and more' : "",
        times: [i + 1, i + 1, i + 2, i + 1],
    }));
    const contenders = entries.map(({ contender }) => contender);
    return { family, row, entries, peaks: peakEntries(contenders, family) };
}

const measured = (family = full) => resultsOf(measuredRow(family));

test("the interval of the median is that of the order statistics", () => {
    const times = Array.from({ length: 20 }, (_, i) => (i * 7) % 20);
    assert.deepEqual(summarize(times), { median: 9.5, low: 5, high: 14, samples: 20 });
    assert.deepEqual(summarize([3]), { median: 3, low: 3, high: 3, samples: 1 });
});

test("a causal problem counts the pairs on and below the diagonal", () => {
    const task = { heads: 2, kv_heads: 1, queries: 3, keys: 3, dim: 5, causal: 1 };
    assert.equal(flopsOf(task), 4 * 2 * 6 * 5);
    assert.equal(flopsOf({ ...task, causal: 0 }), 4 * 2 * 9 * 5);
    assert.equal(flopsOf({ ...task, form: "elu1" }), 2 * (2 * 3 + 1 * 3) * 5 * 5);
    assert.equal(bytesOf({ ...task, form: "elu1", stream: 1 }), 2 * 4 * 1 * 5 * (5 + 1));
    assert.equal(bytesOf({ ...task, form: "gated", stream: 1 }), 2 * 4 * 1 * 5 * 5);
    assert.equal(bytesOf(task), 4 * 5 * (2 * 3 + 2 * 6));
    assert.equal(bytesOf({ ...task, kv: "bf16" }), 5 * (2 * 2 * 3 + 4 * 2 * 6));
    assert.equal(bytesOf({ ...task, kv: "i8" }), 2 * 3 * (5 + 4) + 5 * 4 * 2 * 6);
});

test("values and the output may have fewer columns than queries and keys", () => {
    const task = { heads: 4, kv_heads: 1, queries: 1, keys: 3, dim: 9, value_dim: 5, causal: 0 };
    const { query, key, value } = sizesOf(task);
    assert.deepEqual([query, key, value], [4 * 9, 3 * 9, 3 * 5]);
    assert.equal(flopsOf(task), 4 * 3 * 2 * (9 + 5));
    assert.equal(flopsOf({ ...task, sparse: "block=1" }, 7), 7 * 2 * (9 + 5));
    assert.equal(bytesOf(task), 4 * (9 + 5) * (3 + 4));
    assert.equal(bytesOf({ ...task, kv: "f16" }), (9 + 5) * (2 * 3 + 4 * 4));
    assert.equal(bytesOf({ ...task, kv: "i8" }), 3 * (9 + 4 + 5 + 4) + (9 + 5) * 4 * 4);
    const same = { ...task, value_dim: 9 };
    const without = { ...task, value_dim: undefined };
    assert.deepEqual(sizesOf(same), sizesOf(without));
    assert.equal(bytesOf(same), bytesOf(without));
});

test("operators of onnxruntime get such values, or say that they take none", () => {
    const task = { heads: 2, kv_heads: 2, queries: 1, keys: 3, dim: 4, value_dim: 2, causal: 0 };
    const arrays = {
        query: new Float32Array(8),
        key: new Float32Array(24),
        value: new Float32Array(12),
    };
    for (const name of ["mha", "attention", "graph"]) {
        const { inputs, outputs, result } = makers[name]({ ...task, ...arrays });
        assert.deepEqual(inputs.value.dims, [1, 2, 3, 2], name);
        const size = outputs.out.dims.reduce((a, b) => a * b);
        assert.equal(size, 2 * 2, name);
        assert.equal(result({ out: new Float32Array(size) }).length, size, name);
    }
    for (const name of ["gqa", "sparse", "linear"])
        assert.throws(
            () => makers[name]({ ...task, ...arrays, form: "gated" }),
            /takes values of as many columns as keys/,
        );
});

test("rows of latent attention are one family, beside the peers that can", () => {
    const [{ rows }] = selectRows(["latent"]);
    assert.deepEqual(
        rows.map(({ task: { heads, kv_heads: shared, dim, value_dim: dv } }) => [
            heads,
            shared,
            dim,
            dv,
        ]),
        [16, 32, 71, 128].map((heads) => [heads, 1, 576, 512]),
    );
    for (const { names } of rows)
        for (const name of ["libattn", "OpenBLAS", "oneDNN", "PyTorch"])
            assert.ok(names.includes(name), name);
});

test("rows are selected by family and by the beginning of their id, and ids are unique", () => {
    assert.deepEqual(
        selectRows(["small", "decode-4"]).map(({ rows }) => rows.map(({ id }) => id)),
        [["small-128-64"], ["decode-4096"]],
    );
    assert.equal(selectRows(["nothing"]).length, 0);
    assert.equal(selectRows([""]).length, 0);
    const ids = families.flatMap(({ rows }) => rows.map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length);
});

test("what nobody can do is refused in words, before anything is installed for it", () => {
    const said = (...words) => {
        const script = join(import.meta.dirname, "measure/options.mjs");
        const { status, stderr } = spawnSync(process.execPath, [script, ...words]);
        return [status, String(stderr)];
    };
    assert.deepEqual(said("--quick", "--seconds", "0.05", "full", "decode-4"), [0, ""]);
    assert.deepEqual(said("--seconds=3600", "full"), [0, ""]);
    const refused = (words, says) => {
        const [status, text] = said(...words);
        assert.equal(status, 2, words.join(" "));
        assert.match(text, /^bench: [^\n]+\n$/);
        assert.match(text, says);
    };
    refused(["full", "nothing"], / is called nothing; families: full, causal, .*wasm-first.*\n$/);
    refused([""], /: no family or row is called ''; families: /);
    refused(["full", "", "no"], /: no family or row is called '' or no; /);
    for (const seconds of ["0", "-1", "Infinity", "1e400", "3600.1", "some", "NaN", "--quick"])
        for (const words of [["--seconds", seconds], [`--seconds=${seconds}`]])
            refused(
                words,
                new RegExp(`: --seconds ${seconds}: not a number above 0 and up to 3600`),
            );
    refused(["--against", "nope"], /: --against nope: this clone has no such commit\n$/);
    refused(["--against", "-1", "full"], /: --against -1: this clone has no such commit\n$/);
    refused(["--against=", "full"], /: --against '': this clone has no such commit\n$/);
    refused(["--seconds"], /--seconds/);
    refused(["--own", "--newest"], /: --newest is of peers, which --own/);
    refused(["--quik"], /--quik/);
});

const dev = (...words) => {
    const script = join(import.meta.dirname, "../../dev");
    return spawnSync(script, ["bench", ...words], { encoding: "utf8" });
};

test("what ./dev bench --peers and its like take is told, and nothing built for it", () => {
    const usages = [
        ["peers", /^usage: \.\/dev bench --peers \[--quick\] .* \[FAMILY or ROW\.\.\.\]\n/],
        ["softmax", /^usage: \.\/dev bench --softmax \[--quick\] \[--seconds S\] .*COMMIT\]\n/],
        ["linear", /^usage: \.\/dev bench --linear \[--quick\] \[--seconds S\] .*COMMIT\]\n/],
        ["sparse", /^usage: \.\/dev bench --sparse \[--quick\] \[--seconds S\] .*COMMIT\]\n/],
        ["gradients", /^usage: \.\/dev bench --gradients \[--quick\]\n/],
        ["mpi", /^usage: \.\/dev bench --mpi \[--quick\]\n/],
        ["sketch", /^usage: \.\/dev bench --sketch \[--scipy\] \[SECONDS\] \[SUBJECT\.\.\.\]\n/],
    ];
    for (const [name, usage] of usages)
        for (const help of [["--help"], ["-h"], ["--quick", "--help"]]) {
            const { status, stdout, stderr } = dev(`--${name}`, ...help);
            assert.deepEqual([status, stderr], [0, ""], name);
            assert.match(stdout, usage);
            assert.doesNotMatch(stdout, /^build/m);
        }
    for (const help of [["--help"], ["-h"], ["--n", "64", "--help"], ["--compare", "-h"]]) {
        const { status, stdout, stderr } = dev(...help);
        assert.deepEqual([status, stderr], [0, ""], help.join(" "));
        assert.match(stdout, /^usage: \.\/dev bench \[OPTION\.\.\.\]\n/);
        for (const [name] of usages) assert.match(stdout, new RegExp(`^ +.*--${name}`, "m"));
        assert.doesNotMatch(stdout, /^build/m);
    }
});

/** What run.sh misses where there are neither compilers, peers nor a package manager. */
function missing(...words) {
    const bin = mkdtempSync(join(tmpdir(), "attn-bin-"));
    const programs = "bash cat dirname env git grep head id mkdir node npm sort tr uname";
    const find = spawnSync("bash", ["-c", `type -P ${programs}`], { encoding: "utf8" });
    for (const program of find.stdout.trim().split("\n"))
        symlinkSync(program, join(bin, basename(program)));
    const env = { ...process.env, PATH: bin, ATTN_ALONE_IN_PEERS: "1" };
    const script = join(import.meta.dirname, "run.sh");
    const { status, stderr } = spawnSync(script, words, { env, encoding: "utf8" });
    rmSync(bin, { recursive: true });
    assert.equal(status, 1, stderr);
    const [, names] = /^dev: missing on this system:\n((?: {2}.+\n)+)$/m.exec(stderr);
    return names.match(/\S.*/g);
}

test("peers are wanted unless libattn is measured alone", () => {
    const peers = ["OpenBLAS", "oneDNN"];
    const all = missing("full");
    assert.deepEqual(
        all.filter((name) => peers.includes(name)),
        peers,
    );
    const own = all.filter((name) => !peers.includes(name));
    assert.deepEqual(missing("--own", "full"), own);
    assert.deepEqual(missing("--own", "--against", "HEAD", "full"), own);
    assert.ok(own.includes("gcc"));
});

test("./dev bench refuses a commit that is none before it builds anything", () => {
    for (const words of [["--peers"], ["--peers", "full"], ["--softmax"], ["--sparse", "--quick"]])
        for (const against of [["--against", "nope"], ["--against="]]) {
            const { status, stdout, stderr } = dev(...words, ...against);
            assert.deepEqual([status, stdout], [2, ""], words.join(" "));
            assert.match(stderr, /^bench: --against (nope|\S+): this clone has no such commit\n$/);
        }
});

test("speed, share of the peak and ratio", () => {
    const [libattn, avx2, other] = measured();
    assert.equal(libattn.gflops, 1e-9 * flopsOf(row.task));
    assert.equal(libattn.percent_of_peak, libattn.gflops / 2);
    assert.equal(avx2.percent_of_peak, avx2.gflops);
    assert.equal(other.times_libattn, 3);
});

test("a peak is of as many bytes as each contender reads, and told by its median and its most", () => {
    const [grouped] = selectRows(["grouped-4096"]);
    const { peaks: entries } = measuredRow(grouped);
    const amounts = entries.map(({ contender }) => contender.task.amount);
    assert.deepEqual(
        amounts.map((bytes) => Math.round(bytes / 1e5)),
        [42, 21, 11], // f32, also with one query head; f16 and bf16; i8
    );
    assert.deepEqual(mostOf([{ peaks: entries }]), { read: 2 * peaks.read });
    const results = measured(grouped);
    assert.ok(results.every(({ peak }) => Math.abs(peak / peaks.read - 1) < 1e-12));
    const { entries: those, ...rest } = measuredRow(full);
    const failing = rest.peaks.map((one) => ({ ...one, failure: "no memory" }));
    const without = resultsOf({ ...rest, entries: those, peaks: failing });
    assert.ok(without.every((one) => Number.isNaN(one.percent_of_peak)));
    const about = { calibration: "", peaks: {} };
    assert.match(markdown(about, [full], without), /\n- libattn, n = .*: no peak: no memory\n/);
    assert.equal(heldAgainst(null, 85, percent), "");
    assert.deepEqual(mostOf([{ peaks: failing }]), {});
});

test("who has two threads is held against what two do, in WebAssembly too, and who has one against one", () => {
    for (const id of ["threads", "threads-decode", "linear-threads", "wasm-threads"]) {
        const [family] = families.filter((one) => one.id === id);
        const { quantity } = family.unit;
        assert.match(family.peak, /2$/, id);
        for (const one of measured(family).filter(({ failure }) => failure === "")) {
            const peak = peaks[family.peak] / (/1 thread$/.test(one.contender) ? 2 : 1);
            assert.ok(
                Math.abs(one.percent_of_peak / ((100 * one[quantity]) / peak) - 1) < 1e-12,
                id,
            );
        }
    }
});

test("an earlier commit stands behind each contender of the library, and is compared with it", () => {
    const names = participants(row, { own: true, against: "abc" });
    assert.deepEqual(names, [
        "libattn",
        "libattn, before",
        "libattn, AVX2",
        "libattn, AVX2, before",
    ]);
    const newest = ["oneDNN, newest", "OpenBLAS, newest", "PyTorch", "ggml"];
    assert.deepEqual(participants(row, { newest: true }), row.names);
    assert.deepEqual(
        participants(row, {}),
        row.names.filter((name) => !newest.includes(name)),
    );
    const entries = names.map((name, i) => ({
        contender: contenderOf(name, row),
        failure: "",
        times: [[2], [3], [8], [10]][i],
    }));
    const contenders = entries.map(({ contender }) => contender);
    const results = resultsOf({ family: full, row, entries, peaks: peakEntries(contenders, full) });
    assert.deepEqual(
        results.map((one) => one.times_libattn),
        [1, 1.5, 4, 1.25],
    );
});

test("tables: own lines and peers of a row, the fastest peer, what misses its aim", () => {
    const results = measured();
    const [{ id, own, peers }] = rowsOf(results, ["full"]);
    assert.equal(id, row.id);
    assert.deepEqual(
        own.map(({ contender }) => contender),
        ["libattn", "libattn, AVX2"],
    );
    assert.equal(own.length + peers.length, row.names.length - 1, "none that failed");
    assert.equal(fastestOf(peers.toReversed()).contender, row.names[2]);
    assert.equal(fastestOf([]), undefined);
    assert.deepEqual(
        [85, 84, 84].map((value, i) => heldAgainst(value, [85, 85][i], percent)),
        ["85%", "85%: missed", ""],
    );
    assert.deepEqual(
        [times(1.274), times(1.274, 1.2), times(1.06, 1.15)],
        ["1.27", "1.27 (1.2)", "1.06 (1.15: missed)"],
    );
    assert.equal(labelOf(own[1]), "n = 4096, d = 64; AVX2");
    const one = { ...own[0], ms: 12, percent_of_peak: 61 };
    const beginning = (aim) => beginningOf(one, aim).slice(1);
    assert.deepEqual(beginning({}), ["12.0", "61% of 200", ""]);
    assert.deepEqual(beginning({ peak: 60 }), ["12.0", "61% of 200", "60%"]);
    assert.deepEqual(beginning({ ms: 10 }), ["12.0", "", "10 ms: missed"]);
    assert.deepEqual(beginning({ ms: 15 }), ["12.0", "", "15 ms"]);
});

test("a call that computes nothing is no peer", () => {
    const empty = "onnxruntime, an empty call";
    const [small] = selectRows(["small"]);
    const names = [small.rows[0].names[0], empty, "oneDNN", "OpenBLAS"];
    const results = measured({ ...small, rows: [{ ...small.rows[0], names }] });
    const [{ peers }] = rowsOf(JSON.parse(JSON.stringify(results)), ["small"]);
    assert.equal(fastestOf(peers).contender, "oneDNN");
});

test("numbers keep so many digits", () => {
    assert.deepEqual(
        [1088.2, 45.678, 0.01234, NaN].map((x) => digits(x)),
        ["1088", "45.7", "0.0123", ""],
    );
    assert.deepEqual(
        [156.2, 84.6, 8.66, 0, NaN, null].map((x) => percent(x)),
        ["156%", "85%", "8.7%", "0.0%", "", ""],
    );
});

test("the tables keep every row, failures too", () => {
    const results = measured();
    const about = { cpu: "c", system: "s", date: "d", commit: "x", calibration: "tiers", peaks };
    const text = markdown(about, [full], results);
    assert.ok(text.includes("tiers"));
    const lines = csv(results).trimEnd().split("\n");
    assert.equal(lines.length, 1 + row.names.length);
    assert.ok(lines.at(-1).includes('"wrong: ""much"", and more"'));
    for (const name of row.names) assert.ok(text.includes(`| ${name}`), name);
    assert.ok(text.includes(`- ${row.names.at(-1)}, ${row.label}: wrong: "much"`));
});

test("a table has the columns of all its records", () => {
    assert.equal(csv([{ a: 1 }, { a: NaN, b: "x" }]), "a,b\n1,\n,x\n");
});

const hasNo = (name) => !existsSync(inRoot("node_modules", name)) && `${name} is not installed`;

test(
    "the figure has a bar for each result, a cross for each failure, and the peak",
    {
        skip: hasNo("jsdom"),
    },
    () => {
        const figure = new (peer("jsdom").JSDOM)(plot(full, measured())).window.document;
        const marks = (kind, shape) => [...figure.querySelectorAll(`${kind} ${shape}`)];
        const right = (bar) => Number(bar.getAttribute("x")) + Number(bar.getAttribute("width"));
        const bars = marks("[aria-label=bar]", "rect");
        assert.equal(bars.length, row.names.length - 1);
        assert.equal(marks(".interval", "line").length, bars.length);
        assert.equal(figure.body.textContent.split("×").length, 2);
        assert.match(figure.body.textContent, /dashed: the peak of float arithmetic, measured by/);
        const ticks = marks(".peak", "line").map((line) => Number(line.getAttribute("x1")));
        assert.equal(ticks.length, bars.length);
        assert.equal(new Set(ticks).size, 2, "AVX2 has its own");
        assert.ok(bars.every((bar) => right(bar) < Math.min(...ticks)));
    },
);

test("the modules of all contenders are there", () => {
    const names = new Set(families.flatMap(({ rows }) => rows.flatMap((one) => one.names)));
    const [{ rows }] = families;
    for (const name of names) {
        const [program, script] = commandOf(contenderOf(name, rows[0]));
        if (program === process.execPath) assert.ok(existsSync(script), script);
    }
});

test("WebAssembly's peak is a plausible number", async () => {
    const [operations, start] = [1e8, performance.now()];
    (await spinner())(operations);
    const peak = (1e-6 * operations) / (performance.now() - start);
    assert.ok(peak > 0.1 && peak < 500, `${peak} GFLOP/s`);
});

test("what computes in Chromium is held against its engine, what computes in Node against Node's", () => {
    const byArithmetic = families.filter(({ unit }) => unit === units.flops);
    const inChromium = byArithmetic.filter(({ rows }) =>
        rows.some(({ names }) => names.some((name) => name.includes("Chromium"))),
    );
    const held = byArithmetic.filter(({ peak }) => peak === "chromium");
    assert.ok(held.length > 0);
    assert.deepEqual(inChromium, held);
});

test("swapping axes twice changes nothing", () => {
    const array = Float32Array.from({ length: 24 }, (_, i) => i);
    assert.deepEqual([...swapAxes(array, 2, 3, 4).subarray(4, 8)], [12, 13, 14, 15]);
    assert.deepEqual(swapAxes(swapAxes(array, 2, 3, 4), 3, 2, 4), array);
});

test("blocks that rows see are listed row by row", () => {
    const all = Uint8Array.of(1, 0, 1, 0, 0, 0, 0, 1, 0);
    assert.deepEqual(compress({ all, length: 3 }), [0, 2, 2, 3, 0, 2, 1]);
});

test("models are ONNX files", { skip: hasNo("onnx-proto") }, () => {
    const { onnx } = peer("onnx-proto");
    const layout = join(mkdtempSync(join(tmpdir(), "attn-peers-")), "layout");
    writeFileSync(layout, BigInt64Array.from([0, 2, 0, 2], BigInt));
    const task = { heads: 2, kv_heads: 2, queries: 1, keys: 3, dim: 4, causal: 0 };
    const query = new Float32Array(8);
    const key = new Float32Array(24);
    const decay = key;
    for (const [name, make] of Object.entries(makers)) {
        const more = name === "sparse" ? { sparse: "block=1", layout } : {};
        const linear = { form: "gated", stream: 1, decay };
        const model = make({ ...task, ...linear, ...more, query, key, value: key });
        const { graph } = onnx.ModelProto.decode(encodeModel(model));
        assert.equal(graph.node.length, model.nodes.length, name);
        for (const input of graph.input) {
            const dims = input.type.tensorType.shape.dim.map(({ dimValue }) => Number(dimValue));
            assert.deepEqual(dims, model.inputs[input.name].dims, `${name}: ${input.name}`);
        }
    }
});

test("a commit is dirty by its sources, not by the tables that measuring writes", () => {
    const folder = mkdtempSync(join(tmpdir(), "attn-commit-"));
    const git = (...args) => spawnSync("git", ["-C", folder, ...args]).status;
    const put = (name, text) => writeFileSync(join(folder, name), text);
    const who = ["-c", "user.name=a", "-c", "user.email=a@b"];
    try {
        assert.equal(commitOf(folder), "unknown");
        git("init", "--quiet");
        ["a.c", "README.md"].forEach((name) => put(name, "1"));
        git("add", ".");
        assert.equal(git(...who, "commit", "--quiet", "--message", "1"), 0);
        assert.match(commitOf(folder), /^[0-9a-f]{7,}$/);
        ["README.md", "new.c"].forEach((name) => put(name, "2"));
        assert.match(commitOf(folder), /^[0-9a-f]{7,}$/);
        put("a.c", "2");
        assert.match(commitOf(folder), /^[0-9a-f]{7,}-dirty$/);
    } finally {
        rmSync(folder, { recursive: true });
    }
});
