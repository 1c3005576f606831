// tfjs with its WebAssembly backend, in Node.

import { dirname } from "node:path";
import { createRequire } from "node:module";
import { inRoot } from "../measure/paths.mjs";
import { attentionOf } from "./tfjs_attention.mjs";
import { peer, serve } from "./worker.mjs";

await serve(async (task) => {
    const tf = peer("@tensorflow/tfjs-core");
    const wasm = peer("@tensorflow/tfjs-backend-wasm");
    const main = createRequire(inRoot("package.json")).resolve("@tensorflow/tfjs-backend-wasm");
    wasm.setWasmPaths(`${dirname(main)}/`);
    wasm.setThreadsCount(task.threads);
    await tf.setBackend("wasm");
    const simd = await tf.env().getAsync("WASM_HAS_SIMD_SUPPORT");
    const about = `tfjs-backend-wasm ${wasm.version_wasm}${simd ? ", SIMD" : ""}, 2-D products`;
    return { about, ...attentionOf(tf, task) };
});
