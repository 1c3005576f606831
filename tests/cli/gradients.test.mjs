// attn run --grad: gradients against central differences of the reference, and what is refused.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { arrays, attention, inputFiles, random } from "./attention.mjs";
import {
    assertClose,
    assertRefused,
    attn,
    contents,
    isWasi,
    succeed,
    withFiles,
} from "./command.mjs";
import { npy, read } from "./npy.mjs";

const INPUTS = ["--q", "q.npy", "--k", "k.npy", "--v", "v.npy", "-o", "o.npy"];
const SIZES = { H: 4, Hkv: 2, n: 9, m: 12, d: 5, dv: 3 };
const RULES = { causal: "bottom-right", slopes: [0.5, 0.25, 0.125, 0.0625] };
const FLAGS = ["--causal=bottom-right", "--alibi=0.5,0.25,0.125,0.0625"];
const GRADIENTS = ["query", "key", "value", "slopes"];
const WRITTEN = GRADIENTS.flatMap((name) => ["--grad", `${name}=d_${name}.npy`]);
const loss = random(SIZES.H * SIZES.n * SIZES.dv, 7);
const files = {
    ...inputFiles(SIZES, 3),
    "do.npy": npy([SIZES.H, SIZES.n, SIZES.dv], loss),
};

/** sum dO . O, with one element of an input moved. */
function lossAt(which, index, step) {
    const given = { query: 0, key: 1, value: 2 };
    const inputs = arrays(SIZES).map((array) => [...array]);
    const slopes = [...RULES.slopes];
    if (which in given) inputs[given[which]][index] += step;
    else slopes[index] += step;
    const { out } = attention({ ...SIZES, ...RULES, slopes }, ...inputs);
    return out.reduce((sum, x, i) => sum + x * loss[i], 0);
}

/** A central difference is off by c h^2 + O(h^4): twice the step has four times of it. */
function central(which, index, step = 2 ** -10) {
    const at = (h) => (lossAt(which, index, h) - lossAt(which, index, -h)) / (2 * h);
    const near = at(step);
    const far = at(2 * step);
    return { value: near + (near - far) / 3, error: Math.abs(near - far) };
}

describe("attn run --grad", () => {
    for (const backend of ["softmax", "sparse"]) {
        test(`${backend}: shapes are the arrays'`, () => {
            withFiles(files, (folder) => {
                const args = ["run", backend, ...INPUTS, ...FLAGS, "--grad", "out=do.npy"];
                succeed([...args, ...WRITTEN], folder);
                assert.deepEqual(read(folder, "d_query.npy").shape, [4, 9, 5]);
                assert.deepEqual(read(folder, "d_key.npy").shape, [2, 12, 5]);
                assert.deepEqual(read(folder, "d_value.npy").shape, [2, 12, 3]);
                assert.deepEqual(read(folder, "d_slopes.npy").shape, [4]);
            });
        });
    }

    // All elements of Q, K and V are below 1, so that a term of a sum over keys or queries, P (dP - D) q, is
    // below 2 dv, that of slopes times a distance below m; each rounds a few times for each of its sums.
    test("softmax: as the reference changes", () => {
        withFiles(files, (folder) => {
            succeed(
                ["run", "softmax", ...INPUTS, ...FLAGS, "--grad", "out=do.npy", ...WRITTEN],
                folder,
            );
            const { n, m, d, dv } = SIZES;
            const terms = { query: m, key: 2 * n, value: 2 * n, slopes: m * m * n };
            for (const name of GRADIENTS) {
                const { data: values } = read(folder, `d_${name}.npy`);
                const size = terms[name] * 2 * dv * (d + dv + terms[name] + 16) * 2 ** -24;
                for (const index of [0, 1, values.length >> 1, values.length - 1]) {
                    const { value, error } = central(name, index);
                    assertClose([values[index]], [value], [size + error], `${name}[${index}]`);
                }
            }
        });
    });

    // With a delta rule outputs are linear in values and the first state together, so that their gradients give the
    // loss back (Euler), with the error of a few roundings for each token, feature and column in each term.
    test("linear: gates and states, and what their gradients come to", () => {
        const { Hkv, m, d, dv } = SIZES;
        const state = random(Hkv * d * dv, 8);
        const own = {
            "decay.npy": npy(
                [Hkv, m, 1],
                random(Hkv * m, 9).map((x) => -Math.abs(x)),
            ),
            "beta.npy": npy(
                [Hkv, m, 1],
                random(Hkv * m, 10).map((x) => Math.abs(x) / 10),
            ),
            "state.npy": npy([Hkv, d, dv], state),
        };
        const names = ["decay", "beta", "state"];
        withFiles({ ...files, ...own }, (folder) => {
            const rule = ["--causal=bottom-right", "--set", "rule=gated_delta"];
            const given = names.flatMap((name) => ["--input", `${name}=${name}.npy`]);
            const asked = ["value", ...names].flatMap((name) => [
                "--grad",
                `${name}=d_${name}.npy`,
            ]);
            const grad = ["--grad", "out=do.npy", ...asked];
            succeed(["run", "linear", ...INPUTS, ...rule, ...given, ...grad], folder);
            assert.deepEqual(read(folder, "d_decay.npy").shape, [Hkv, m, 1]);
            assert.deepEqual(read(folder, "d_beta.npy").shape, [Hkv, m, 1]);
            const [, , values] = arrays(SIZES);
            const terms = [
                ...[...read(folder, "d_value.npy").data].map((x, i) => x * values[i]),
                ...[...read(folder, "d_state.npy").data].map((x, i) => x * state[i]),
                ...[...read(folder, "o.npy").data].map((x, i) => -x * loss[i]),
            ];
            const sum = terms.reduce((all, x) => all + x, 0);
            const size = terms.reduce((all, x) => all + Math.abs(x), 0);
            assertClose([sum], [0], [size * (m + SIZES.n) * (d + dv + 16) * 2 ** -24], "loss");
            assert.ok(size > 1);
        });
    });

    test("a file's axes are its gradient's", () => {
        const { H, Hkv, n, m } = SIZES;
        const given = {
            "bias.npy": npy([1, 1, n, m], random(n * m, 11)),
            "flat.npy": npy([n, m], random(n * m, 11)),
            "beta.npy": npy([Hkv, m], random(Hkv * m, 12)),
        };
        withFiles({ ...files, ...given }, (folder) => {
            const shapeOf = (name, ...args) => {
                const grad = ["--grad", "out=do.npy", "--grad", `${name}=d.npy`];
                succeed(["run", ...args, ...INPUTS, ...grad], folder);
                return read(folder, "d.npy").shape;
            };
            assert.deepEqual(shapeOf("bias", "softmax", "--bias=bias.npy"), [1, 1, n, m]);
            assert.deepEqual(shapeOf("bias", "softmax", "--bias=flat.npy"), [n, m]);
            assert.deepEqual(shapeOf("sinks", "softmax", `--sinks=${"1,".repeat(H - 1)}2`), [H]);
            const delta = ["linear", "--set", "rule=delta", "--causal", "--input", "beta=beta.npy"];
            assert.deepEqual(shapeOf("beta", ...delta), [Hkv, m]);
        });
    });

    test("threads and lse beside it change nothing", () => {
        const runs = [[], isWasi ? [] : ["--threads", "3"], ["-o", "lse=l.npy"]].map((args) =>
            withFiles(files, (folder) => {
                const all = [...INPUTS, ...FLAGS, "--grad", "out=do.npy", ...WRITTEN, ...args];
                succeed(["run", "softmax", ...all], folder);
                return GRADIENTS.map((name) => contents(folder)[`d_${name}.npy`]);
            }),
        );
        assert.deepEqual(runs[1], runs[0]);
        assert.deepEqual(runs[2], runs[0]);
    });
});

test("attn bench --backward: what is not softmax's has no error", () => {
    const sizes = ["--n", "40", "--d", "6", "--heads", "2", "--time", "0.01"];
    const args = ["bench", "--backward", "--backend", "linear,sketch", ...sizes, "--json"];
    const { rows } = JSON.parse(succeed(args));
    assert.deepEqual(
        rows.map(({ error }) => error === null),
        [true, false],
    );
});

test("attn bench --backward: gradients are timed, and as exact as they are", () => {
    const sizes = ["--n", "40", "--d", "6", "--heads", "2", "--time", "0.01"];
    const args = ["bench", "--backward", "--backend", "softmax", ...sizes, "--json"];
    const { rows } = JSON.parse(succeed(args));
    assert.equal(rows.length, 1);
    assert.ok(rows[0].gflops > 0 && rows[0].ms > 0);
    // Each of the logits' 6 terms, of the 40 weights' exponents and of the sums rounds a few times.
    assert.ok(rows[0].error > 0 && rows[0].error < (6 + 40 + 40) * 8 * 2 ** -24, rows[0].error);
});

describe("attn run --grad refuses", () => {
    const out = ["--grad", "out=do.npy"];
    const query = ["--grad", "query=a.npy"];
    for (const [name, args, says] of [
        ["no gradient but the loss's", out, /no gradient is asked for: --grad query=FILE/],
        ["no gradient of the loss", query, /--grad out=FILE/],
        ["no name", ["--grad", "do.npy"], /NAME=FILE/],
        ["no file", ["--grad", "out="], /NAME=FILE/],
        ["twice", [...out, ...out], /'out' is given twice/],
        ["what has none", [...out, "--grad", "mask=a.npy"], /no gradient of 'mask'/],
        [
            "an unknown name",
            [...out, "--grad", "quarry=a.npy"],
            /no gradient of 'quarry'; there are those of query, key, value/,
        ],
        [
            "a name in capitals",
            [...out, "--grad", "Query=a.npy"],
            /no gradient of 'Query'; there are those of query, key, value/,
        ],
        ["what the run lacks", [...out, "--grad", "bias=a.npy"], /the run has no bias/],
        [
            "another shape",
            ["--grad", "out=q.npy", ...query],
            /gradient of out is \(4, 9, 5\), out itself \(4, 9, 3\)\n/,
        ],
        ["no such file", ["--grad", "out=none.npy", ...query], /none\.npy/],
        ["a stream", [...out, ...query, "--causal", "--stream", "2"], /--stream has no --grad/],
    ]) {
        test(name, () => {
            withFiles(files, (folder) => {
                const before = contents(folder);
                assertRefused(attn(["run", "softmax", ...INPUTS, ...args], folder), says);
                assert.deepEqual(contents(folder), before);
            });
        });
    }

    test("an array that the backend never has", () => {
        withFiles(files, (folder) => {
            const args = ["run", "linear", ...INPUTS, ...out, "--grad", "bias=a.npy"];
            const says = /no gradient of 'bias'; there are those of query, key, value, out, decay/;
            assertRefused(attn(args, folder), says);
        });
    });

    test("a pattern without gradients", () => {
        withFiles(files, (folder) => {
            const topkeys = ["--set", "pattern=topkeys"];
            const args = ["run", "sparse", ...INPUTS, ...topkeys, ...out, "--grad", "query=a.npy"];
            assertRefused(attn(args, folder), /topkeys has no gradients/);
        });
    });
});
