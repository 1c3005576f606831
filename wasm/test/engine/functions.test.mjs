/*
 * The boundary between C and JavaScript (src/functions.h): each module has the functions that the list
 * gives it, and the addon checks what it is given by the list, whatever calls it.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { test } from "node:test";
import { moduleBytes } from "../support.mjs";

const c = createRequire(import.meta.url)("../../dist/libattn.node");

const list = await readFile(new URL("../../src/functions.h", import.meta.url), "utf8");
const functions = Array.from(
    list.matchAll(/^FUNCTION\((\w+), (\w+), (\w+), (.*)\)$/gm),
    ([, set, result, name, rest]) => ({
        ...{ set, result, name },
        kinds: Array.from(rest.matchAll(/(\w+)\(\d/g), ([, kind]) => kind),
    }),
);
const inSets = (...sets) =>
    functions.filter(({ set }) => sets.includes(set)).map(({ name }) => name);

/* Those of the addon. */
const SHARED = ["EVERY", "SOFTMAX", "FULL"];

const MODULES = {
    simd: ["FULL", "PLUGIN", "SOFTMAX"],
    scalar: ["FULL", "PLUGIN", "SOFTMAX"],
    threads: ["FULL", "THREADS", "SOFTMAX"],
    softmax: ["SOFTMAX"],
    reactor: ["FULL", "SOFTMAX"],
    labs: ["LABS"],
    models: ["MODELS"],
    training: ["MODELS", "TRAINING"],
};

/* How many numbers of a type lie between two of them. */
function distance(Floats, Integers, a, b) {
    const bits = new Integers(Floats.of(a, b).buffer);
    return Math.abs(Number(bits[0] - bits[1]));
}

/* Math's own are off by less than a unit, single precision's are of double's. */
test("exponentials are those of Math", async () => {
    const { exports: c } = (await WebAssembly.instantiate(await moduleBytes("simd"), {})).instance;
    const double = (a, b) => distance(Float64Array, BigInt64Array, a, b);
    const single = (a, b) => distance(Float32Array, Int32Array, a, b);
    for (let i = -20000; i <= 20000; i++) {
        const x = Math.fround((i * 745) / 20000);
        assert.ok(double(c.exp(x), Math.exp(x)) <= 2, `exp(${x}) is ${c.exp(x)}`);
        assert.ok(double(c.exp(x / 1e4), Math.exp(x / 1e4)) <= 2, `exp(${x / 1e4})`);
        assert.ok(single(c.exp2f(x), 2 ** x) <= 1, `exp2f(${x}) is ${c.exp2f(x)}`);
        const y = Math.fround(2 ** (x / 5));
        assert.ok(single(c.log2f(y), Math.log2(y)) <= 1, `log2f(${y}) is ${c.log2f(y)}`);
    }
    assert.deepEqual([NaN, Infinity, -Infinity, -800].map(c.exp), [NaN, Infinity, 0, 0]);
    assert.deepEqual([0, -1, Infinity, 2 ** -149].map(c.log2f), [-Infinity, NaN, Infinity, -149]);
});

test("each module exports the functions of its sets, and no others of ours", async () => {
    assert.ok(functions.length > 40);
    for (const [build, sets] of Object.entries(MODULES)) {
        const module = await WebAssembly.compile(await moduleBytes(build));
        const names = WebAssembly.Module.exports(module).map(({ name }) => name);
        const ours = names.filter((name) => /^attn/.test(name));
        assert.deepEqual(ours.sort(), inSets("MODULE", "EVERY", ...sets).sort(), build);
    }
});

test("the addon has those that need no module's memory, those of plugins, and one to start a run", () => {
    const names = Object.keys(c).filter((name) => name !== "interface");
    const listed = inSets(...SHARED);
    const own = ["open", "start", "plugin_load", "plugin_unload"].map((name) => `attnjs_${name}`);
    assert.deepEqual(names.sort(), [...own, ...listed].sort());
});

/* ---- what the addon refuses ------------------------------------------------------------------------ */

const text = (...texts) => new TextEncoder().encode(texts.map((one) => `${one}\0`).join(""));
const [queries, dim] = [3, 4];
const problem = [1, 1, 1, queries, queries, dim, dim, 0, NaN, 0, -1, -1, 0, 0, 0, 1, 1, 0];
const floats = (length) => new Float32Array(length).fill(1);

/** A record of a list of arrays. */
function recordOf(number, array) {
    return [number, array, ...[1, 1, queries, dim], ...[queries * dim, queries * dim, dim, 1]];
}

/** A list of a run's arrays: query, key, value and out, or those numbers. */
function listOf(arrays, numbers = arrays.map((_, i) => i)) {
    return [arrays.length, ...arrays.flatMap((array, i) => recordOf(numbers[i], array))];
}

/* Those of each call, by the numbers of attn/arrays.h. */
const NUMBERS = { attnjs_stream_append: [1, 2], attnjs_stream_query: [0, 3] };
const numbersOf = (name) => NUMBERS[name] ?? [0, 1, 2, 3];

/** Right arguments of every function, in objects that nothing else uses. */
function rightArguments() {
    const session = c.attnjs_open(1, 0);
    const plan = c.attnjs_gradients_create(
        session,
        text("softmax"),
        Float64Array.from(problem),
        text(),
        0,
    );
    const streamed = Float64Array.from(problem);
    streamed[3] = 1;
    const stream = c.attnjs_stream_create(session, text("softmax"), streamed, text(), 0, 8);
    const right = {
        ...{ SESSION: session, PLAN: plan, STREAM: stream },
        ...{ PROBLEM: Float64Array.from(problem), TEXT: text("softmax") },
        ...{ FLOATS: floats(12), BYTES: text("some words"), ROOM: new Uint8Array(100) },
        PAIRS: text(),
    };
    const numbers = {
        attnjs_weights: [0, 0, 0, queries],
        attnjs_oracle_error: [1],
        attnjs_stream_create: [8],
        attnjs_stream_truncate: [0],
    };
    const argumentsOf = ({ name, kinds }) => {
        const left = [...(numbers[name] ?? [])];
        const made = [];
        for (const kind of kinds) {
            if (kind === "NUMBER") made.push(left.shift());
            else if (kind === "ARRAYS")
                made.push(
                    listOf(
                        numbersOf(name).map(() => floats(queries * dim)),
                        numbersOf(name),
                    ),
                );
            else if (kind === "LENGTH")
                made.push(kinds[made.length - 1] === "PAIRS" ? 0 : made.at(-1).length);
            else made.push(right[kind]);
        }
        return made;
    };
    return { right, argumentsOf };
}

const called = functions.filter(({ set }) => SHARED.includes(set));
const living = called.filter(({ result }) => result !== "END");
const refused = { name: "TypeError", code: "ERR_INVALID_ARG_TYPE" };

test("right arguments are none of those that the addon refuses", () => {
    const { argumentsOf } = rightArguments();
    for (const one of living) c[one.name](...argumentsOf(one));
});

test("no function takes a wrong handle, a dead one, another session's, or something else for one", () => {
    const { right, argumentsOf } = rightArguments();
    const { PLAN, STREAM } = rightArguments().right;
    const foreign = { SESSION: 0, PLAN, STREAM };
    const dead = rightArguments().right;
    c.attnjs_plan_destroy(dead.PLAN);
    c.attnjs_stream_destroy(dead.STREAM);
    c.attnjs_close(dead.SESSION);
    const handles = ["SESSION", "PLAN", "STREAM"];
    for (const one of living) {
        for (const [i, kind] of one.kinds.entries()) {
            if (!handles.includes(kind)) continue;
            const others = handles.filter((other) => other !== kind).map((other) => right[other]);
            others.push(dead[kind], foreign[kind]);
            for (const wrong of [...others, 0, null, undefined, {}, floats(1)]) {
                const given = argumentsOf(one).with(i, wrong);
                const message = `argument ${i} is not a handle in use`;
                assert.throws(() => c[one.name](...given), { ...refused, message }, one.name);
            }
        }
    }
});

test("no function reads or writes past the end of an array", () => {
    const { argumentsOf } = rightArguments();
    const short = {
        PROBLEM: new Float64Array(problem.length - 1),
        TEXT: new Uint8Array([115, 111]), // without an end
    };
    let count = 0;
    for (const one of living) {
        for (const [i, kind] of one.kinds.entries()) {
            const given = argumentsOf(one);
            if (short[kind]) given[i] = short[kind];
            else if (kind === "LENGTH") given[i] += 1;
            else continue;
            assert.throws(() => c[one.name](...given), refused, `${one.name} ${i}`);
            given[i] = kind === "LENGTH" ? -1 : 0;
            assert.throws(() => c[one.name](...given), refused, `${one.name} ${i}`);
            if (kind === "LENGTH") {
                given[i] = NaN;
                assert.throws(() => c[one.name](...given), refused, `${one.name} ${i}`);
            }
            count++;
        }
    }
    assert.ok(count >= 8, `${count} of them`);
});

test("no function takes a list with an array that is too short", () => {
    const { right, argumentsOf } = rightArguments();
    const full = queries * dim;
    for (const one of living) {
        const at = one.kinds.indexOf("ARRAYS");
        if (at < 0) continue;
        const numbers = numbersOf(one.name);
        for (const short of numbers) {
            const arrays = numbers.map((k) => floats(k === short ? full - 1 : full));
            const given = argumentsOf(one).with(at, listOf(arrays, numbers));
            assert.ok(c[one.name](...given) !== 0, one.name);
            assert.match(c.attnjs_error_message(right.SESSION), /bytes, must have/);
        }
    }
});

test("no function takes a list with an array that is unknown, given twice, or not there", () => {
    const { right, argumentsOf } = rightArguments();
    const lists = (numbers) => {
        const arrays = numbers.map(() => floats(queries * dim));
        const list = listOf(arrays, numbers);
        return [
            [listOf([...arrays, arrays[0]], [...numbers, 13]), /^array 13 is unknown/],
            [listOf([...arrays, arrays[0]], [...numbers, -1]), /is unknown/],
            [listOf([...arrays, arrays[0]], [...numbers, NaN]), /is unknown/],
            [listOf([...arrays, arrays[0]], [...numbers, numbers[0]]), /given twice/],
            [list.with(0, 46), /are no list/],
            [list.with(0, -1), /are no list/],
            [list.with(0, NaN), /are no list/],
            [list.with(0, 5), /unknown, or given twice/], // what is behind the end is undefined
            [list.with(2, 0), /is missing|has 0 bytes/],
            [[], /is missing|no list/],
        ];
    };
    for (const one of living) {
        const at = one.kinds.indexOf("ARRAYS");
        if (at < 0) continue;
        for (const [list, message] of lists(numbersOf(one.name))) {
            assert.ok(c[one.name](...argumentsOf(one).with(at, list)) !== 0, one.name);
            assert.match(c.attnjs_error_message(right.SESSION), message, one.name);
        }
    }
});

test("what C writes by numbers has room: weights", () => {
    const { right, argumentsOf } = rightArguments();
    const given = argumentsOf(functions.find(({ name }) => name === "attnjs_weights"));
    given[given.length - 1] = 1;
    assert.notEqual(c.attnjs_weights(...given), 0);
    assert.match(c.attnjs_error_message(right.SESSION), /no room for the/);
});
