// Linear attention.

import { oneQuery, ownWeb, row, square, two, units, withOne, without } from "./tasks.mjs";

const loops = ["plain loops in C", "plain loops in C, -ffast-math"];
const linear = ["libattn", ...loops, "PyTorch, chunks"];
const states = ["libattn", ...loops];
const rules = ["libattn", "onnxruntime LinearAttention", ...loops, "PyTorch, chunks"];
const oneToken = [...states, "onnxruntime LinearAttention"];
const gatedRules = [...rules, "ggml"];
const webRules = [...ownWeb, "onnxruntime-web LinearAttention"];

const elu1 = (n, more) => square(n, 64, { form: "elu1", ...more });
const ruled = (form, n, more) => square(n, 64, { form, causal: 1, ...more });
const nextToken = (form) => ({ ...oneQuery(256), dim: 64, form, stream: 1 });

export const families = [
    {
        id: "linear",
        title: "Linear attention, elu(x)+1 with its normaliser, d = 64 (4 n d^2 operations a head)",
        unit: units.flops,
        peak: "flops",
        rows: [
            row("linear-causal-4096", "causal, n = 4096", elu1(4096, { causal: 1 }), [
                "libattn",
                "libattn, AVX2",
                ...linear.slice(1),
            ]),
            row("linear-causal-65536", "causal, n = 65536", elu1(65536, { causal: 1 }), linear),
            row("linear-full-4096", "not causal, n = 4096", elu1(4096), linear),
            row("linear-full-65536", "not causal, n = 65536", elu1(65536), linear),
            row(
                "linear-grouped-4096",
                "causal, 8 heads to a key/value head",
                elu1(4096, { causal: 1, kv_heads: 1 }),
                states,
            ),
        ],
    },
    {
        id: "linear-rules",
        title: "Linear attention, phi(x) = x without normaliser, by rules; causal, d = 64 (4 n d^2 operations a head)",
        unit: units.flops,
        peak: "flops",
        rows: [
            row("linear-plain-4096", "linear, n = 4096", ruled("linear", 4096), rules),
            row("linear-plain-65536", "linear, n = 65536", ruled("linear", 65536), rules),
            row("linear-gated-4096", "gated by column, n = 4096", ruled("gated", 4096), gatedRules),
            row(
                "linear-gated-65536",
                "gated by column, n = 65536",
                ruled("gated", 65536),
                gatedRules,
            ),
            row("linear-delta-4096", "delta, n = 4096", ruled("delta", 4096), gatedRules),
            row("linear-delta-65536", "delta, n = 65536", ruled("delta", 65536), gatedRules),
            row(
                "linear-gated-delta-4096",
                "gated delta, n = 4096",
                ruled("gated_delta", 4096),
                without(gatedRules, "PyTorch"),
            ),
        ],
    },
    {
        id: "linear-decode",
        title: "Linear attention, one token more, 8 heads, d = 64 (the state read and written)",
        note: "The states of all heads, 128 kB, lie in a core's cache.",
        unit: units.state,
        peak: "state",
        rows: [
            row("linear-decode-elu1", "elu(x)+1 and normaliser", nextToken("elu1"), states),
            row("linear-decode-plain", "phi(x) = x", nextToken("linear"), oneToken),
            row("linear-decode-gated", "phi(x) = x, gated by column", nextToken("gated"), oneToken),
        ],
    },
    {
        id: "linear-threads",
        title: "Linear attention, elu(x)+1, 2 threads",
        unit: units.flops,
        peak: "flops2",
        rows: [
            row(
                "linear-threads-8",
                "causal, n = 4096, 8 heads",
                elu1(4096, { ...two, causal: 1 }),
                withOne(["libattn"]),
            ),
            row(
                "linear-threads-1",
                "causal, n = 65536, 1 head",
                elu1(65536, { ...two, causal: 1, heads: 1, kv_heads: 1 }),
                withOne(["libattn"]),
            ),
            row(
                "linear-threads-gated",
                "phi(x) = x, gated by column, n = 4096, 8 heads",
                ruled("gated", 4096, two),
                withOne(["libattn", "onnxruntime LinearAttention"]),
            ),
        ],
    },
    {
        id: "linear-wasm",
        title: "Linear attention, WebAssembly in Node, 1 thread",
        unit: units.flops,
        peak: "wasm",
        rows: [
            row(
                "linear-wasm-causal",
                "elu(x)+1, causal, n = 4096",
                elu1(4096, { causal: 1 }),
                ownWeb,
            ),
            row("linear-wasm-full", "elu(x)+1, not causal, n = 4096", elu1(4096), ownWeb),
            row("linear-wasm-plain", "phi(x) = x, causal", ruled("linear", 4096), webRules),
            row("linear-wasm-gated", "the same gated by column", ruled("gated", 4096), webRules),
            row("linear-wasm-delta", "the same, delta rule", ruled("delta", 4096), webRules),
        ],
    },
];
