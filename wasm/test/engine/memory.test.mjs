/*
 * The module's allocator up to the last of 4 GiB: what it gives is memory that there is, and nobody
 * else's. Nothing of it is written but by the allocator itself, so that a test takes little memory.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Attn } from "../../js/calls/attn.js";
import { Heap } from "../../js/engine/heap.js";
import { hasRelaxed, libraries, makeProblem, moduleBytes, numbers } from "../support.mjs";

const MODULES = ["simd", "scalar", "threads", "softmax", "labs", "reactor"];
if (hasRelaxed) MODULES.unshift("relaxed");

const LIMIT = 2 ** 32;

async function open(name) {
    const memory = new WebAssembly.Memory({ initial: 32, maximum: 65536, shared: true });
    const env = name === "threads" ? { memory } : {};
    const imports = { env, clock: { now: () => 0 } };
    const { instance } = await WebAssembly.instantiate(await moduleBytes(name), imports);
    const c = instance.exports;
    (c._initialize ?? c.__wasm_call_ctors)?.();
    const arena = new Arena({ memory, ...c });
    const grown = [arena.take(1.5e9), arena.take(1.5e9)]; // each growth costs a collection of garbage
    for (const block of grown) arena.give(block);
    return arena;
}

/** The allocator, and what it gave. */
class Arena {
    blocks = []; // { at, size }

    constructor(c) {
        this.c = c;
        this.memory = c.memory;
    }

    /** The block, checked; null when there is no room. */
    take(size) {
        const at = this.c.attnjs_allocate(size) >>> 0;
        if (at === 0) return null;
        const what = `${size} bytes at ${at}`;
        assert.ok(at + size <= this.memory.buffer.byteLength, `${what} lie past the memory`);
        assert.equal(at % 64, 0, what);
        for (const other of this.blocks) {
            const apart = at + size <= other.at || other.at + other.size <= at;
            assert.ok(apart, `${what} lie over ${other.size} at ${other.at}`);
        }
        const block = { at, size };
        this.blocks.push(block);
        return block;
    }

    give(block) {
        this.blocks.splice(this.blocks.indexOf(block), 1);
        this.c.attnjs_free(block.at);
    }
}

for (const name of MODULES) {
    test(`${name}: a hole below a full memory is not taken for what is larger`, async () => {
        const arena = await open(name);
        for (let i = 0; i < 165; i++) assert.ok(arena.take(20e6), "3.3 GB fit");
        const hole = arena.take(20e6);
        assert.ok(arena.take(20e6));
        arena.give(hole);
        for (const size of [1.07e9, 2e9, 4e9, LIMIT - 1, LIMIT, 2 ** 40]) {
            assert.equal(arena.take(size), null, `${size} bytes`);
        }
        assert.ok(arena.take(20e6), "the hole is there still");
    });

    test(`${name}: whatever is taken and given back near the end`, async () => {
        const arena = await open(name);
        const next = numbers(12);
        const below = (limit) => Math.floor(((next() + 1) / 2) * limit);
        const size = () => below(2 ** (4 + below(28)));
        let refused = 0;
        for (let i = 0; i < 2000; i++) {
            if (arena.take(size()) === null) {
                refused++;
                for (let j = 0; j < 3; j++) {
                    if (arena.blocks.length) arena.give(arena.blocks[below(arena.blocks.length)]);
                }
            }
        }
        assert.ok(refused > 100, `${refused} were refused`);
        for (const block of [...arena.blocks]) arena.give(block);
        assert.ok(arena.take(3.5e9), "all is there again, in one piece");
    });
}

test("a run for which there is no memory is an error, and touches nothing", async () => {
    const arena = await open("simd");
    for (let i = 0; i < 165; i++) assert.ok(arena.take(20e6));
    const hole = arena.take(20e6);
    const live = arena.take(20e6);
    const bytes = () => new Uint8Array(arena.memory.buffer, live.at, live.size);
    bytes().fill(7);

    const attn = new Attn(new Heap(arena.c));
    const sizes = { queries: 64, keys: 2_000_000, dim: 64 };
    const plan = attn.plan(sizes); // whose runs pack all keys
    assert.ok(plan.workspaceBytes > 1e9, `${plan.workspaceBytes} bytes`);
    arena.give(hole);
    const query = new Float32Array(64 * 64).fill(0.5);
    const one = [0, 0, 0, 1]; // the same row for all
    const arrays = { query, key: query, value: query, strides: { key: one, value: one } };
    assert.throws(() => plan.run(arrays), {
        name: "AttnError",
        code: "ATTN_ERROR_MEMORY",
        message: /no memory for the \d+ bytes of workspace/,
    });
    assert.ok(bytes().every((byte) => byte === 7));
    const few = attn.plan({ queries: 64, dim: 64 });
    assert.deepEqual(few.run({ query, key: query, value: query }).out, query);
});

/* Kernels that add to addresses might wrap there too. */
for (const name of ["relaxed", "simd", "scalar"].filter((name) => MODULES.includes(name))) {
    test(`${name}: everything computes the same in the last of 4 GiB`, async () => {
        const arena = await open(name);
        for (let size = 2 ** 31; size >= 1; size /= 2) while (arena.take(size));
        const last = arena.blocks.filter(({ at }) => at > LIMIT - 2 ** 25);
        for (const block of last) arena.give(block);

        const attn = new Attn(new Heap(arena.c));
        const other = libraries.get(name);
        const { sizes, ...arrays } = makeProblem(
            { heads: 4, kvHeads: 2, queries: 70, keys: 500, dim: 40, valueDim: 24 },
            13,
        );
        const { query, key, value } = arrays;
        const stride = { key: [0, 20060, 40, 1], out: [0, 2000, 26, 1] }; // with gaps
        const gaps = { ...arrays, key: new Float32Array(40060).map((_, i) => Math.sin(i)) };
        for (const { id } of attn.backends()) {
            const compute = (library) => {
                const plan = library.plan({ ...sizes, backend: id });
                const { out } = plan.run(arrays);
                const array = new Float32Array(8000);
                plan.run({ ...gaps, out: array, strides: stride });
                const weights = plan.weights({ query, key });
                return { out, array, weights, error: plan.error({ ...arrays, out }) };
            };
            assert.deepEqual(compute(attn), compute(other), id);
        }
        const stream = (library) => {
            const made = library.stream({
                heads: 4,
                kvHeads: 2,
                dim: 40,
                valueDim: 24,
                maxKeys: 600,
            });
            return made.append(key, value).query(query);
        };
        assert.deepEqual(stream(attn), stream(other));
        const tensor = attn.tensor(query);
        assert.ok(tensor.data.byteOffset > LIMIT - 2 ** 25, "all of it lies there");
        assert.equal(arena.memory.buffer.byteLength, LIMIT);
    });
}
