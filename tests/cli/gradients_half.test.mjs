// attn run --grad of float16 and bfloat16 problems: the loss's gradient comes in any type of floats.

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { arrays, random } from "./attention.mjs";
import { assertRefused, attn, contents, succeed, withFiles } from "./command.mjs";
import { halfBits, halfValue, npy, read } from "./npy.mjs";
import { safetensors } from "./safetensors.mjs";

const H = 2;
const [n, m, d, dv] = [5, 7, 4, 3];
const shapes = { q: [H, n, d], k: [H, m, d], v: [H, m, dv], do: [H, n, dv] };
const [q, k, v] = arrays({ H, n, m, d, dv });
const loss = [...random(H * n * dv, 9)];

const float = new Float32Array(1);
const bits = new Uint32Array(float.buffer);
/** The upper half of a float32, rounded to nearest even. */
const bf16Bits = (x) => {
    float[0] = x;
    return ((bits[0] + 0x7fff + ((bits[0] >>> 16) & 1)) >>> 16) & 0xffff;
};
const bf16Value = (half) => {
    bits[0] = half << 16;
    return float[0];
};

const types = {
    BF16: {
        toBits: bf16Bits,
        toValue: bf16Value,
        largest: bf16Value(0x7f7f),
        tooLarge: 3.4e38,
        says: /largest bfloat16, 3\.39e38/,
    },
    F16: {
        toBits: halfBits,
        toValue: halfValue,
        largest: 65504,
        tooLarge: 65520,
        says: /largest float16, 65504/,
    },
};

const pack = (values, { toBits }) => Buffer.from(Uint16Array.from(values, toBits).buffer);

/** Q, K, V and the loss's gradient in one file of this type. */
function fileOf(type, gradient) {
    const tensor = (name, values) => [
        name,
        { dtype: type, shape: shapes[name], bytes: pack(values, types[type]) },
    ];
    return safetensors(
        Object.fromEntries([
            tensor("q", q),
            tensor("k", k),
            tensor("v", v),
            tensor("do", gradient),
        ]),
    );
}

const INPUTS = ["--q=x.safetensors:q", "--k=x.safetensors:k", "--v=x.safetensors:v", "-o", "o.npy"];
const WRITTEN = ["query", "key", "value"].map((name) => `--grad=${name}=d_${name}.npy`);
const args = (file) => ["run", "softmax", ...INPUTS, `--grad=out=${file}`, ...WRITTEN];

function gradientsOf(files, file) {
    return withFiles(files, (folder) => {
        succeed(args(file), folder);
        const all = contents(folder);
        assert.ok(read(folder, "d_query.npy").data.some((x) => x !== 0));
        return ["query", "key", "value"].map((name) => all[`d_${name}.npy`]);
    });
}

for (const [type, { largest, tooLarge, says }] of Object.entries(types))
    describe(`a problem of ${type}`, () => {
        const own = { "x.safetensors": fileOf(type, loss) };
        const expected = gradientsOf(own, "x.safetensors:do");

        test("takes float32 and rounds it", () => {
            const files = { ...own, "do.npy": npy(shapes.do, loss) };
            assert.deepEqual(gradientsOf(files, "do.npy"), expected);
        });

        test("takes float64", () => {
            const rounded = loss.map(Math.fround); // as files of float64 are, before all else
            const files = { ...own, "do.npy": npy(shapes.do, rounded, { descr: "<f8" }) };
            assert.deepEqual(gradientsOf(files, "do.npy"), expected);
        });

        test("takes the other half type", () => {
            const other = type === "F16" ? "BF16" : "F16";
            const twice = loss.map((x) => types[other].toValue(types[other].toBits(x)));
            const both = { ...own, "other.safetensors": fileOf(other, loss) };
            const same = { "x.safetensors": fileOf(type, twice) };
            assert.deepEqual(
                gradientsOf(both, "other.safetensors:do"),
                gradientsOf(same, "x.safetensors:do"),
            );
        });

        test("refuses numbers that would become infinite", () => {
            const files = { ...own, "do.npy": npy(shapes.do, loss.with(4, -tooLarge)) };
            withFiles(files, (folder) => {
                assertRefused(attn(args("do.npy"), folder), says);
                assert.deepEqual(Object.keys(contents(folder)), Object.keys(files).sort());
            });
            const fits = { ...own, "do.npy": npy(shapes.do, loss.with(4, largest)) };
            gradientsOf(fits, "do.npy");
        });

        test("takes infinities for what they are", () => {
            const files = { ...own, "do.npy": npy(shapes.do, loss.with(4, Infinity)) };
            withFiles(files, (folder) => {
                assert.match(
                    succeed(args("do.npy"), folder),
                    /^gradients .* 1 non-finite in that/m,
                );
            });
        });
    });
