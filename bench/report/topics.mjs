// What the page of results has, in order: families of rows, their table, and what limits them.

import { exactTable } from "./exact.mjs";
import { linearTable } from "./linear.mjs";
import { sparseTables } from "./sparse.mjs";

/** `table` makes Markdown of results and families; `limits` is one paragraph. */
export const topics = [
    {
        id: "prefill",
        title: "Prefill: many queries",
        families: ["full", "causal", "small", "threads", "native"],
        table: exactTable,
        limits: `Arithmetic limits these rows. The two products take 80 to 90% of the time and run at 85 to 97% of the peak.
Exponentials take 3 to 10% and weigh more where AVX-512 halves the time of the products. Packing, row maxima and stores
take the rest: about 5% each on n = 128, where the call itself counts too. With every piece at its best a Zen 3 would
reach 84% at d = 64. On a Xeon the clock drops when loads and multiply-adds run together, which costs 5 to 10%. The
key block and the shapes of the tiles are at a flat optimum: other sizes differ by less than two runs do. Two
threads reach 1.8 to 2 times one; beyond that, neighbours of the virtual machine decide.`,
    },
    {
        id: "decode",
        title: "Decoding: one query and a cache",
        families: ["decode", "grouped", "shared", "latent", "threads-decode"],
        table: exactTable,
        limits: `Reading keys and values limits one query to each head: from memory libattn reads at 60 to 95% of what a bare
loop reads, mostly above 80%, and the rest is lost where pages begin. From the last cache, and with i8, converting numbers takes longer than
reading them. With 8 query heads to a key/value head each number that is read takes eight multiply-adds, so arithmetic
limits the row; bf16 and i8 are then no faster than f32. A second thread adds only what memory has left. Why three
rows lose on the Zen 5 is not known.`,
    },
    {
        id: "precision",
        title: "Integer products: `precision`",
        families: ["precision", "bf16"],
        table: exactTable,
        limits: `The instruction set decides. With VNNI, 16-bit and 8-bit dot products do two and four times as many operations as
float multiply-adds. With AVX2 alone there are 16-bit products only, so \`int8\` gains nothing over \`int16\`. Quantising keys
and values costs time that fewer than 96 queries to a key/value head do not earn back, so these use floats.`,
    },
    {
        id: "wasm",
        title: "WebAssembly",
        families: [
            "wasm",
            "wasm-first",
            "wasm-decode",
            "wasm-threads",
            "chromium",
            "chromium-decode",
        ],
        table: exactTable,
        limits: `The engine's code generator limits these rows: for 8 multiply-adds it emits 22 vector operations and 5 others, with
16 registers of 128 bits. Relaxed SIMD fuses multiply and add and is 1.1 to 1.4 times as fast. Decoding reads memory as
well as native code does. The first call in a new process runs code that the engine has not optimised yet: half of it is
importing and compiling.`,
    },
    {
        id: "linear",
        title: "Linear attention",
        families: ["linear", "linear-rules", "linear-decode", "linear-threads", "linear-wasm"],
        table: linearTable,
        limits: `Products of 48 tokens with a 64 x 64 state are small: they run at 70 to 85% of the peak in the nearest cache, feature
maps and the compensated sums of the state take a third of the time, and at n = 65536 the arrays come from memory. The
delta rules add a triangular system of 12 tokens. One token reads and writes the state: products and loads do not overlap
fully, so a loop of intrinsics takes 1.5 times as long as bare reading and writing at best. Plain C loops with \`-ffast-math\` are
a strong peer here, because they keep no compensated sums.`,
    },
    {
        id: "sparse",
        title: "Sparse attention",
        families: [
            ...["sparse-density", "sparse-patterns", "sparse-window", "sparse-decode"],
            ...["sparse-growth", "sparse-threads", "sparse-wasm"],
        ],
        table: sparseTables,
        limits: `Tiles are as fast on kept keys as on all keys. What costs more than the pairs is per token: reading and packing queries
and keys and writing outputs, 5.3 ms at n = 4096 with 8 heads on a Zen 4, whatever the pattern keeps. Below a density of
about 10% this part dominates. It grows with n, the pairs with the square of n, so longer sequences come closer to the
ideal. \`dilated\` computes the keys between those that it keeps, \`topkeys\` computes all logits, and \`lsh\` spends more time
on hashing and sorting than on pairs.`,
    },
    {
        id: "gradients",
        title: "Gradients and training",
        families: [],
        table: () => "",
        limits: `Softmax's gradients are five products in place of two and reach 68 to 86% of the peak. Linear attention's take three
times its run. For sparse patterns that keep few keys a query, the edges of tiles and packing cost as much as the pairs. A
training step also runs the layers around attention, and small models spend their time in those.`,
    },
    {
        id: "sketch",
        title: "Sketching",
        families: [],
        table: () => "",
        limits: `Sketched attention saves only in the product of queries and keys: with d = dv = 128 and 64 features, 0.75 of the
operations remain, and exponentials keep it at 0.78 to 0.83 of the time. Making a sketch reads \`X\` once or a few times, so
memory limits \`osnap\`; \`approximate\` also needs a Gram matrix and its factor, \`deterministic\` goes over all features
for each one that it keeps. For a sparse \`X\` with fewer than a million elements the d draws are the constant that remains.`,
    },
    {
        id: "mpi",
        title: "Ranks: attention over MPI",
        families: [],
        table: () => "",
        limits: `A rank computes with one block while the next comes: the longer of both decides. Blocks of one machine are copies in
its memory, which two cores share with the kernels; what a network does is predicted, not measured. With as many ranks as
cores, speed ends where one rank with threads does. Causal work with contiguous rows leaves early ranks idle; zigzag gives
all of them the same. Runs beside other work scatter.`,
    },
];
