// Who takes part, each as a process of its own.

const onnxruntime = (model, web = 0) => ({
    command: ["node", "onnxruntime.mjs", `model=${model}`, `web=${web}`],
});
/** In the folder of newest/root.sh, when that is asked for. */
const newest = (...command) => ({ command: ["newest", ...command], newest: true });
export const chromium = (contender, ...more) => ({
    command: ["node", "chromium.mjs", `contender=${contender}`, ...more],
});

/**
 * `command`: a program of CMakeLists.txt, or node with a module of this folder. `task` replaces
 * sizes of the row's task, `peak` is the peak it is held against when that is not the family's,
 * `layout` that it gets the row's blocks as a list, `empty` says that it computes nothing, `newest` that it is left out unless it is asked for. Those whose
 * name begins with libattn are this library.
 */
export const contenders = {
    libattn: { command: ["peer_libattn"] },
    "libattn, dense": { command: ["peer_libattn"], task: { sparse: "" } },
    "libattn, dense, 1 head": {
        command: ["peer_libattn"],
        task: { sparse: "", heads: 1, kv_heads: 1 },
    },
    "libattn, blocks": { command: ["peer_libattn"], layout: true },
    "libattn, AVX2": { command: ["peer_libattn"], env: { ATTN_CPU: "avx2" }, peak: "avx2" },
    "libattn, 1 thread": { command: ["peer_libattn"], task: { threads: 1 } },
    "libattn, f16 keys and values": { command: ["peer_libattn"], task: { kv: "f16" } },
    "libattn, bf16 keys and values": { command: ["peer_libattn"], task: { kv: "bf16" } },
    "libattn, i8 keys and values": { command: ["peer_libattn"], task: { kv: "i8" } },
    "libattn, i8 keys and values, int8": {
        command: ["peer_libattn"],
        task: { kv: "i8", precision: "int8" },
    },
    "libattn, int16": { command: ["peer_libattn"], task: { precision: "int16" } },
    "libattn, int8": { command: ["peer_libattn"], task: { precision: "int8" } },
    "libattn, bf16": { command: ["peer_libattn"], task: { kv: "bf16", precision: "bf16" } },
    "libattn, bf16x3": { command: ["peer_libattn"], task: { precision: "bf16x3" } },
    "libattn, 1 query head": { command: ["peer_libattn"], task: { heads: 1 } },
    "onnxruntime MultiHeadAttention": onnxruntime("mha"),
    "onnxruntime Attention": onnxruntime("attention"),
    "onnxruntime GroupQueryAttention": onnxruntime("gqa"),
    "onnxruntime MatMul, Softmax, MatMul": onnxruntime("graph"),
    "onnxruntime LinearAttention": onnxruntime("linear"),
    "onnxruntime SparseAttention": { ...onnxruntime("sparse"), layout: true },
    "onnxruntime, an empty call": { ...onnxruntime("identity"), empty: true },
    ggml: newest("ggml"),
    "ggml, f16 keys and values": { ...newest("ggml"), task: { kv: "f16" } },
    PyTorch: newest("python3", "torch_sdpa.py"),
    "PyTorch, bf16": {
        ...newest("python3", "torch_sdpa.py"),
        task: { kv: "bf16", precision: "bf16" },
    },
    "PyTorch, chunks": newest("python3", "torch_chunks.py"),
    "plain loops in C": { command: ["peer_recurrence"] },
    "plain loops in C, -ffast-math": { command: ["peer_recurrence_fast"] },
    oneDNN: { command: ["peer_onednn"] },
    OpenBLAS: { command: ["peer_openblas"] },
    "oneDNN, newest": newest("onednn"),
    "OpenBLAS, newest": newest("openblas"),
    "libattn, SIMD128": { command: ["node", "wasm.mjs", "build=simd"] },
    "libattn, SIMD128, 1 thread": {
        command: ["node", "wasm.mjs", "build=simd"],
        task: { threads: 1 },
    },
    "libattn, SIMD128, dense": {
        command: ["node", "wasm.mjs", "build=simd"],
        task: { sparse: "" },
    },
    "libattn, SIMD128, dense, 1 head": {
        command: ["node", "wasm.mjs", "build=simd"],
        task: { sparse: "", heads: 1, kv_heads: 1 },
    },
    "libattn, softmax alone": { command: ["node", "wasm.mjs", "build=simd", "entry=softmax"] },
    "libattn, relaxed SIMD": { command: ["node", "wasm.mjs", "build=relaxed"] },
    "libattn, SIMD128 and threads": { command: ["node", "wasm.mjs", "build=threads"] },
    "libattn/native in Node": { command: ["node", "addon.mjs"] },
    "libattn/native in Node, runAsync": { command: ["node", "addon.mjs", "async=1"] },
    "onnxruntime-web MultiHeadAttention": onnxruntime("mha", 1),
    "onnxruntime-web Attention": onnxruntime("attention", 1),
    "onnxruntime-web MatMul, Softmax, MatMul": onnxruntime("graph", 1),
    "onnxruntime-web LinearAttention": onnxruntime("linear", 1),
    "tfjs-backend-wasm": { command: ["node", "tfjs.mjs"] },
    "libattn, SIMD128, Chromium": chromium("libattn", "build=simd"),
    "libattn, relaxed SIMD, Chromium": chromium("libattn", "build=relaxed"),
    "libattn, SIMD128 and threads, Chromium": chromium("libattn", "build=threads"),
    "onnxruntime-web MultiHeadAttention, Chromium": chromium("onnxruntime", "model=mha"),
    "onnxruntime-web MatMul, Softmax, MatMul, Chromium": chromium("onnxruntime", "model=graph"),
    "tfjs-backend-wasm, Chromium": chromium("tfjs"),
};
