// Sparse attention: the parameters are those of libattn's backend `sparse`.

import { oneQuery, row, square, two, units, withOne } from "./tasks.mjs";

const operator = "onnxruntime SparseAttention"; // always causal, of layouts of blocks
const sparse = ["libattn", "libattn, dense"];
const sparseHead = ["libattn", "libattn, dense, 1 head"];
const sparseBlocks = [...sparse, operator];
const sparseWeb = ["libattn, SIMD128", "libattn, SIMD128, dense"];
const sparseWebHead = ["libattn, SIMD128", "libattn, SIMD128, dense, 1 head"];

const pattern = (n, settings, more) => square(n, 64, { causal: 1, sparse: settings, ...more });

/** Eq. 6 (B = sqrt n, k = c = 1) over n; the longest with one head, since dense attention takes minutes. */
const growth = [256, 1024, 4096, 16384, 65536].map((n) => [
    n,
    pattern(n, "pattern=band", n > 16384 ? { heads: 1, kv_heads: 1 } : {}),
]);
/** Densities from about a half down, of blocks that onnxruntime can express too. */
const strides = [2, 4, 8, 16, 40];
const strided = (stride) => `pattern=strided,block=64,stride=${stride}`;
/** {name: [settings, contenders]} */
const patterns = {
    window: ["pattern=window,block=64,local=4", sparse],
    fixed: ["pattern=fixed,block=64", sparse],
    longformer: ["pattern=longformer,block=64,global=64", sparse],
    bigbird: ["pattern=bigbird,block=64,random=3", sparseBlocks],
    dilated: ["pattern=dilated,block=64,stride=2", sparse],
    topk: ["pattern=topk,block=64,top=2", sparse],
    "topk-10": ["pattern=topk,block=64,top=3", sparse],
    topkeys: ["pattern=topkeys,top=64", sparse],
    lsh: ["pattern=lsh,buckets=64,rounds=1", sparse],
    "lsh-2": ["pattern=lsh,buckets=64,rounds=2", sparse],
};
const labelOf = (settings) => settings.slice("pattern=".length).replaceAll(",", ", ");
const scattered = pattern(4096, "pattern=bigbird,block=16,global=0,random=25", { causal: 0 });
const window256 = "pattern=window,block=256";
const decoded = oneQuery(32768, { sparse: "pattern=bigbird,block=64,global=0,random=50" });
/** Blocks of queries that see everything beside others that see little. */
const unequal = {
    longformer: "pattern=longformer,block=64,global=64",
    bigbird: "pattern=bigbird,block=64,global=2,random=3",
};

export const families = [
    {
        id: "sparse-density",
        title: "Sparse, blocks of 64, every stride-th; causal, n = 4096, d = 64",
        unit: units.flops,
        peak: "flops",
        rows: strides.map((stride) =>
            row(
                `sparse-density-${stride}`,
                `strided, ${stride}`,
                pattern(4096, strided(stride)),
                sparseBlocks,
            ),
        ),
    },
    {
        id: "sparse-patterns",
        title: "Sparse, patterns; causal, n = 4096, d = 64",
        unit: units.flops,
        peak: "flops",
        rows: [
            ...Object.entries(patterns).map(([name, [settings, names]]) =>
                row(`sparse-${name}`, labelOf(settings), pattern(4096, settings), names),
            ),
            row("sparse-scattered", "blocks of 16 at random, 10%, not causal", scattered, [
                ...sparse,
                "libattn, blocks",
            ]),
        ],
    },
    {
        id: "sparse-growth",
        title: "Sparse, Eq. 6, B = sqrt n; causal, d = 64, 8 heads (n = 65536: 1)",
        unit: units.flops,
        peak: "flops",
        rows: growth.map(([n, task]) => row(`sparse-growth-${n}`, `n = ${n}`, task, sparse)),
    },
    {
        id: "sparse-window",
        title: "Sparse, window of 256; causal, d = 64",
        unit: units.flops,
        peak: "flops",
        rows: [4096, 16384, 65536].map((n) =>
            row(
                `sparse-window-${n}`,
                `window of 256, n = ${n}`,
                pattern(n, window256),
                n > 16384 ? sparseHead : sparse,
            ),
        ),
    },
    {
        id: "sparse-decode",
        title: "Sparse, one query, m = 32768, d = 128, 51 of 512 blocks",
        unit: units.flops,
        peak: "flops",
        rows: [
            row("sparse-decode-blocks", "one query, blocks of 64 at random", decoded, [
                ...sparse,
                "libattn, blocks",
            ]),
        ],
    },
    {
        id: "sparse-threads",
        title: "Sparse, 2 threads; causal, n = 4096, d = 64",
        unit: units.flops,
        peak: "flops2",
        rows: [
            row(
                "sparse-threads-band",
                "Eq. 6",
                pattern(4096, "pattern=band", two),
                withOne(["libattn"]),
            ),
            row(
                "sparse-threads-strided",
                "blocks of 64, every 8th",
                pattern(4096, strided(8), two),
                withOne(["libattn", operator]),
            ),
            ...Object.entries(unequal).map(([name, settings]) =>
                row(
                    `sparse-threads-${name}`,
                    `${labelOf(settings)}, not causal`,
                    pattern(4096, settings, { ...two, causal: 0 }),
                    withOne(["libattn"]),
                ),
            ),
        ],
    },
    {
        id: "sparse-wasm",
        title: "Sparse, WebAssembly in Node, 1 thread; d = 64",
        unit: units.flops,
        peak: "wasm",
        rows: [
            ...growth
                .slice(0, 4)
                .map(([n, task]) => row(`sparse-wasm-${n}`, `Eq. 6, n = ${n}`, task, sparseWeb)),
            ...[2, 8, 40].map((stride) =>
                row(
                    `sparse-wasm-strided-${stride}`,
                    `strided, ${stride}`,
                    pattern(4096, strided(stride)),
                    sparseWeb,
                ),
            ),
            ...["fixed", "longformer", "bigbird", "dilated", "topk", "topkeys"].map((name) => {
                const [settings] = patterns[name];
                const task = pattern(4096, settings);
                return row(`sparse-wasm-${name}`, labelOf(settings), task, sparseWeb);
            }),
            row("sparse-wasm-scattered", "blocks of 16 at random", scattered, sparseWeb),
            ...[4096, 16384, 65536].map((n) =>
                row(
                    `sparse-wasm-window-${n}`,
                    `window of 256, n = ${n}`,
                    pattern(n, window256),
                    { 4096: sparseWeb, 16384: sparseWebHead, 65536: ["libattn, SIMD128"] }[n],
                ),
            ),
            row("sparse-wasm-decode", "one query, m = 32768, d = 128", decoded, sparseWeb),
        ],
    },
];
