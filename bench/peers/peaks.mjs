// The measured peaks. Each is the best of several measurements in a run: a peak is a maximum, and
// whatever else the machine does meanwhile only lowers it.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import { chromiumPeak } from "./chromium_peak.mjs";
import { wasmPeak } from "./wasm_peak.mjs";

const execute = promisify(execFile);

async function measure(program) {
    const { stdout } = await execute(program);
    const lines = stdout.trim().split("\n");
    return Object.fromEntries(
        lines.map((line) => line.split(" ")).map(([name, value]) => [name, Number(value)]),
    );
}

/** WebAssembly's peak by two threads at once, the sum of theirs. */
async function wasmPeakOfTwo() {
    const source = `
        const { parentPort, workerData } = require("node:worker_threads");
        import(workerData).then(({ wasmPeak }) => wasmPeak(5_000_000)).then((peak) => parentPort.postMessage(peak));`;
    const workerData = new URL("wasm_peak.mjs", import.meta.url).href;
    const one = async () => {
        const [peak] = await once(new Worker(source, { eval: true, workerData }), "message");
        return peak;
    };
    const [a, b] = await Promise.all([one(), one()]);
    return a + b;
}

function raise(peaks, name, value) {
    if (value > (peaks[name] ?? 0)) peaks[name] = value;
}

/**
 * Measures again and raises `peaks`: flops, read and state, 1e9 a second in one thread with the best
 * instructions, and a peak for each tier by its name; read2 of two threads at once; flops2 of two
 * processes at once, wasm of WebAssembly's SIMD128 in Node, and where they are `wanted` wasm2 the same of two threads at
 * once and chromium the same in Chromium.
 */
export async function raisePeaks(peaks, program, wanted) {
    const alone = await measure(program);
    for (const [name, value] of Object.entries(alone)) raise(peaks, name, value);
    const both = await Promise.all([measure(program), measure(program)]);
    raise(peaks, "flops2", both[0].flops + both[1].flops);
    raise(peaks, "wasm", await wasmPeak());
    if (wanted === "wasm2") raise(peaks, "wasm2", await wasmPeakOfTwo());
    if (wanted === "chromium") raise(peaks, "chromium", await chromiumPeak());
}
