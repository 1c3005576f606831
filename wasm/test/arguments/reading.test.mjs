/*
 * Options, lists and arrays that are code: getters that change their answer, Proxies, classes that say
 * another length, holes, and names on Object.prototype. Each value is read once, in every entry.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { runInNewContext } from "node:vm";
import { init as initInline } from "libattn/inline";
import { lab } from "libattn-labs";
import { init as initSoftmax } from "libattn/softmax";
import { init as initWorker } from "libattn/worker";
import { init as initSmall } from "../../dist/softmax.js";
import { assertClose, exactAttention, libraries, makeProblem, moduleBytes } from "../support.mjs";
import { patience } from "../patience.mjs";

const { query, key, value, sizes } = makeProblem({ heads: 2, queries: 4, keys: 6, dim: 8 }, 1);
const mask = Uint8Array.from({ length: 24 }, (_, i) => i % 3);
const place = [64, 32, 8, 1];
const options = { ...sizes, causal: true, window: [3, 0], mask, strides: { query: place } };

/** An object or list of the same values, each of which is an error when it is read again. */
function once(values) {
    const read = new Set();
    return new Proxy(values, {
        get(target, name) {
            if (read.has(name)) throw new Error(`${String(name)} is read twice`);
            if (name in target && typeof name === "string") read.add(name);
            return target[name];
        },
    });
}

/** Getters that answer the second time with something else. */
function fickle(values) {
    const object = {};
    for (const name of Object.keys(values)) {
        let asked = 0;
        const get = () => (asked++ === 0 ? values[name] : "another answer");
        Object.defineProperty(object, name, { enumerable: true, get });
    }
    return object;
}

class Liar extends Float32Array {
    get length() {
        return 1e9;
    }
    get byteLength() {
        return 4e9;
    }
    get byteOffset() {
        return 4096;
    }
    get buffer() {
        return new ArrayBuffer(8);
    }
    get [Symbol.toStringTag]() {
        return "Float32Array";
    }
    subarray() {
        throw new Error("its own code");
    }
    static get [Symbol.species]() {
        throw new Error("its own code");
    }
}

const entries = {
    simd: libraries.get("simd"),
    native: libraries.get("native"),
    softmax: await initSoftmax(),
    "softmax for browsers": await initSmall({ source: await moduleBytes("softmax") }),
    inline: await initInline(),
    worker: await initWorker({ build: "simd" }),
};
const expected = exactAttention(
    { sizes, query, key, value },
    { causal: "top-left", window: [3, 0], mask: (b, h, i, j) => mask[i * 6 + j] },
);

for (const [name, attn] of Object.entries(entries))
    describe(`the entry ${name}`, () => readOnce(attn));

function readOnce(attn) {
    const close = (out) => assertClose(out, expected.out, expected.outBound, "out");
    const call = async (changes, q = query) =>
        attn.attention(q, key, value, { ...options, ...changes });

    test("Proxies as options, strides, shapes and windows", async () => {
        const strides = once({ query: once(place) });
        const shaped = once({ data: mask, shape: once([1, 1, 4, 6]) });
        const all = once({ ...options, strides, window: once([3, 0]), mask: shaped });
        close(await attn.attention(query, key, value, all));
        if (attn.plan) {
            const inputs = once(["mask"]);
            const plan = await attn.plan(
                once({ ...sizes, causal: true, window: once([3, 0]), inputs }),
            );
            const arrays = { query, key, value, mask: shaped2(), strides: once({}) };
            close((await plan.run(once(arrays))).out);
            plan.dispose();
        }
    });
    const shaped2 = () => once({ data: mask, shape: once([1, 1, 4, 6]) });

    test("getters that change their answer", async () => {
        const strides = fickle({ query: place });
        close(await attn.attention(query, key, value, fickle({ ...options, strides })));
        if (attn.plan) {
            const plan = await attn.plan(
                fickle({ ...sizes, causal: true, window: [3, 0], inputs: ["mask"] }),
            );
            close((await plan.run(fickle({ query, key, value, mask }))).out);
            plan.dispose();
        }
    });

    test("arrays of a class that lies", async () => {
        const liar = (array) => new Liar(array);
        const out = new Liar(expected.out.length);
        assert.equal(await call({ strides: null, out }, liar(query)), out);
        close(Float32Array.prototype.subarray.call(new Float32Array(realBuffer(out))));
        class Doubles extends Float64Array {
            get [Symbol.toStringTag]() {
                return "Float32Array";
            }
        }
        await assert.rejects(
            call({ strides: null }, new Doubles(64)),
            /query .*not a Float64Array/,
        );
        const own = query.slice();
        Object.defineProperty(own, "length", { value: 1e9 });
        close(await call({ strides: null }, own));
    });

    test("lists with holes, and lists that are none", async () => {
        // eslint-disable-next-line no-sparse-arrays
        await assert.rejects(call({ window: [3, ,] }), TypeError);
        // eslint-disable-next-line no-sparse-arrays
        await assert.rejects(call({ strides: { query: [64, , 8, 1] } }), /strides.query\[1\]/);
        await assert.rejects(call({ strides: { query: { length: 4 } } }), TypeError);
        await assert.rejects(call({ kvLengths: new Array(1) }), /kvLengths\[0\] .*undefined/);
    });

    test("a misspelt option names those that are near", async () => {
        await assert.rejects(
            call({ casual: true }),
            /unknown "casual" \((did you mean causal\?|there)/,
        );
        await assert.rejects(call({ kv_heads: 1 }), /unknown "kv_heads"/);
        await assert.rejects(call({ zzz: 1 }), /unknown "zzz" \(.*there are .*causal/);
    });
}

const realBuffer = (array) =>
    Reflect.get(Object.getPrototypeOf(Int8Array.prototype), "buffer", array);

test("the experiments' options", async () => {
    const given = { panel: "7b", xs: [9], seed: 3 };
    const wanted = await lab("separation", { trials: 3 }, given);
    assert.deepEqual(
        (await lab("separation", fickle({ trials: 3 }), fickle(given))).rows,
        wanted.rows,
    );
    assert.deepEqual((await lab("separation", { trials: 3 }, once(given))).rows, wanted.rows);
    await assert.rejects(
        lab("separation", {}, { sede: 1 }),
        /unknown "sede" \(did you mean seed\?\)/,
    );
    const stop = new Error("enough");
    const onProgress = () => {
        throw stop;
    };
    await assert.rejects(lab("separation", { trials: 3 }, { ...given, onProgress }), stop);
});

/* Names of options, of sizes and of what the package's own objects have, but for those that a property's
   descriptor has: with these on Object.prototype no program works. */
const POLLUTION = `
    const names = "query key out lse scores bias mask kvLengths sinks slopes keyScales valueScales \\
        layout strides batch heads kvHeads queries keys dim valueDim dtype kvDtype backend causal scale \\
        past window softcap params inputs scoresMode head first count stride maxKeys data shape \\
        build threads tier fallback addon panel seed xs workers onProgress progress result error \\
        array given gaps place exports at f32 bhnd call args relaxed";
    for (const name of names.split(/\\s+/)) {
        Object.prototype[name] = "polluted";
    }
    Array.prototype.extra = "polluted";
    for (const i of [0, 1, 4]) Array.prototype[i] = 7;`;

for (const entry of ["", "/native", "/softmax", "/inline", "/worker", "-labs"]) {
    test(`names on Object.prototype and Array.prototype: libattn${entry}`, async () => {
        const script = `
            const { init, lab } = await import("libattn${entry}");
            ${POLLUTION}
            const x = Float32Array.from({ length: 128 }, (_, i) => Math.sin(i));
            const show = (array) => console.log(Array.from(array).join());
            if (lab) {
                const { rows } = await lab("separation", { trials: 3 }, { panel: "7b", xs: [9] });
                show(rows[0].slice(0, 1));
            } else {
                const attn = await init();
                show(await attn.attention(x, x, x, { heads: 2, dim: 8, causal: true }));
                const named = { query: x, key: x, value: x, heads: 2, dim: 8, causal: true };
                show((await attn.attention(named)).out);
                if (attn.plan) {
                    const plan = await attn.plan({ heads: 2, queries: 8, dim: 8, causal: true });
                    show((await plan.run({ query: x, key: x, value: x })).out);
                    plan.dispose();
                }
                if (attn.stream) {
                    const options = { heads: 2, dim: 8, maxKeys: 8, causal: true };
                    const stream = await attn.stream(options);
                    show((await (await stream.append(x, x)).query(x)).out);
                    const again = attn.attentionAsync ?? attn.attention;
                    show(await again.call(attn, x, x, x, { heads: 2, dim: 8, causal: true }));
                    stream.dispose();
                }
                attn.dispose();
            }`;
        const node = ["--input-type=module", "--eval", script];
        const { stdout } = await promisify(execFile)(process.execPath, node, {
            ...{ cwd: import.meta.dirname, timeout: patience },
        });
        const lines = stdout.trim().split("\n");
        if (entry === "-labs") return assert.deepEqual(lines, ["9"]);
        const x = Float32Array.from({ length: 128 }, (_, i) => Math.sin(i));
        const shape = { batch: 1, heads: 2, kvHeads: 2, queries: 8, keys: 8, dim: 8, valueDim: 8 };
        const exact = exactAttention(
            { sizes: shape, query: x, key: x, value: x },
            { causal: "top-left" },
        );
        for (const line of lines)
            assertClose(line.split(",").map(Number), exact.out, exact.outBound, "out");
    });
}

test("plain objects of another realm and without a prototype are options", () => {
    const attn = libraries.get("simd");
    const foreign = runInNewContext("({ heads: 2, dim: 8, causal: true })");
    const out = attn.attention(query, key, value, foreign);
    const bare = { __proto__: null, heads: 2, dim: 8, causal: true };
    assert.deepEqual(attn.attention(query, key, value, bare), out);
});
