// Exact attention in WebAssembly.

import {
    causal,
    decode,
    full,
    ofReading,
    ownWeb,
    row,
    square,
    two,
    units,
    without,
} from "./tasks.mjs";

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

/** Rows of exact attention by `names`, some thousand tokens. */
const usual = (place, names) => [
    full(`${place}-full-1024`, 1024, names),
    full(`${place}-full-4096`, 4096, names),
    causal(`${place}-causal-4096`, 4096, without(names, "MatMul")),
];

export const families = [
    {
        id: "wasm",
        title: "WebAssembly in Node, 1 thread",
        unit: units.flops,
        peak: "wasm",
        rows: [...usual("wasm", web), full("wasm-full-16384", 16384, ownWeb)],
    },
    {
        id: "wasm-first",
        title: "WebAssembly in Node, the first call in a new process",
        note: "From before the package is loaded, in a Node.js that is up, to the end of the first run.",
        unit: units.flops,
        peak: "wasm",
        rows: [
            row("wasm-first-128", "n = 128, d = 64", square(128, 64, { first: 1 }), [
                "libattn, softmax alone",
                ...web,
            ]),
        ],
    },
    {
        id: "wasm-decode",
        title: "WebAssembly in Node, one query, 1 thread",
        ...ofReading,
        rows: [decode("wasm-decode-4096", 4096, web), decode("wasm-decode-32768", 32768, web)],
    },
    {
        id: "wasm-threads",
        title: "WebAssembly in Node, 2 threads",
        unit: units.flops,
        peak: "wasm2",
        rows: [
            full(
                "wasm-threads-4096",
                4096,
                [
                    "libattn, SIMD128 and threads",
                    "libattn, SIMD128, 1 thread",
                    "onnxruntime-web MatMul, Softmax, MatMul",
                ],
                two,
            ),
        ],
    },
    {
        id: "chromium",
        title: "WebAssembly in Chromium, 1 thread",
        unit: units.flops,
        peak: "chromium",
        rows: usual("chromium", page),
    },
    {
        id: "chromium-decode",
        title: "WebAssembly in Chromium, one query, 1 thread",
        ...ofReading,
        rows: [decode("chromium-decode-4096", 4096, page)],
    },
];
