// The measured peaks. Each is the best of several measurements in a run: a peak is a maximum, and
// whatever else the machine does meanwhile only lowers it.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
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

function raise(peaks, name, value) {
    if (value > (peaks[name] ?? 0)) peaks[name] = value;
}

/**
 * Measures again and raises `peaks`: flops, read and state, 1e9 a second in one thread with the best
 * instructions, and a peak for each tier by its name; read2 of two threads at once; flops2 of two
 * processes at once, wasm of WebAssembly's SIMD128 in Node, and chromium the same in Chromium where that is `wanted`.
 */
export async function raisePeaks(peaks, program, wanted) {
    const alone = await measure(program);
    for (const [name, value] of Object.entries(alone)) raise(peaks, name, value);
    const both = await Promise.all([measure(program), measure(program)]);
    raise(peaks, "flops2", both[0].flops + both[1].flops);
    raise(peaks, "wasm", await wasmPeak());
    if (wanted === "chromium") raise(peaks, "chromium", await chromiumPeak());
}
