// Exact attention with every rule and a bound on each number's error, for the tests in JavaScript: what
// support/exact.c says, which the tests in C compare with too. Nothing is computed here.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const CAUSAL = { none: 0, "top-left": 1, "bottom-right": 2 };
const DTYPES = { f32: 1, f16: 3, bf16: 4, i8: 5 };
const INPUTS = { bias: 1, mask: 2, kvLengths: 4, sinks: 8, slopes: 16 };

/**
 * sizes    batch, heads, kvHeads, queries, keys, dim, valueDim
 * arrays   query, key and value as plain numbers; for kvDtype "i8" with keyScales and valueScales
 * rules    causal, past, window, softcap, scale, dtype, kvDtype, kvLengths, sinks, slopes; mask and
 *          bias as functions of batch, head, query and key
 *
 * Returns out, lse, weights and scores ([raw, capped, masked, weights]), with outBound, lseBound,
 * weightsBound and scoresBound.
 */
export function exactAttention(sizes, arrays, rules = {}) {
    const { batch, heads, queries, keys, valueDim } = sizes;
    const rows = batch * heads * queries;
    const answer = solve(Float64Array.from(requestOf(sizes, arrays, rules)));
    let next = 0;
    const take = (count) => answer.subarray(next, (next += count));
    const pair = (count) => [take(count), take(count)];
    const [out, outBound] = pair(rows * valueDim);
    const [lse, lseBound] = pair(rows);
    const [weights, weightsBound] = pair(rows * keys);
    const stages = [pair(rows * keys), pair(rows * keys), pair(rows * keys)];
    stages.push([weights, weightsBound]);
    const [scores, scoresBound] = [0, 1].map((part) => stages.map((stage) => stage[part]));
    if (next !== answer.length) throw new Error("the reference's answer has another length");
    return { out, outBound, lse, lseBound, weights, weightsBound, scores, scoresBound };
}

/** The relative error in the Frobenius norm that an output within its bounds may have. */
export function largestError({ out, outBound }) {
    return norm(outBound) / norm(out);
}

const norm = (array) => Math.sqrt(array.reduce((sum, x) => sum + x * x, 0));

/** The numbers of answer.h's request. */
function* requestOf(sizes, arrays, rules) {
    const { batch, heads, kvHeads, queries, keys, dim, valueDim } = sizes;
    const { causal = "none", past = 0, window = [-1, -1], scale = NaN, softcap = 0 } = rules;
    const { dtype = "f32", kvDtype = dtype } = rules;
    const inputs = Object.keys(INPUTS).filter((name) => rules[name]);
    yield* [batch, heads, kvHeads, queries, keys, dim, valueDim];
    yield* [CAUSAL[causal], past, ...window, scale, softcap];
    yield inputs.reduce((sum, name) => sum + INPUTS[name], 0);
    yield* [DTYPES[dtype], DTYPES[kvDtype]];
    yield* arrays.query;
    yield* arrays.key;
    yield* arrays.value;
    for (const name of inputs) {
        if (typeof rules[name] === "function") yield* grid(sizes, rules[name]);
        else yield* rules[name];
    }
    if (kvDtype !== "i8") return;
    yield* arrays.keyScales;
    yield* arrays.valueScales;
}

function* grid({ batch, heads, queries, keys }, at) {
    for (let b = 0; b < batch; b++)
        for (let h = 0; h < heads; h++)
            for (let i = 0; i < queries; i++)
                for (let j = 0; j < keys; j++) yield Number(at(b, h, i, j));
}

const built = (preset, name) =>
    new URL(`../../build/${preset}/tests/exact/${name}`, import.meta.url);

/**
 * ATTN_EXACT, or what is built: the module, which answers in this process, or the program.
 */
function solve(numbers) {
    const module = fileURLToPath(built("wasi", "attn_exact.wasm"));
    const program = fileURLToPath(built("native", "attn_exact"));
    const file = process.env.ATTN_EXACT ?? (existsSync(module) ? module : program);
    return file.endsWith(".wasm") ? solveInModule(file, numbers) : solveBy(file, numbers);
}

function solveBy(file, numbers) {
    const input = new Uint8Array(numbers.buffer);
    const { status, error, stdout, stderr } = spawnSync(file, { input, maxBuffer: 2 ** 30 });
    if (status !== 0) throw error ?? new Error(stderr.toString());
    return new Float64Array(new Uint8Array(stdout).buffer);
}

let c = null; // the module's exports

function solveInModule(file, numbers) {
    c ??= openModule(file);
    const at = c.request(numbers.length);
    new Float64Array(c.memory.buffer, at, numbers.length).set(numbers);
    const answer = c.solve(numbers.length);
    if (answer === 0) throw new Error(`${numbers.length} numbers make no request`);
    return new Float64Array(c.memory.buffer, answer, c.count()).slice();
}

function openModule(file) {
    const module = new WebAssembly.Module(readFileSync(file));
    const imports = {}; // what tells of failures; nothing is called otherwise
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
        (imports[from] ??= {})[name] = () => {
            throw new Error(`the reference calls ${name}`);
        };
    }
    const { exports } = new WebAssembly.Instance(module, imports);
    exports._initialize();
    return exports;
}
