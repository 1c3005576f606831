/* What the tests share: all builds and the addon, random input, exact attention with bounds, .npy. */
import { readFile } from "node:fs/promises";
import { init } from "libattn";
import { init as initNative } from "libattn/native";
import { npyFile } from "../../tests/cli/npy.mjs";
import { exactAttention as exactReference } from "../../tests/exact/exact.mjs";

export { halfValue as decodeF16 } from "../../tests/cli/npy.mjs";
export { largestError } from "../../tests/exact/exact.mjs";

/** Those that this engine can run: Node 20 has relaxed SIMD behind a flag only. */
export const BUILDS = ["simd", "scalar", "threads"];
export const hasRelaxed = WebAssembly.validate(await moduleBytes("relaxed"));
if (hasRelaxed) BUILDS.unshift("relaxed");

export const libraries = new Map();
for (const build of BUILDS) {
    const threads = build === "threads" ? 2 : 1;
    libraries.set(build, await init({ build, threads }));
}
libraries.set("native", await initNative({ fallback: false }));

export function moduleBytes(build) {
    const dist = ["labs", "models", "training"].includes(build) ? "../labs/dist" : "../dist";
    return readFile(new URL(`${dist}/libattn.${build}.wasm`, import.meta.url));
}

/** A generator of numbers in [-1, 1): mulberry32, so that a seed names a failure. */
export function numbers(seed) {
    let state = seed >>> 0;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let t = Math.imul(state ^ (state >>> 15), state | 1);
        t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
        return ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1;
    };
}

export function floats(count, next, factor = 1) {
    return Float32Array.from({ length: count }, () => factor * next());
}

/** All sizes of a problem, and random arrays for it in the order "bhnd". */
export function makeProblem(sizes, seed, factor = 1) {
    const { batch = 1, heads = 1, kvHeads = heads, queries, keys = queries, dim } = sizes;
    const { valueDim = dim } = sizes;
    const next = numbers(seed);
    return {
        sizes: { batch, heads, kvHeads, queries, keys, dim, valueDim },
        query: floats(batch * heads * queries * dim, next, factor),
        key: floats(batch * kvHeads * keys * dim, next, factor),
        value: floats(batch * kvHeads * keys * valueDim, next),
    };
}

/** Keys [0, limit) are the ones that query i may see. */
export function causalLimit(causal, { queries, keys }, i) {
    if (causal === "top-left") return Math.min(i + 1, keys);
    if (causal === "bottom-right") return Math.min(Math.max(i + 1 + keys - queries, 0), keys);
    return keys;
}

/** Calls visit(b, h, i, row) for all rows; `row` has the query's place and its keys' and values'. */
export function eachRow({ batch, heads, kvHeads, queries, keys, dim, valueDim }, visit) {
    for (let b = 0; b < batch; b++) {
        for (let h = 0; h < heads; h++) {
            const kv = b * kvHeads + Math.floor(h / (heads / kvHeads));
            for (let i = 0; i < queries; i++) {
                const row = (b * heads + h) * queries + i;
                visit(b, h, i, {
                    row,
                    query: row * dim,
                    key: kv * keys * dim,
                    value: kv * keys * valueDim,
                });
            }
        }
    }
}

const UNIT = 2 ** -24; // of float32: half the distance from 1 to the next number

/**
 * How far a backend's output may be from that of its own weights, as a factor of sum_j A_j |v_j|, where
 * no formula says what both are: sketches. The analysis is that of tests/support/exact.c, with T the
 * largest scale * sum_c |q_c k_c| of all logits.
 */
export function relativeBound({ dim, keys }, largestTerm) {
    return 2 * UNIT * ((dim + 4) * largestTerm + 2 * keys + 8);
}

/** An upper limit of scale * sum_c |q_c k_c|, by Cauchy and Schwarz. */
export function largestProduct({ dim }, query, key, scale = 1 / Math.sqrt(dim)) {
    const longest = (array) => {
        let most = 0;
        for (let row = 0; row < array.length; row += dim) {
            most = Math.max(most, Math.hypot(...array.subarray(row, row + dim)));
        }
        return most;
    };
    return Math.abs(scale) * longest(query) * longest(key);
}

/** How much a sketch of size s may stretch |q| |k|: (1 + sqrt(d/s))^2 (Marchenko and Pastur, 1967). */
export function sketchStretch(plan) {
    const size = plan.facts.find(({ name }) => name === "size").value;
    return (1 + Math.sqrt(plan.sizes.dim / size)) ** 2;
}

/** Exact attention with every rule, and bounds on float32's error: tests/exact/exact.mjs. */
export function exactAttention({ sizes, ...arrays }, rules) {
    return exactReference(sizes, arrays, rules);
}

/** Throws at the first element that is further off than its tolerance; returns the worst ratio. */
export function assertClose(actual, expected, tolerance, what) {
    if (actual.length !== expected.length) {
        throw new Error(`${what}: ${actual.length} elements instead of ${expected.length}`);
    }
    let worst = 0;
    for (let i = 0; i < actual.length; i++) {
        if (Object.is(actual[i], expected[i])) continue; // infinities too
        const difference = Math.abs(actual[i] - expected[i]);
        const allowed = typeof tolerance === "number" ? tolerance : tolerance[i];
        if (!(difference <= allowed)) {
            throw new Error(`${what}[${i}] is ${actual[i]}, not ${expected[i]} +- ${allowed}`);
        }
        if (allowed > 0) worst = Math.max(worst, difference / allowed);
    }
    return worst;
}

/** From (batch, head, row, column) to (batch, row, head, column), or back with heads and rows swapped. */
export function swapHeadsAndRows(array, batch, heads, rows, columns) {
    const swapped = new Float32Array(array.length);
    for (let b = 0; b < batch; b++) {
        for (let h = 0; h < heads; h++) {
            for (let i = 0; i < rows; i++) {
                const from = ((b * heads + h) * rows + i) * columns;
                swapped.set(
                    array.subarray(from, from + columns),
                    ((b * rows + i) * heads + h) * columns,
                );
            }
        }
    }
    return swapped;
}

/** A .npy file. `data`: any typed array that `descr` describes, in the file's order. */
export function npyBytes(shape, data, options) {
    return npyFile(shape, Buffer.from(data.buffer, data.byteOffset, data.byteLength), options);
}
