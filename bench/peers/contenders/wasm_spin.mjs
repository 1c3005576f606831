// WebAssembly's arithmetic (wasm_peak.mjs) in Node as a contender: `amount` operations a call, by as many threads at once.

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { spinner } from "./wasm_peak.mjs";
import { serve } from "./worker.mjs";

const source = `
    const { parentPort, workerData } = require("node:worker_threads");
    import(workerData).then(async ({ spinner }) => {
        const spin = await spinner();
        parentPort.on("message", (amount) => parentPort.postMessage(spin(amount)));
    });`;

async function askWorker(worker, amount) {
    worker.postMessage(amount);
    await once(worker, "message");
}

await serve(async ({ threads, amount }) => {
    const spin = await spinner();
    const workerData = new URL("wasm_peak.mjs", import.meta.url).href;
    const others = Array.from(
        { length: threads - 1 },
        () => new Worker(source, { eval: true, workerData }),
    );
    const run = async () => {
        const asked = others.map((worker) => askWorker(worker, amount / threads));
        spin(amount / threads);
        await Promise.all(asked);
    };
    return { about: `SIMD128, in Node ${process.versions.node}`, run, output: () => [] };
});
