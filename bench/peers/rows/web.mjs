// Exact attention in WebAssembly.

import { inCache, oneQuery, ownWeb, row, square, two, units, without } from "./tasks.mjs";

const web = [
    ...ownWeb,
    "onnxruntime-web MultiHeadAttention",
    "onnxruntime-web Attention",
    "onnxruntime-web MatMul, Softmax, MatMul",
    "tfjs-backend-wasm",
];
const page = [
    "libattn, SIMD128, Chromium",
    "libattn, relaxed SIMD, Chromium",
    "onnxruntime-web MultiHeadAttention, Chromium",
    "onnxruntime-web MatMul, Softmax, MatMul, Chromium",
    "tfjs-backend-wasm, Chromium",
];

export const families = [
    {
        id: "wasm",
        title: "WebAssembly in Node, 1 thread",
        unit: units.flops,
        peak: "wasm",
        rows: [
            row("wasm-full-1024", "full, n = 1024, d = 64", square(1024, 64), web),
            row("wasm-full-4096", "full, n = 4096, d = 64", square(4096, 64), web),
            row("wasm-full-16384", "full, n = 16384, d = 64", square(16384, 64), ownWeb),
            row(
                "wasm-causal-4096",
                "causal, n = 4096, d = 64",
                square(4096, 64, { causal: 1 }),
                without(web, "MatMul"),
            ),
        ],
    },
    {
        id: "wasm-decode",
        title: "WebAssembly in Node, one query, 1 thread",
        note: inCache,
        unit: units.bytes,
        peak: "read",
        rows: [
            row("wasm-decode-4096", "m = 4096, d = 128", oneQuery(4096), web),
            row("wasm-decode-32768", "m = 32768, d = 128", oneQuery(32768), web),
        ],
    },
    {
        id: "wasm-threads",
        title: "WebAssembly in Node, 2 threads",
        unit: units.flops,
        peak: "wasm",
        rows: [
            row("wasm-threads-4096", "full, n = 4096, d = 64", square(4096, 64, two), [
                "libattn, SIMD128 and threads",
                "libattn, SIMD128",
                "onnxruntime-web MatMul, Softmax, MatMul",
            ]),
        ],
    },
    {
        id: "chromium",
        title: "WebAssembly in Chromium, 1 thread",
        unit: units.flops,
        peak: "chromium",
        rows: [
            row("chromium-full-1024", "full, n = 1024, d = 64", square(1024, 64), page),
            row("chromium-full-4096", "full, n = 4096, d = 64", square(4096, 64), page),
            row(
                "chromium-causal-4096",
                "causal, n = 4096, d = 64",
                square(4096, 64, { causal: 1 }),
                without(page, "MatMul"),
            ),
        ],
    },
    {
        id: "chromium-decode",
        title: "WebAssembly in Chromium, one query, 1 thread",
        note: inCache,
        unit: units.bytes,
        peak: "read",
        rows: [row("chromium-decode-4096", "m = 4096, d = 128", oneQuery(4096), page)],
    },
];
