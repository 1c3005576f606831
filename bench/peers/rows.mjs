// What is measured, and against what: families of rows (problems), each with its contenders.

import { linearOf } from "./task.mjs";

/** A number of bytes or operations a second is told as a share of one of these measured peaks. */
export const units = {
    flops: { quantity: "gflops", unit: "GFLOP/s", peak: "float arithmetic" },
    bytes: { quantity: "gbps", unit: "GB/s", peak: "reading memory" },
    state: { quantity: "gbps", unit: "GB/s", peak: "reading and writing the state" },
};

const onnxruntime = (model, web = 0) => ({
    command: ["node", "onnxruntime.mjs", `model=${model}`, `web=${web}`],
});
/** In the folder of newest/root.sh, when that is asked for. */
const newest = (...command) => ({ command: ["newest", ...command], newest: true });
const chromium = (contender, ...more) => ({
    command: ["node", "chromium.mjs", `contender=${contender}`, ...more],
});

/**
 * `command`: a program of CMakeLists.txt, or node with a module of this folder. `task` replaces
 * sizes of the row's task, `peak` is the peak it is held against when that is not the family's,
 * `empty` says that it computes nothing, `newest` that it is left out unless it is asked for. Those whose
 * name begins with libattn are this library.
 */
const contenders = {
    libattn: { command: ["peer_libattn"] },
    "libattn, dense": { command: ["peer_libattn"], task: { sparse: "" } },
    "libattn, AVX2": { command: ["peer_libattn"], env: { ATTN_CPU: "avx2" }, peak: "avx2" },
    "libattn, 1 thread": { command: ["peer_libattn"], task: { threads: 1 } },
    "libattn, f16 keys and values": { command: ["peer_libattn"], task: { kv: "f16" } },
    "libattn, bf16 keys and values": { command: ["peer_libattn"], task: { kv: "bf16" } },
    "libattn, 1 query head": { command: ["peer_libattn"], task: { heads: 1 } },
    "onnxruntime MultiHeadAttention": onnxruntime("mha"),
    "onnxruntime Attention": onnxruntime("attention"),
    "onnxruntime GroupQueryAttention": onnxruntime("gqa"),
    "onnxruntime MatMul, Softmax, MatMul": onnxruntime("graph"),
    "onnxruntime LinearAttention": onnxruntime("linear"),
    "onnxruntime SparseAttention": onnxruntime("sparse"),
    "onnxruntime, an empty call": { ...onnxruntime("identity"), empty: true },
    ggml: newest("ggml"),
    "ggml, f16 keys and values": { ...newest("ggml"), task: { kv: "f16" } },
    PyTorch: newest("python3", "torch_sdpa.py"),
    "PyTorch, chunks": newest("python3", "torch_chunks.py"),
    "plain loops in C": { command: ["peer_recurrence"] },
    oneDNN: { command: ["peer_onednn"] },
    OpenBLAS: { command: ["peer_openblas"] },
    "oneDNN, newest": newest("onednn"),
    "OpenBLAS, newest": newest("openblas"),
    "libattn, SIMD128": { command: ["node", "wasm.mjs", "build=simd"] },
    "libattn, SIMD128, dense": {
        command: ["node", "wasm.mjs", "build=simd"],
        task: { sparse: "" },
    },
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

const without = (names, ...left) => names.filter((name) => !left.some((one) => name.includes(one)));

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
const decode = [
    "libattn",
    "libattn, f16 keys and values",
    "libattn, bf16 keys and values",
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
    "onnxruntime Attention",
    "onnxruntime GroupQueryAttention",
    "oneDNN",
    "OpenBLAS",
    "oneDNN, newest",
    "OpenBLAS, newest",
    "PyTorch",
    "ggml",
];
const linear = ["libattn", "plain loops in C", "PyTorch, chunks"];
const states = ["libattn", "plain loops in C"];
const rules = ["libattn", "onnxruntime LinearAttention", "plain loops in C", "PyTorch, chunks"];
const oneToken = [...states, "onnxruntime LinearAttention"];
const gatedRules = [...rules, "ggml"];
const ownWeb = ["libattn, SIMD128", "libattn, relaxed SIMD"];
const web = [
    ...ownWeb,
    "onnxruntime-web MultiHeadAttention",
    "onnxruntime-web Attention",
    "onnxruntime-web MatMul, Softmax, MatMul",
    "tfjs-backend-wasm",
];
const webRules = [...ownWeb, "onnxruntime-web LinearAttention"];
const page = [
    "libattn, SIMD128, Chromium",
    "libattn, relaxed SIMD, Chromium",
    "onnxruntime-web MultiHeadAttention, Chromium",
    "onnxruntime-web MatMul, Softmax, MatMul, Chromium",
    "tfjs-backend-wasm, Chromium",
];

const sparse = ["libattn", "libattn, dense"];
const sparseBlocks = [...sparse, "onnxruntime SparseAttention"];
const sparseWeb = ["libattn, SIMD128", "libattn, SIMD128, dense"];

const native = ["libattn", "libattn/native in Node", "libattn/native in Node, runAsync"];

const base = { heads: 8, kv_heads: 8, causal: 0, threads: 1, kv: "f32", stream: 0 };
const square = (n, dim, more) => ({ ...base, queries: n, keys: n, dim, ...more });
const oneQuery = (keys, more) => ({ ...base, queries: 1, keys, dim: 128, ...more });
const elu1 = (n, more) => square(n, 64, { form: "elu1", ...more });
const ruled = (form, n, more) => square(n, 64, { form, causal: 1, ...more });
const nextToken = (form) => ({ ...oneQuery(256), dim: 64, form, stream: 1 });
const pattern = (n, settings, more) => square(n, 64, { causal: 1, sparse: settings, ...more });
const row = (id, label, task, names) => ({ id, label, task, names });
const two = { threads: 2 };
const withOne = (names) => ["libattn", "libattn, 1 thread", ...names.slice(1)];

/** Eq. 6 (B = sqrt n, k = c = 1) over n; the longest with one head, since dense attention takes minutes. */
const growth = [256, 1024, 4096, 16384, 65536].map((n) => [
    n,
    pattern(n, "pattern=band", n > 16384 ? { heads: 1, kv_heads: 1 } : {}),
]);
/** Densities from about a half down, of blocks that onnxruntime can express too. */
const strides = [2, 4, 8, 16, 40];
const strided = (stride) => `pattern=strided,block=64,stride=${stride}`;
const patterns = {
    window: "pattern=window,block=64,local=4",
    fixed: "pattern=fixed,block=64",
    longformer: "pattern=longformer,block=64,global=64",
    bigbird: "pattern=bigbird,block=64,random=3",
    dilated: "pattern=dilated,block=64,stride=2",
    topk: "pattern=topk,block=64,top=2",
    topkeys: "pattern=topkeys,top=64",
};
const scattered = pattern(4096, "pattern=bigbird,block=16,global=0,random=25", { causal: 0 });
const window256 = "pattern=window,block=256";

const inCache =
    "Keys and values of 34 MB and less may lie in the last cache: then more than the peak of memory.";

/**
 * `peak`: which measured peak is the plot's line; `unit`: what speed is told in. The first
 * contender of a row is the one the others are compared with.
 */
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
            ...Object.entries(patterns).map(([name, settings]) =>
                row(
                    `sparse-${name}`,
                    settings.slice(8).replaceAll(",", ", "),
                    pattern(4096, settings),
                    sparse,
                ),
            ),
            row("sparse-scattered", "blocks of 16 at random, 10%, not causal", scattered, sparse),
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
            row(`sparse-window-${n}`, `window of 256, n = ${n}`, pattern(n, window256), [
                "libattn",
            ]),
        ),
    },
    {
        id: "sparse-decode",
        title: "Sparse, one query, m = 32768, d = 128, 51 of 512 blocks",
        unit: units.flops,
        peak: "flops",
        rows: [
            row(
                "sparse-decode-blocks",
                "one query, blocks of 64 at random",
                oneQuery(32768, { sparse: "pattern=bigbird,block=64,global=0,random=50" }),
                sparse,
            ),
        ],
    },
    {
        id: "sparse-threads",
        title: "Sparse, 2 threads; causal, n = 4096, d = 64",
        unit: units.flops,
        peak: "flops2",
        rows: [
            row("sparse-threads-band", "Eq. 6", pattern(4096, "pattern=band", two), [
                "libattn",
                "libattn, 1 thread",
            ]),
            row(
                "sparse-threads-strided",
                "blocks of 64, every 8th",
                pattern(4096, strided(8), two),
                ["libattn", "libattn, 1 thread"],
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
            row("sparse-wasm-strided", "strided, 8", pattern(4096, strided(8)), sparseWeb),
            row("sparse-wasm-window", "window of 256", pattern(4096, window256), sparseWeb),
            row("sparse-wasm-scattered", "blocks of 16 at random", scattered, sparseWeb),
            row("sparse-wasm-topkeys", "topkeys, 64", pattern(4096, patterns.topkeys), sparseWeb),
        ],
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

/** What a contender of this library is called as an earlier commit has it. */
const BEFORE = ", before";

const isOwn = (name) => name.startsWith("libattn");

/**
 * Of a row's contenders those that take part: with `newest` also its peers, with `own` none but this
 * library, with `against`, a commit, behind each of the library's the same as it was there.
 */
export const participants = ({ names }, { newest, own, against }) =>
    names
        .filter((name) => (own ? isOwn(name) : newest || !contenders[name].newest))
        .flatMap((name) => (against && isOwn(name) ? [name, name + BEFORE] : name));

/** The contender called `name`, with the task it gets in this row. */
export function contenderOf(name, { task }) {
    const before = name.endsWith(BEFORE);
    const contender = contenders[before ? name.slice(0, -BEFORE.length) : name];
    return { name, ...contender, before, task: { ...task, ...contender.task } };
}

/** The rows whose family or id begins with one of these words; all when there are none. */
export function selectRows(words) {
    const wanted = (family, { id }) =>
        words.length === 0 || words.some((word) => word === family.id || id.startsWith(word));
    return families
        .map((family) => ({ ...family, rows: family.rows.filter((one) => wanted(family, one)) }))
        .filter(({ rows }) => rows.length > 0);
}

/**
 * Additions and multiplications of the two products, over the (query, key) pairs that count; of linear
 * attention those of adding to the state and of reading it, once a token and head; of sparse attention over
 * those that are `kept`, of all heads.
 */
export function flopsOf(task, kept = NaN) {
    const { heads, kv_heads: shared, queries, keys, dim, causal: masked } = task;
    const tokens = task.stream ? 1 : keys;
    if (task.sparse) return 4 * kept * dim;
    if (linearOf(task)) return 2 * (heads * queries + shared * tokens) * dim * dim;
    const seen = Math.min(queries, keys);
    const pairs = masked ? (seen * (seen + 1)) / 2 + (queries - seen) * keys : queries * keys;
    return 4 * heads * pairs * dim;
}

/** Bytes that are read and written at least once; of a stream of linear attention those of the state. */
export function bytesOf(task) {
    const { heads, kv_heads: shared, queries, keys, dim, kv = "f32" } = task;
    if (task.stream) return 2 * 4 * shared * dim * (dim + (task.form === "elu1" ? 1 : 0));
    const size = kv === "f32" ? 4 : 2;
    return 2 * dim * (size * shared * keys + 4 * heads * queries);
}
