// tfjs with its WebAssembly backend, in a page.

import { attentionOf } from "../tfjs_attention.mjs";

const folder = "/peers/@tensorflow";

function load(source) {
    return new Promise((resolve, reject) => {
        const script = document.createElement("script");
        Object.assign(script, { src: source, onload: resolve, onerror: reject });
        document.head.append(script);
    });
}

export async function open(task) {
    await load(`${folder}/tfjs-core/dist/tf-core.min.js`);
    await load(`${folder}/tfjs-backend-wasm/dist/tf-backend-wasm.min.js`);
    const { tf } = globalThis;
    tf.wasm.setWasmPaths(`${folder}/tfjs-backend-wasm/dist/`);
    tf.wasm.setThreadsCount(task.threads);
    await tf.setBackend("wasm");
    const simd = await tf.env().getAsync("WASM_HAS_SIMD_SUPPORT");
    const about = `tfjs-backend-wasm ${tf.wasm.version_wasm}${simd ? ", SIMD" : ""}, 2-D products`;
    return { about, ...attentionOf(tf, task) };
}
