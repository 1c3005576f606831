/*
 * What errors say: every option of every call is given every wrong value, and the messages are read.
 * They name options as JavaScript has them, and say nothing that makes no sense.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { libraries } from "../support.mjs";

const VALUES = [
    ...[null, true, -1, 0, 3, 1.5, -0.5, NaN, Infinity, -Infinity, 2 ** 40, 2 ** 53, 1e300, 4n],
    ...["", "x", "kv_heads", "block", [], [1], [-1, 2], [1, 2, 3, 4], [NaN], [null], {}],
    ...[
        () => 1,
        Symbol("s"),
        new Date(0),
        new Float32Array(3),
        new Int8Array(8),
        new DataView(new ArrayBuffer(8)),
    ],
    ...[
        new Float32Array(0),
        new BigInt64Array(2),
        new ArrayBuffer(8),
        { data: new Float32Array(4) },
    ],
    ...[
        { shape: [1, 1, 2, 2] },
        { shape: 4, data: 1 },
        { data: new Float32Array(4), shape: [2, 2] },
    ],
];

const x = () => new Float32Array(8).fill(0.5);
const arrays = () => ({ query: x(), key: x(), value: x() });
const SHAPE = { queries: 2, dim: 4 };
const PROBLEM = [
    "batch",
    "heads",
    "kvHeads",
    "queries",
    "keys",
    "dim",
    "valueDim",
    "dtype",
    "kvDtype",
];
const RULES = ["backend", "causal", "scale", "past", "window", "softcap", "params"];
const INPUTS = ["bias", "mask", "kvLengths", "sinks", "slopes", "keyScales", "valueScales"];
const PLACES = ["layout", "strides", "out"];

const withPlan = (options, body) => (attn) => {
    const plan = attn.plan({ ...SHAPE, ...options });
    try {
        return body(plan);
    } finally {
        plan.dispose();
    }
};
const withStream = (body) => (attn) => {
    const stream = attn.stream({ dim: 4, maxKeys: 8 });
    try {
        return body(stream);
    } finally {
        stream.dispose();
    }
};

/* By name: the options of a call, and the call with some of them. */
const CALLS = {
    plan: [[...PROBLEM, ...RULES, "scoresMode", "inputs"], (more) => withPlan(more, () => {})],
    attention: [
        [...PROBLEM, ...RULES, ...INPUTS, ...PLACES, "query", "key", "value"],
        ({ query = x(), key = x(), value = x(), ...more }) =>
            (attn) =>
                attn.attention(query, key, value, { dim: 4, ...more }),
    ],
    "attention of queries": [
        PROBLEM,
        (more) => (attn) => attn.attention(x(), x(), x(), { queries: 2, ...more }),
    ],
    run: [
        ["query", "key", "value", "lse", "scores", ...INPUTS, ...PLACES],
        (more) =>
            withPlan({ inputs: ["bias"] }, (plan) =>
                plan.run({ ...arrays(), bias: new Float32Array(4), ...more }),
            ),
    ],
    weights: [
        ["query", "key", "batch", "head", "first", "count", ...INPUTS, "layout", "strides"],
        (more) => withPlan({}, (plan) => plan.weights({ query: x(), key: x(), ...more })),
    ],
    error: [
        ["query", "key", "value", ...INPUTS, ...PLACES],
        (more) => withPlan({}, (plan) => plan.error({ ...arrays(), out: x(), ...more })),
    ],
    "error's stride": [
        ["stride"],
        ({ stride }) => withPlan({}, (plan) => plan.error({ ...arrays(), out: x() }, stride)),
    ],
    stream: [
        ["batch", "heads", "kvHeads", "dim", "valueDim", "maxKeys", "dtype", "kvDtype", "backend"],
        (more) => (attn) => attn.stream({ dim: 4, maxKeys: 8, ...more }).dispose(),
    ],
    append: [
        ["key", "value", "layout", "keyScales", "valueScales"],
        ({ key = x(), value = x(), ...more }) =>
            withStream((stream) => stream.append(key, value, more)),
    ],
    query: [
        ["query", "layout", "out"],
        ({ query = x(), ...more }) =>
            withStream((stream) => stream.append(x(), x()).query(query, more)),
    ],
    truncate: [["length"], ({ length }) => withStream((stream) => stream.truncate(length))],
    restore: [["bytes"], ({ bytes }) => withStream((stream) => stream.restore(bytes))],
    tensor: [
        ["shape", "dtype"],
        ({ shape = 4, dtype }) =>
            (attn) =>
                attn.tensor(shape, dtype).dispose(),
    ],
    params: [
        ["block", "hybrid", "nothing", "kv_heads"],
        (params) => (attn) => attn.plan({ ...SHAPE, backend: "sparse", params }).dispose(),
    ],
};

/** What is wrong with a message; nothing where all is well. */
function complaint(message, value) {
    const own = message.replace(/params\.\w+/, "").replace(/'[^']*'|"[^"]*"/g, "''");
    if (message.includes("\n") || message === "") return "more than a line, or none";
    if (/[a-z]_[a-z]/.test(own)) return "C's name";
    if (/undefined\b(?!$)|\[object|0x|struct|pointer/.test(own)) return "no user's word";
    if (/multiple of \S+ (= )?(-|0\b)|= -\d|\d\.\d* (elements|rows)/.test(own)) return "nonsense";
    if (
        /\b(Infinity|NaN|inf|nan)\b/.test(own) &&
        !/Infinity|NaN/.test(String(value?.[0] ?? value?.toString()))
    )
        return "a number nobody gave";
    if (/\d+n\b/.test(own) && typeof value !== "bigint" && typeof value?.[0] !== "bigint")
        return "a bigint nobody gave";
    return null;
}

for (const build of ["simd", "native"]) {
    const attn = libraries.get(build);
    for (const [call, [names, make]] of Object.entries(CALLS)) {
        test(`${build}: messages of ${call}`, () => {
            const found = [];
            for (const name of names) {
                for (const value of VALUES) {
                    try {
                        make({ [name]: value })(attn);
                    } catch (error) {
                        const kind = ["AttnError", "TypeError"].includes(error.name);
                        const wrong = kind ? complaint(error.message, value) : error.name;
                        if (wrong) found.push(`${wrong}: ${name}: ${error.message}`);
                    }
                }
            }
            assert.deepEqual([...new Set(found)], []);
        });
    }
}

const backends = ["softmax", "linear", "sparse", "sketch"];
for (const build of ["simd", "native"]) {
    const attn = libraries.get(build);
    const refusal = (options) => {
        try {
            attn.plan({ ...SHAPE, ...options });
        } catch ({ code, message }) {
            return { code, message };
        }
        return assert.fail("not refused");
    };

    test(`${build}: an unknown backend's error lists those that there are`, () => {
        const { code, message } = refusal({ backend: "flash" });
        assert.equal(code, "ATTN_ERROR_NOT_FOUND");
        assert.equal(message, `unknown backend 'flash' (there are ${backends.join(", ")})`);
    });

    test(`${build}: an unknown parameter's error lists those that there are`, () => {
        for (const backend of backends) {
            const { params } = attn.backends().find(({ id }) => id === backend);
            const { code, message } = refusal({ backend, params: { blok: 3 } });
            assert.equal(code, "ATTN_ERROR_NOT_FOUND");
            const list = params.map(({ name }) => name).join(", ");
            const there = params.length > 0 ? `there are ${list}` : "none in this build";
            assert.equal(message, `backend '${backend}' has no parameter 'blok' (${there})`);
        }
    });
}
