// onnxruntime-web in a page, with its WebAssembly backend.

import { bytesOf } from "./start.mjs";

const folder = "/peers/onnxruntime-web/dist/";
const arrays = { float32: Float32Array, int32: Int32Array };

export async function open(task) {
    const ort = await import(`${folder}ort.wasm.min.mjs`);
    Object.assign(ort.env.wasm, { wasmPaths: folder, numThreads: task.threads });
    ort.env.logLevel = "error";
    const session = await ort.InferenceSession.create(await bytesOf("model"), {
        executionProviders: ["wasm"],
        graphOptimizationLevel: "all",
    });
    const feeds = {};
    for (const { name, type, dims } of task.inputs) {
        const data = new arrays[type](await bytesOf(`input-${name}`));
        feeds[name] = new ort.Tensor(type, data, dims);
    }
    let results;
    return {
        about: `onnxruntime-web ${ort.env.versions.web}, ${task.model}`,
        run: async () => (results = await session.run(feeds, ["out"])),
        output: () => results.out.data,
    };
}
