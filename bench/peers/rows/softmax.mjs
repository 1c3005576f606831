// Exact attention.

import {
    causal,
    decode,
    full,
    ofReading,
    oneQuery,
    row,
    square,
    two,
    units,
    withOne,
} from "./tasks.mjs";

const operators = ["onnxruntime MultiHeadAttention", "onnxruntime Attention"];
const graph = "onnxruntime MatMul, Softmax, MatMul";
const shared = "onnxruntime GroupQueryAttention"; // always causal
const libraries = ["oneDNN", "OpenBLAS", "oneDNN, newest", "OpenBLAS, newest", "PyTorch"];
const caches = [
    ...["f16", "bf16", "i8"].map((type) => `libattn, ${type} keys and values`),
    "libattn, i8 keys and values, int8",
];

const all = ["libattn", ...operators, graph, ...libraries, "ggml"];
const masked = ["libattn", ...operators, shared, ...libraries];
const one = [
    "libattn",
    ...caches,
    ...operators,
    shared,
    ...libraries,
    "ggml",
    "ggml, f16 keys and values",
];
const grouped = [
    "libattn",
    "libattn, 1 query head",
    ...caches,
    "onnxruntime Attention",
    shared,
    ...libraries,
    "ggml",
];
const native = ["libattn", "libattn/native in Node", "libattn/native in Node, runAsync"];

const halves = (n, dim, more) =>
    row(
        `bf16-${more.causal ? "causal-" : ""}${n}-${dim}`,
        `${more.causal ? "causal, " : ""}n = ${n}, d = ${dim}`,
        square(n, dim, more),
        ["libattn", "libattn, bf16", "libattn, bf16x3", "PyTorch", "PyTorch, bf16"],
    );

export const families = [
    {
        id: "full",
        title: "Every query sees every key, 1 thread",
        unit: units.flops,
        peak: "flops",
        rows: [
            row("full-1024-64", "n = 1024, d = 64", square(1024, 64), all),
            row("full-4096-64", "n = 4096, d = 64", square(4096, 64), [
                "libattn",
                "libattn, AVX2",
                ...all.slice(1),
            ]),
            row("full-4096-128", "n = 4096, d = 128", square(4096, 128), all),
        ],
    },
    {
        id: "causal",
        title: "Causal, 1 thread (only pairs that count)",
        unit: units.flops,
        peak: "flops",
        rows: [
            row("causal-4096-64", "n = 4096, d = 64", square(4096, 64, { causal: 1 }), masked),
            row("causal-4096-128", "n = 4096, d = 128", square(4096, 128, { causal: 1 }), masked),
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
        id: "bf16",
        title: "Keys and values in bf16, 1 thread",
        note: "PyTorch's queries and outputs are in bf16, too. A share of 100% is what multiply-adds of floats could reach.",
        unit: units.flops,
        peak: "flops",
        rows: [
            ...[128, 1024, 4096].map((n) => halves(n, 64, {})),
            halves(4096, 128, {}),
            ...[64, 128].map((dim) => halves(4096, dim, { causal: 1 })),
        ],
    },
    {
        id: "small",
        title: "Small, with the cost of the call, 1 thread",
        unit: units.flops,
        peak: "flops",
        rows: [
            row("small-128-64", "n = 128, d = 64", square(128, 64), [
                ...all,
                "onnxruntime, an empty call",
            ]),
        ],
    },
    {
        id: "decode",
        title: "One query, a cache of keys and values, 1 thread",
        ...ofReading,
        rows: [decode("decode-4096", 4096, one), decode("decode-32768", 32768, one)],
    },
    {
        id: "grouped",
        title: "One query, 8 query heads to a key/value head, 1 thread",
        ...ofReading,
        rows: [
            decode("grouped-4096", 4096, grouped, { kv_heads: 1 }),
            decode("grouped-32768", 32768, grouped, { kv_heads: 1 }),
        ],
    },
    {
        id: "shared",
        title: "One query, many query heads to one key/value head, 1 thread",
        unit: units.flops,
        peak: "flops",
        rows: [16, 32, 71, 128].map((heads) =>
            row(
                `shared-${heads}`,
                `${heads} heads to one, m = 4096, d = 128`,
                oneQuery(4096, { heads, kv_heads: 1 }),
                ["libattn", "onnxruntime Attention", shared, ...libraries, "ggml"],
            ),
        ),
    },
    {
        id: "latent",
        title: "One query, many query heads to one key/value head, rows of latent attention, 1 thread",
        note: "Keys and values are arrays of their own, where latent attention reads both in one.",
        unit: units.flops,
        peak: "flops",
        rows: [16, 32, 71, 128].map((heads) =>
            row(
                `latent-${heads}`,
                `${heads} heads to one, m = 4096, d = 576, dv = 512`,
                oneQuery(4096, { heads, kv_heads: 1, dim: 576, value_dim: 512 }),
                ["libattn", "onnxruntime Attention", shared, ...libraries, "ggml"],
            ),
        ),
    },
    {
        id: "threads",
        title: "2 threads",
        unit: units.flops,
        peak: "flops2",
        rows: [
            full("threads-full", 4096, withOne(all), two),
            causal("threads-causal", 4096, withOne(masked), two),
        ],
    },
    {
        id: "threads-decode",
        title: "One query, 2 threads",
        unit: units.bytes,
        peak: "read2",
        rows: [decode("threads-decode", 32768, withOne(one), two)],
    },
    {
        id: "native",
        title: "The addon in Node beside the C library, 1 thread",
        unit: units.flops,
        peak: "flops",
        rows: [
            full("native-1024", 1024, native),
            full("native-4096", 4096, native),
            causal("native-causal", 4096, native),
        ],
    },
];
