/*
 * One problem, every way to run it: the two builds of the package, the command line natively and
 * the command line under WASI. All read the same .npy files and give the same numbers.
 *
 * ATTN_CLI   the native `attn`                     ../../build/attn
 * ATTN_WASI  the `attn.wasm` that node:wasi runs   ../../build/wasi/bench/attn.wasm
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { embed, readNpy } from "libattn/data";
import { assertClose, eachRow, libraries, makeProblem, npyBytes } from "../support.mjs";
import { largestProduct, relativeBound, sketchStretch } from "../support.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const cli = process.env.ATTN_CLI ?? here("../../../build/attn");
const wasi = process.env.ATTN_WASI ?? here("../../../build/wasi/bench/attn.wasm");
const runWasi = here("../../toolchain/run-wasi.mjs");

const programs = [
    { name: "the native attn", file: cli, command: [cli] },
    { name: "attn.wasm under WASI", file: wasi, command: [process.execPath, runWasi, wasi] },
];

const folder = mkdtempSync(join(tmpdir(), "libattn-"));
after(() => rmSync(folder, { recursive: true }));

const problem = makeProblem(
    { batch: 2, heads: 4, kvHeads: 2, queries: 45, keys: 61, dim: 24, valueDim: 10 },
    21,
);
const inputs = { q: "query", k: "key", v: "value" };
const { batch, heads, kvHeads, queries, keys, dim, valueDim } = problem.sizes;
const shapes = {
    query: [batch, heads, queries, dim],
    key: [batch, kvHeads, keys, dim],
    value: [batch, kvHeads, keys, valueDim],
};
for (const array of Object.values(inputs)) {
    writeFileSync(join(folder, `${array}.npy`), npyBytes(shapes[array], problem[array]));
}

/** What each way is asked to do: options of plan(), and the same for the command line. */
const tasks = [
    { backend: "softmax" },
    { backend: "softmax", causal: true, scale: 0.5 },
    { backend: "linear" },
    { backend: "linear", causal: true, params: { feature_map: "relu" } },
    { backend: "sparse", params: { block: 8, local: 2, global: 1 } },
    { backend: "sparse", causal: true },
    { backend: "sparse", causal: true, params: { pattern: "lsh", buckets: 4, rounds: 2 } },
    { backend: "sparse", params: { pattern: "lsh", buckets: 6, seed: 3 } },
    { backend: "sketch" },
    { backend: "sketch", params: { method: "ams", size: 16 } },
    { backend: "sketch", params: { method: "osnap", size: 16 } },
];

function commandArguments({ backend, causal, scale, params = {} }) {
    const files = Object.entries(inputs).flatMap(([flag, array]) => [
        `--${flag}`,
        join(folder, `${array}.npy`),
    ]);
    const settings = Object.entries(params).flatMap(([name, value]) => [
        "--set",
        `${name}=${value}`,
    ]);
    const rules = [...(causal ? ["--causal"] : []), ...(scale ? ["--scale", String(scale)] : [])];
    return ["run", backend, ...files, ...rules, ...settings, "-o", join(folder, "out.npy")];
}

/** The package's result, and how far another float32 computation of it may be off. */
function compute(attn, task) {
    const { query, key, value, sizes } = problem;
    const plan = attn.plan({ ...sizes, ...task });
    const { out } = plan.run({ query, key, value });
    const stretch = task.backend === "sketch" ? sketchStretch(plan) : 1;
    const product = stretch * largestProduct(sizes, query, key, task.scale);
    const bound = 2 * relativeBound(sizes, product);
    const tolerance = new Float64Array(out.length);
    const rows = new Map();
    eachRow(sizes, (b, h, i, at) => {
        const block = `${b} ${h}`;
        if (!rows.has(block)) rows.set(block, plan.weights({ query, key, batch: b, head: h }));
        for (let j = 0; j < keys; j++) {
            const weight = bound * Math.abs(rows.get(block)[i * keys + j]);
            for (let c = 0; c < valueDim; c++) {
                const term = Math.abs(value[at.value + j * valueDim + c]);
                tolerance[at.row * valueDim + c] += weight * term;
            }
        }
    });
    plan.dispose();
    return { out, tolerance };
}

/** The error of a backend's output, by plan.error(). */
function measureError(attn, backend, out, stride) {
    const { query, key, value, sizes } = problem;
    const plan = attn.plan({ ...sizes, backend });
    const error = plan.error({ query, key, value, out, stride });
    plan.dispose();
    return error;
}

function norm(array) {
    return Math.hypot(...array);
}

const simd = libraries.get("simd");

describe("the scalar build agrees with the SIMD build", () => {
    for (const task of tasks) {
        test(JSON.stringify(task), async () => {
            const { out, tolerance } = compute(simd, task);
            assertClose(compute(libraries.get("scalar"), task).out, out, tolerance, "out");
        });
    }
});

for (const { name, file, command } of programs) {
    const skip = !existsSync(file) && `there is no ${file}`;
    const [program, ...first] = command;
    const call = (...args) => execFileSync(program, [...first, ...args], { encoding: "utf8" });

    describe(`${name} agrees with the SIMD build`, { skip }, () => {
        for (const task of tasks) {
            test(JSON.stringify(task), async () => {
                call(...commandArguments(task));
                const result = await readNpy(readFileSync(join(folder, "out.npy")));
                assert.deepEqual(result.shape, [batch, heads, queries, valueDim]);
                const { out, tolerance } = compute(simd, task);
                assertClose(result.data, out, tolerance, "out");
            });
        }

        test("embed", async () => {
            const text = "Don't panic: 42 über 日本語.\n";
            const [from, to] = [join(folder, "text.txt"), join(folder, "x.npy")];
            writeFileSync(from, text);
            call("embed", from, "--dim", "48", "-o", to);
            const result = await readNpy(readFileSync(to));
            const { x, rows } = await embed(text, 48);
            assert.deepEqual(result.shape, [rows, 48]);
            // One rounding of each of two terms of at most sqrt(4 sqrt(d)), and one of their sum.
            assertClose(result.data, x, 4 * 2 ** -24 * Math.sqrt(4 * Math.sqrt(48)), "x");
        });

        test("the errors that attn compare prints", () => {
            const files = Object.entries(inputs).flatMap(([flag, array]) => [
                `--${flag}`,
                join(folder, `${array}.npy`),
            ]);
            const printed = JSON.parse(call("compare", ...files, "--json"));
            assert.deepEqual(
                printed.rows.map(({ backend }) => backend),
                simd.backends().map(({ id }) => id),
            );
            for (const { backend, error } of printed.rows) {
                const { out, tolerance } = compute(simd, { backend });
                const actual = measureError(simd, backend, out, printed.error_stride);
                // ||O - O*|| and ||O' - O*|| differ by at most ||O - O'||; 1e-8: digits printed.
                const allowed = (norm(tolerance) / norm(out)) * (1 + actual) + 1e-8 * actual;
                assertClose([actual], [error], allowed, `${backend}: error`);
            }
        });

        test("the list of backends", () => {
            const words = (text) => text.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
            const inC = (array) => ({
                ...array,
                name: words(array.name),
                axes: array.axes.map(words),
            });
            const strip = ({ params, arrays, ...backend }) => ({
                ...backend,
                arrays: arrays.map(inC),
                params: params.map((p) => p.name),
            });
            assert.deepEqual(
                JSON.parse(call("list", "--json")).map(strip),
                simd.backends().map(strip),
            );
        });
    });
}
