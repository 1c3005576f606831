/* Blocks that a caller lists, from JavaScript: a matrix of them, and compressed sparse rows, in every engine. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { init as initNative } from "libattn/native";
import { init as initWorker } from "libattn/worker";
import { assertClose, exactAttention, libraries, makeProblem } from "../support.mjs";

const SIZES = { batch: 2, heads: 4, kvHeads: 2, queries: 13, keys: 22, dim: 8, valueDim: 5 };
const BLOCK = 4; // 4 of queries, 6 of keys
const problem = makeProblem(SIZES, 5);
const { heads, queries, keys } = SIZES;
const [rows, columns] = [Math.ceil(queries / BLOCK), Math.ceil(keys / BLOCK)];

/** Two heads by turns; the last queries of the second see nothing. */
const listed = [
    [[0, 5], [1, 2, 3], [], [0, 1, 2, 3, 4, 5]],
    [[3], [0, 4], [2, 5], []],
];
const lists = Array.from({ length: heads }, (_, h) => listed[h % 2]);
const entries = Math.max(...lists.map((list) => list.flat().length));

const blockMask = {
    data: lists.flatMap((list) =>
        list.flatMap((row) => Array.from({ length: columns }, (_, c) => row.includes(c))),
    ),
    shape: [1, heads, rows, columns],
};
const compressed = {
    blockStarts: {
        data: lists.flatMap((list) =>
            Array.from({ length: rows + 1 }, (_, r) => list.slice(0, r).flat().length),
        ),
        shape: [1, heads, 1, rows + 1],
    },
    blockColumns: {
        data: lists.flatMap((list) => {
            const flat = list.flat();
            return [...flat, ...Array(entries - flat.length).fill(0)];
        }),
        shape: [1, heads, 1, entries],
    },
};

const engines = {
    simd: libraries.get("simd"),
    scalar: libraries.get("scalar"),
    worker: await initWorker({ build: "simd" }),
    native: await initNative({ fallback: false }),
};

const kept = (b, h, i, j) => lists[h][Math.floor(i / BLOCK)].includes(Math.floor(j / BLOCK));
const exact = exactAttention(problem, { mask: kept });

const { query, key, value } = problem;
const call = { ...SIZES, query, key, value, backend: "sparse" };
const params = { pattern: "blocks", block: BLOCK };

for (const [name, attn] of Object.entries(engines)) {
    describe(name, () => {
        test("a matrix of blocks is the mask of their pairs", async () => {
            const { out } = await attn.attention({ ...call, params, blockMask });
            assertClose(out, exact.out, exact.outBound, "out");
        });
        test("so are lists of them", async () => {
            const { out } = await attn.attention({
                ...call,
                params: { ...params, entries },
                ...compressed,
            });
            assertClose(out, exact.out, exact.outBound, "out");
        });
        test("what is no list, or comes without its pattern, is told", async () => {
            const data = compressed.blockColumns.data.with(1, 6);
            const blockColumns = { ...compressed.blockColumns, data };
            const wrong = { ...compressed, blockColumns };
            await assert.rejects(
                async () => attn.attention({ ...call, params: { ...params, entries }, ...wrong }),
                /block_?columns: batch 0, head 0: row 0 has block 6, must be above 0, below 6/i,
            );
            await assert.rejects(
                async () => attn.attention({ ...call, blockMask }),
                /arrays of blocks need pattern blocks/,
            );
            await assert.rejects(async () => attn.attention({ ...call, params }), /block_?mask/i);
        });
    });
}
