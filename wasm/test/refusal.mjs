/* What wrong calls are made of, and what is asked of every refusal: one line that names what is wrong. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { AttnError } from "libattn";
import { libraries, makeProblem } from "./support.mjs";

export function detached(length) {
    const array = new Float32Array(length);
    structuredClone(array.buffer, { transfer: [array.buffer] });
    return array;
}

/** A Float32Array whose buffer has shrunk below it. */
export function shrunk(length) {
    const buffer = new ArrayBuffer(4 * length, { maxByteLength: 4 * length });
    const array = new Float32Array(buffer, 0, length);
    buffer.resize(4);
    return array;
}

export function assertRefused(act, kind, message) {
    assert.throws(act, (error) => {
        if (kind === TypeError) {
            assert.equal(error.constructor, TypeError);
        } else {
            assert.ok(error instanceof AttnError, `${error.stack}`);
            assert.match(error.code, new RegExp(`^ATTN_ERROR_(${kind})$`));
            assert.equal(error.name, "AttnError");
        }
        assert.match(error.message, message);
        assert.doesNotMatch(error.message, /[\n\r\u2028\u2029]/);
        return true;
    });
}

/** Calls `body(scene)` in a suite of its own for the module and for the addon. */
export function inEach(body) {
    for (const build of ["simd", "native"])
        describe(`the ${build} build`, () => body(sceneOf(build)));
}

/** A test for each [what is done, how, the error's class or code, what its message has to name]. */
export function refuseAll(cases) {
    for (const [name, act, kind, message] of cases)
        test(name, () => assertRefused(act, kind, message));
}

function sceneOf(build) {
    const attn = libraries.get(build);
    const { query, key, value, sizes } = makeProblem({ heads: 2, queries: 4, keys: 6, dim: 8 }, 1);
    const plan = attn.plan(sizes);
    const tiny = { queries: 2, dim: 2 };
    /* Past the address space of 32 bits, or of 64. */
    const huge = {
        queries: build === "simd" ? 2 ** 30 : 2 ** 52,
        dim: build === "simd" ? 64 : 1024,
    };

    const run = (changes) => () => plan.run({ query, key, value, ...changes });
    const weights = (changes) => () => plan.weights({ query, key, ...changes });
    const quick =
        (options, q = query) =>
        () =>
            attn.attention(q, key, value, options);
    const make = (options) => () => attn.plan({ ...tiny, ...options });
    const ruled = (inputs) => quick({ ...sizes, ...inputs });
    const masked = attn.plan({ ...sizes, inputs: ["mask"] });
    const strided = (strides) => run({ strides });
    const bytes = new Int8Array(96);
    const scales = new Float32Array(12).fill(1);
    const quantised = attn.plan({ ...sizes, kvDtype: "i8" });
    const i8 = (changes) => () =>
        quantised.run({
            ...{ query, key: bytes, value: bytes, keyScales: scales, valueScales: scales },
            ...changes,
        });

    return {
        ...{ attn, build, query, key, value, sizes, plan, tiny, huge, bytes, scales },
        ...{ run, weights, quick, make, ruled, masked, strided, i8 },
    };
}
