// attn run: what it tells of a run, for people and as JSON.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { inputFiles, random } from "./attention.mjs";
import { assertRefused, attn, contents, succeed, withFiles } from "./command.mjs";
import { npy } from "./npy.mjs";

const SIZES = { B: 2, H: 4, Hkv: 2, n: 6, m: 9, d: 8, dv: 5 };
const INPUTS = ["--q=q.npy", "--k=k.npy", "--v=v.npy", "-o", "o.npy"];
const files = {
    ...inputFiles(SIZES, 4),
    "do.npy": npy([2, 4, 6, 5], random(2 * 4 * 6 * 5, 7)),
};
const KEYS = [
    ...["backend", "version", "kernel", "sizes", "dtype", "kv_dtype", "x_elements", "causal"],
    ...["scale", "softcap", "past", "window", "inputs", "first_call_ms", "gflops"],
    ...["gradients_first_call_ms", "pairs", "computed", "workspace_bytes", "stream_bytes"],
    ...["nonfinite", "degenerate_rows", "error", "facts", "weights"],
];

/** {json, text, lines} of the same run: both reports, and the text's lines by their titles. */
function bothOf(...args) {
    return withFiles(files, (folder) => {
        const run = ["run", ...args, ...INPUTS];
        const json = JSON.parse(succeed([...run, "--json"], folder));
        const output = contents(folder)["o.npy"];
        const text = succeed(run, folder);
        assert.deepEqual(contents(folder)["o.npy"], output, "the result is the same");
        const lines = text.trimEnd().split("\n");
        return {
            json,
            text,
            lines: Object.fromEntries(
                lines.map((line) => [line.slice(0, 16).trim(), line.slice(17)]),
            ),
        };
    });
}

const percent = (share) => Number((100 * share).toPrecision(4));

test("the time is said to be the first call's", () => {
    for (const args of [["softmax"], ["linear"], ["softmax", "--causal", "--stream=1"]]) {
        const { text, json } = bothOf(...args);
        assert.match(text, /^time +\d\S* ms, first call$/m);
        assert.ok(json.first_call_ms > 0);
    }
    assert.match(succeed(["run", "--help"]), /first call/);
});

describe("--json tells what the text tells", () => {
    for (const args of [
        ["softmax", "--causal=bottom-right", "--window=3,-1", "--softcap=20", "--error"],
        ["softmax", "--scale=0.25", "--kv-lens=4,9", "--sinks=1,2,3,4"],
        ["linear", "--error"],
        ["sparse", "--causal", "--set=block=4"],
        ["sketch", "--set=size=4", "--error"],
        ["softmax", "--causal", "--stream=2"],
        ["softmax", "--grad=out=do.npy", "--grad=query=dq.npy"],
    ])
        test(args.join(" "), () => {
            const { json, text, lines } = bothOf(...args);
            assert.deepEqual(Object.keys(json), KEYS);
            assert.equal(`${json.backend} ${json.version}`, lines.backend);
            assert.equal(json.kernel, lines.kernel);
            const { B, H, Hkv, n, m, d, dv } = SIZES;
            const sizes = { batch: B, heads: H, kv_heads: Hkv, n, m, d, dv };
            assert.deepEqual(json.sizes, sizes);
            assert.deepEqual([json.dtype, json.kv_dtype], ["f32", "f32"]);
            assert.equal(json.causal, lines.causal);
            assert.equal(json.scale, lines.scale === undefined ? null : Number(lines.scale));
            const [, left, right] = /window \((-?\d+), (-?\d+)\)/.exec(lines.rules) ?? [0, -1, -1];
            assert.deepEqual(json.window, [Number(left), Number(right)]);
            const [, softcap] = /softcap (\S+)/.exec(lines.rules) ?? [];
            assert.equal(json.softcap, softcap === undefined ? null : Number(softcap));
            assert.ok(json.inputs.every((name) => lines.rules.includes(name)));
            assert.equal(json.inputs.length, args.filter((a) => /kv-lens|sinks/.test(a)).length);
            assert.equal(percent(json.pairs), Number(/^[\d.]+/.exec(lines.pairs)));
            assert.equal(json.computed === null, lines.computed === undefined);
            assert.equal(json.stream_bytes === null, lines.stream === undefined);
            assert.equal(json.workspace_bytes === null, lines.workspace === undefined);
            assert.equal(json.gradients_first_call_ms === null, lines.gradients === undefined);
            assert.equal(json.degenerate_rows, Number(lines["degenerate rows"]));
            assert.equal(json.error === null, lines.error === undefined);
            if (json.error !== null)
                assert.equal(Number(json.error.toPrecision(2)), Number(lines.error));
            assert.equal(json.weights, lines.weights ?? null);
            for (const { label, text: said, number } of json.facts)
                assert.ok(
                    text.includes(`${label.padEnd(16)} ${said ?? Number(number.toPrecision(9))}\n`),
                );
        });

    test("speed and pairs are of the keys that lengths leave", () => {
        const counted = (...args) => {
            const { json } = bothOf("softmax", ...args);
            return [json.gflops * json.first_call_ms, json.pairs];
        };
        const [all, share] = counted();
        assert.equal(share, 1);
        const [some, kept] = counted("--kv-lens=1,5");
        const { m } = SIZES;
        for (const [actual, expected] of [
            [kept, 6 / (2 * m)],
            [some / all, 6 / (2 * m)],
        ])
            assert.ok(Math.abs(actual - expected) <= 1e-7 * expected, `${actual}, ${expected}`);
    });

    test("numbers that are not finite, and a sparse X", () => {
        const broken = npy([2, 4, 6, 8], [NaN, Infinity].concat(random(2 * 4 * 6 * 8 - 2, 3)));
        withFiles({ ...files, "q.npy": broken }, (folder) => {
            const { status, stdout } = attn(["run", "softmax", ...INPUTS, "--json"], folder);
            assert.equal(status, 0);
            const { nonfinite } = JSON.parse(stdout);
            assert.deepEqual(nonfinite, { q: 2, k: 0, v: 0, out_gradient: null });
        });
        const csr = {
            "data.npy": npy([3], [1, -2, 0.5]),
            "indices.npy": npy([3], [0, 2, 1], { descr: "<i8" }),
            "indptr.npy": npy([5], [0, 1, 2, 3, 3], { descr: "<i8" }),
            "v.npy": npy([4, 2], random(8, 5)),
        };
        withFiles(csr, (folder) => {
            const x = ["--x-data=data.npy", "--x-indices=indices.npy", "--x-indptr=indptr.npy"];
            const args = ["--columns=3", "--v=v.npy", "-o", "o.npy", "--set=size=3", "--error"];
            const told = JSON.parse(succeed(["run", "sketch", ...x, ...args, "--json"], folder));
            assert.equal(told.x_elements, 3);
            assert.deepEqual([told.sizes.n, told.sizes.d], [4, 3]);
            const written = npy([4, 3], [1, 0, 0, 0, 0, -2, 0, 0.5, 0, 0, 0, 0]);
            withFiles({ "x.npy": written, "v.npy": csr["v.npy"] }, (dense) => {
                const compare = ["compare", "--x=x.npy", "--v=v.npy", "--set=sketch.size=3"];
                const more = ["--backends=sketch", "--time=0", "--json"];
                const { rows } = JSON.parse(succeed([...compare, ...more], dense));
                const rounding = (3 + 2 * 4) * 8 * 2 ** -24;
                assert.ok(Math.abs(told.error - rows[0].error) <= rounding * (1 + told.error));
            });
        });
    });
});

test("--error is the error that compare tells", () => {
    withFiles(files, (folder) => {
        const arrays = INPUTS.slice(0, 3);
        const compare = ["compare", ...arrays, "--causal", "--time=0", "--json"];
        const { rows } = JSON.parse(succeed(compare, folder));
        for (const { backend, error } of rows) {
            const run = ["run", backend, ...INPUTS, "--causal", "--error", "--json"];
            assert.equal(JSON.parse(succeed(run, folder)).error, error, backend);
        }
    });
});

test("--json beside an array on standard output is refused", () => {
    withFiles(files, (folder) => {
        const run = ["run", "softmax", ...INPUTS.slice(0, 3), "-o", "-", "--json"];
        assertRefused(attn(run, folder), /--json: standard output has an array already/);
    });
});
