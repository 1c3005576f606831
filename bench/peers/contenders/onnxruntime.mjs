// onnxruntime in Node: its native package, or with web=1 its WebAssembly one. All arrays are made
// beforehand; the output's too, which onnxruntime-web would leave unwritten and makes itself.

import { writeFileSync } from "node:fs";
import { encodeModel, makers } from "./models.mjs";
import { peer, serve } from "./worker.mjs";

function loadRuntime(web, threads) {
    const name = web ? "onnxruntime-web" : "onnxruntime-node";
    const ort = peer(name);
    ort.env.logLevel = "error";
    if (web) ort.env.wasm.numThreads = threads;
    return { ort, name };
}

/** The model's file, and its arrays. */
function modelOf(task) {
    const model = makers[task.model](task);
    const bytes = encodeModel(model);
    if (task.file) writeFileSync(task.file, bytes);
    return { model, bytes };
}

await serve(async (task, { model, bytes }) => {
    const web = task.web === "1";
    const { ort, name } = loadRuntime(web, task.threads);
    const session = await ort.InferenceSession.create(bytes, {
        executionProviders: [web ? "wasm" : "cpu"],
        graphOptimizationLevel: "all",
        executionMode: "sequential",
        intraOpNumThreads: task.threads,
        interOpNumThreads: 1,
    });
    const tensors = (arrays) =>
        Object.fromEntries(
            Object.entries(arrays).map(([key, { type = "float32", dims, data }]) => [
                key,
                new ort.Tensor(
                    type,
                    data ?? new Float32Array(dims.reduce((a, b) => a * b, 1)),
                    dims,
                ),
            ]),
        );
    const feeds = tensors(model.inputs);
    const fetches = web ? ["out"] : tensors(model.outputs);
    let results;
    return {
        about: `${name} ${ort.env.versions[web ? "web" : "node"]}, ${model.nodes.map(([op]) => op).join(", ")}`,
        run: async () => (results = await session.run(feeds, fetches)),
        output: () => model.result({ out: results.out.data }),
    };
}, modelOf);
