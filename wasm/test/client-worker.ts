/* A program that uses the types of libattn/worker and libattn/softmax: packed.test.mjs compiles it. */
import { init as initSoftmax } from "libattn/softmax";
import { init, AttnError } from "libattn/worker";

const attn = await init({ source: new Uint8Array(8), build: "simd", threads: null });
const x = new Float32Array(64);
const long = { signal: AbortSignal.timeout(1000), onProgress: (done: number) => console.log(done) };
const out: Float32Array<ArrayBuffer> = await attn.attention(x, x, x, { dim: 8, ...long });
const both = await attn.attention({ query: x, key: x, value: x, dim: 8, lse: true, ...long });
const halves: Uint16Array = await attn.attention(
    new Uint16Array(8),
    new Uint16Array(8),
    new Uint16Array(8),
    {
        dim: 8,
        dtype: "bf16",
    },
);
const small = await initSoftmax({ source: new Uint8Array(8) });
const shaped = { data: x, shape: [8, 8] };
const lse = small.attention({ query: shaped, key: shaped, value: shaped, lse: true }).lse;
const rows: Float32Array = small.attention(x, x, shaped, { dim: 8, mask: [true], bias: null });

// @ts-expect-error: floats are no halves
await attn.attention(x, x, x, { dim: 8, dtype: "f16" });
// @ts-expect-error: there are no other types in the small one
small.attention(x, x, x, { dim: 8, dtype: "f16" });

export default [out, both.scores, halves, lse, rows, AttnError];
