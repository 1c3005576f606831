/*
 * The WASI reactor, as any host uses it, also one that is not JavaScript: no imports, numbers and
 * memory only. src/bindings.h says what its functions take.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertClose, exactAttention, makeProblem, moduleBytes } from "../support.mjs";

test("attention through the functions of src/bindings.h", async () => {
    const module = await WebAssembly.compile(await moduleBytes("reactor"));
    assert.deepEqual(WebAssembly.Module.imports(module), []);
    const c = (await WebAssembly.instantiate(module, {})).exports;
    c._initialize();

    const put = (array) => {
        const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
        const at = c.attnjs_allocate(bytes.length) >>> 0;
        new Uint8Array(c.memory.buffer, at, bytes.length).set(bytes);
        return at;
    };
    const read = (at) => {
        const bytes = new Uint8Array(c.memory.buffer, at >>> 0);
        return Buffer.from(bytes.slice(0, bytes.indexOf(0))).toString();
    };

    const problem = makeProblem({ heads: 2, queries: 33, keys: 50, dim: 24, valueDim: 10 }, 1);
    const { batch, heads, kvHeads, queries, keys, dim, valueDim } = problem.sizes;
    const sizes = [batch, heads, kvHeads, queries, keys, dim, valueDim];
    // causal, scale, past, window, softcap, scores, inputs; dtype and kv_dtype: f32; no inputs of its own
    const rules = [0, NaN, 0, -1, -1, 0, 0, 0, 1, 1, 0];
    const session = c.attnjs_open();
    const backend = put(Buffer.from("softmax\0"));
    const plan = c.attnjs_plan_create(
        session,
        backend,
        put(Float64Array.of(...sizes, ...rules)),
        0,
        0,
    );
    assert.notEqual(plan, 0, read(c.attnjs_error_message(session)));

    const length = heads * queries * valueDim;
    const out = c.attnjs_allocate(4 * length) >>> 0;
    const arrays = [problem.query, problem.key, problem.value].map(put);
    // number, address, shape, strides
    const record = (number, address, rows, columns) => [
        ...[number, address, batch, heads, rows, columns],
        ...[heads * rows * columns, rows * columns, columns, 1],
    ];
    const list = put(
        Float64Array.of(
            4,
            ...record(0, arrays[0], queries, dim),
            ...record(1, arrays[1], keys, dim),
            ...record(2, arrays[2], keys, valueDim),
            ...record(3, out, queries, valueDim),
        ),
    );
    assert.equal(c.attnjs_run(session, plan, list), 0, read(c.attnjs_error_message(session)));
    const exact = exactAttention(problem);
    assertClose(new Float32Array(c.memory.buffer, out, length), exact.out, exact.outBound, "out");
    const { kernel } = JSON.parse(read(c.attnjs_plan_describe(session, plan)));
    assert.match(kernel, /^wasm128 /);

    const unknown = put(Buffer.from("sofmax\0"));
    const numbers = put(Float64Array.of(...sizes, ...rules));
    assert.equal(c.attnjs_plan_create(session, unknown, numbers, 0, 0), 0);
    assert.equal(read(c.attnjs_error_code(session)), "ATTN_ERROR_NOT_FOUND");
    c.attnjs_plan_destroy(plan);
    c.attnjs_close(session);
});
