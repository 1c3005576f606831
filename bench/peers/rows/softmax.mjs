// Exact attention.

import { inCache, oneQuery, row, square, two, units, withOne } from "./tasks.mjs";

const exact = [
    "libattn",
    "onnxruntime MultiHeadAttention",
    "onnxruntime Attention",
    "onnxruntime MatMul, Softmax, MatMul",
    "oneDNN",
    "OpenBLAS",
    "oneDNN, newest",
    "OpenBLAS, newest",
    "PyTorch",
    "ggml",
];
const causal = [
    "libattn",
    "onnxruntime MultiHeadAttention",
    "onnxruntime Attention",
    "onnxruntime GroupQueryAttention",
    "oneDNN",
    "OpenBLAS",
    "oneDNN, newest",
    "OpenBLAS, newest",
    "PyTorch",
];
const caches = ["f16", "bf16", "i8"].map((type) => `libattn, ${type} keys and values`);
const decode = [
    "libattn",
    ...caches,
    "libattn, i8 keys and values, int8",
    "onnxruntime MultiHeadAttention",
    "onnxruntime Attention",
    "onnxruntime GroupQueryAttention",
    "oneDNN",
    "OpenBLAS",
    "oneDNN, newest",
    "OpenBLAS, newest",
    "PyTorch",
    "ggml",
    "ggml, f16 keys and values",
];
const grouped = [
    "libattn",
    "libattn, 1 query head",
    ...caches,
    "libattn, i8 keys and values, int8",
    "onnxruntime Attention",
    "onnxruntime GroupQueryAttention",
    "oneDNN",
    "OpenBLAS",
    "oneDNN, newest",
    "OpenBLAS, newest",
    "PyTorch",
    "ggml",
];
const native = ["libattn", "libattn/native in Node", "libattn/native in Node, runAsync"];

export const families = [
    {
        id: "full",
        title: "Every query sees every key, 1 thread",
        unit: units.flops,
        peak: "flops",
        rows: [
            row("full-1024-64", "n = 1024, d = 64", square(1024, 64), exact),
            row("full-4096-64", "n = 4096, d = 64", square(4096, 64), [
                "libattn",
                "libattn, AVX2",
                ...exact.slice(1),
            ]),
            row("full-4096-128", "n = 4096, d = 128", square(4096, 128), exact),
        ],
    },
    {
        id: "causal",
        title: "Causal, 1 thread (only pairs that count)",
        unit: units.flops,
        peak: "flops",
        rows: [
            row("causal-4096-64", "n = 4096, d = 64", square(4096, 64, { causal: 1 }), causal),
            row("causal-4096-128", "n = 4096, d = 128", square(4096, 128, { causal: 1 }), causal),
        ],
    },
    {
        id: "precision",
        title: "Softmax's parameter precision: products of whole numbers, 1 thread",
        unit: units.flops,
        peak: "flops",
        rows: [64, 128].map((dim) =>
            row(`precision-4096-${dim}`, `n = 4096, d = ${dim}`, square(4096, dim), [
                "libattn",
                "libattn, int16",
                "libattn, int8",
            ]),
        ),
    },
    {
        id: "small",
        title: "Small, with the cost of the call, 1 thread",
        unit: units.flops,
        peak: "flops",
        rows: [
            row("small-128-64", "n = 128, d = 64", square(128, 64), [
                ...exact,
                "onnxruntime, an empty call",
            ]),
        ],
    },
    {
        id: "decode",
        title: "One query, a cache of keys and values, 1 thread",
        note: inCache,
        unit: units.bytes,
        peak: "read",
        rows: [
            row("decode-4096", "m = 4096, d = 128", oneQuery(4096), decode),
            row("decode-32768", "m = 32768, d = 128", oneQuery(32768), decode),
        ],
    },
    {
        id: "grouped",
        title: "One query, 8 query heads to a key/value head, 1 thread",
        note: inCache,
        unit: units.bytes,
        peak: "read",
        rows: [
            row("grouped-4096", "m = 4096, d = 128", oneQuery(4096, { kv_heads: 1 }), grouped),
            row("grouped-32768", "m = 32768, d = 128", oneQuery(32768, { kv_heads: 1 }), grouped),
        ],
    },
    {
        id: "threads",
        title: "2 threads",
        unit: units.flops,
        peak: "flops2",
        rows: [
            row("threads-full", "full, n = 4096, d = 64", square(4096, 64, two), withOne(exact)),
            row(
                "threads-causal",
                "causal, n = 4096, d = 64",
                square(4096, 64, { ...two, causal: 1 }),
                withOne(causal),
            ),
        ],
    },
    {
        id: "threads-decode",
        title: "One query, 2 threads",
        unit: units.bytes,
        peak: "read2",
        rows: [row("threads-decode", "m = 32768, d = 128", oneQuery(32768, two), withOne(decode))],
    },
    {
        id: "native",
        title: "The addon in Node beside the C library, 1 thread",
        unit: units.flops,
        peak: "flops",
        rows: [
            row("native-1024", "full, n = 1024, d = 64", square(1024, 64), native),
            row("native-4096", "full, n = 4096, d = 64", square(4096, 64), native),
            row(
                "native-causal",
                "causal, n = 4096, d = 64",
                square(4096, 64, { causal: 1 }),
                native,
            ),
        ],
    },
];
