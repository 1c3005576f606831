/* Threads: the same numbers as without, processes that end, threads that do. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { init } from "libattn";
import { libraries, makeProblem } from "../support.mjs";
import { patience } from "../patience.mjs";

test("results do not depend on how many threads there are", async () => {
    const { query, key, value, sizes } = makeProblem(
        { heads: 4, kvHeads: 2, queries: 150, keys: 300, dim: 32 },
        1,
    );
    for (const backend of libraries.get("simd").backends()) {
        const options = { ...sizes, backend: backend.id };
        const wanted = libraries.get("simd").attention(query, key, value, options);
        for (const threads of [1, 2, 3, 5]) {
            const attn = await init({ build: "threads", threads });
            assert.equal(attn.threads, threads);
            for (let i = 0; i < 3; i++) {
                assert.deepEqual(attn.attention(query, key, value, options), wanted, backend.id);
            }
            attn.dispose();
        }
    }
});

test("parts of one head come to the bits of one thread", async () => {
    const { query, key, value, sizes } = makeProblem({ queries: 10000, dim: 16 }, 3);
    for (const causal of [true, false]) {
        const options = { ...sizes, backend: "linear", causal };
        const wanted = libraries.get("simd").attention(query, key, value, options);
        for (const threads of [1, 2, 3, 5]) {
            const attn = await init({ build: "threads", threads });
            for (let i = 0; i < 3; i++) {
                assert.deepEqual(attn.attention(query, key, value, options), wanted);
            }
            attn.dispose();
        }
    }
});

test("memory that grows is seen by all threads", async () => {
    const attn = await init({ threads: 2 });
    for (const queries of [10, 1000, 4000]) {
        const { query, key, value, sizes } = makeProblem({ queries, keys: 500, dim: 64 }, 2);
        const wanted = libraries.get("simd").attention(query, key, value, sizes);
        assert.deepEqual(attn.attention(query, key, value, sizes), wanted);
    }
    attn.dispose();
});

const entry = new URL("../../dist/node.js", import.meta.url).href;
for (const end of ["attn.dispose();", ""]) {
    test(`a process ends by itself ${end ? "after dispose()" : "without dispose()"}`, async () => {
        const script = `
            import { init } from ${JSON.stringify(entry)};
            const attn = await init({ threads: 3 });
            const x = new Float32Array(64 * 16).fill(1);
            console.log(attn.attention(x, x, x, { heads: 4, dim: 16 })[0]);
            ${end}`;
        const node = ["--input-type=module", "--eval", script];
        const options = { timeout: patience };
        const { stdout, stderr } = await promisify(execFile)(process.execPath, node, options);
        assert.equal(stdout, "1\n");
        assert.equal(stderr, "");
    });
}

test("without shared memory there is a typed error", async () => {
    const { SharedArrayBuffer } = globalThis;
    delete globalThis.SharedArrayBuffer;
    try {
        await assert.rejects(init({ threads: 2 }), (error) => {
            assert.equal(error.code, "ATTN_ERROR_UNSUPPORTED");
            assert.match(error.message, /cross-origin isolated/);
            return true;
        });
    } finally {
        globalThis.SharedArrayBuffer = SharedArrayBuffer;
    }
});
