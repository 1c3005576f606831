/* Plans, streams and tensors that nobody has any more are freed, with a warning in development. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import { patience } from "../patience.mjs";

/** What a script writes that drops things and has garbage collected. */
async function outputOf(script, env = {}) {
    const code = `
        import { setImmediate } from "node:timers/promises";
        async function collect() {
            for (let i = 0; i < 10; i++) {
                globalThis.gc();
                await setImmediate();
            }
        }
        ${script}`;
    const node = ["--expose-gc", "--input-type=module", "--eval", code];
    const options = {
        cwd: import.meta.dirname,
        timeout: patience,
        env: { ...process.env, ...env },
    };
    return promisify(execFile)(process.execPath, node, options);
}

/* What is made of each kind takes more than 1 MB: without an end 200 would take more than 200 MB. */
const KINDS = {
    plan: `attn.plan({ heads: 1, queries: 16, keys: 9000, dim: 16, backend: "sketch" })`,
    stream: `attn.stream({ dim: 64, maxKeys: 4096 }).append(rows, rows)`,
    tensor: `attn.tensor(300_000)`,
};

for (const [kind, make] of Object.entries(KINDS)) {
    const drop = `
        const rows = new Float32Array(64 * 4096);
        let gone = 0;
        const watch = new FinalizationRegistry(() => gone++);
        function make() {
            const made = ${make};
            watch.register(made, null);
            return made;
        }`;

    test(`a ${kind} that is dropped is freed in WebAssembly`, async () => {
        const { stdout, stderr } = await outputOf(`
            import { Attn } from "../../js/calls/attn.js";
            import { Heap } from "../../js/engine/heap.js";
            import { moduleBytes } from "../support.mjs";
            const { instance } = await WebAssembly.instantiate(await moduleBytes("simd"), {});
            instance.exports._initialize();
            const attn = new Attn(new Heap(instance.exports));
            ${drop}
            const kept = make();
            await collect();
            const before = instance.exports.memory.buffer.byteLength;
            for (let i = 0; i < 200; i++) {
                make();
                if (i % 10 === 9) await collect();
            }
            const grown = instance.exports.memory.buffer.byteLength - before;
            console.log(gone, grown < 50e6, kept.dispose());`);
        assert.equal(stderr, "");
        assert.equal(stdout, "200 true undefined\n");
    });

    test(`a ${kind} that is dropped is freed natively`, async () => {
        const { stdout } = await outputOf(`
            import { init } from "libattn/native";
            const attn = await init({ fallback: false });
            ${drop}
            for (let i = 0; i < 200; i++) {
                make();
                if (i % 10 === 9) await collect();
            }
            console.log(gone, process.memoryUsage().rss < 400e6);`);
        assert.equal(stdout, "200 true\n");
    });

    test(`development is told once of a ${kind}, and nobody else`, async () => {
        const script = `
            import { init } from "libattn";
            const attn = await init();
            ${drop}
            make();
            make();
            await collect();
            const disposed = make();
            disposed.dispose();
            console.log(gone);`;
        const wanted = new RegExp(
            `^libattn: a ${kind} was dropped without dispose\\(\\)[^\\n]*\\n$`,
        );
        assert.match((await outputOf(script, { NODE_ENV: "development" })).stderr, wanted);
        for (const mode of ["production", ""]) {
            assert.equal((await outputOf(script, { NODE_ENV: mode })).stderr, "");
        }
    });
}

test("a tensor whose data was given out stays, and so does what a run wrote there", async () => {
    const { stdout } = await outputOf(`
        import { init } from "libattn";
        const attn = await init();
        attn.tensor(3e7).dispose(); // from here on memory does not grow
        const some = new Float32Array(1e6).fill(3);
        const view = attn.tensor(some).data.subarray(5);
        const x = new Float32Array(64).fill(2);
        const out = attn.attention(x, x, x, { dim: 8, out: attn.tensor(64) });
        await collect();
        for (let i = 0; i < 20; i++) attn.tensor(1e6);
        console.log(view.every((x) => x === 3), out.every((x) => x === 2));`);
    assert.equal(stdout, "true true\n");
});

test("a run that is under way natively has what it needs", async () => {
    const { stdout } = await outputOf(`
        import { init } from "libattn/native";
        const attn = await init({ fallback: false });
        const x = new Float32Array(8 * 1024 * 64).fill(2);
        const start = () =>
            attn.plan({ heads: 8, queries: 1024, dim: 64 }).runAsync({ query: x, key: x, value: x });
        const running = start();
        await collect();
        console.log((await running).out.every((x) => x === 2)); // sums of 2, over sums of 1`);
    assert.equal(stdout, "true\n");
});
