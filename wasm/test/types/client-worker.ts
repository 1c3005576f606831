/* A program that uses the types of libattn/worker and libattn/softmax: packed.test.mjs compiles it. */
import { init as initSoftmax } from "libattn/softmax";
import { init, AttnError, type Plan, type Stream, type Tensor } from "libattn/worker";

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

const tensor: Tensor = await attn.tensor(x);
const bits: Tensor<Uint16Array> = await attn.tensor(8, "bf16");
const plan: Plan = await attn.plan({ queries: 8, dim: 8, inputs: ["bias"] });
const run = await plan.run({ query: tensor, key: x, value: shaped, bias: tensor, out: tensor });
const written: Tensor = run.out;
const fresh: Float32Array<ArrayBuffer> = (await plan.run({ query: x, key: x, value: x })).out;
const copy: Float32Array = await written.read();
await tensor.write(x);
const weights: Float32Array = await plan.weights({ query: tensor, key: tensor, count: 1, ...{} });
const error: number = await plan.error({ query: x, key: x, value: x, out: tensor, stride: 2 });
const half: Plan<"f16", "i8"> = await attn.plan({
    queries: 8,
    dim: 8,
    dtype: "f16",
    kvDtype: "i8",
});
const stream: Stream = await attn.stream({ dim: 8, maxKeys: 8 });
const answer = await (await stream.append(x, tensor)).query(x, { signal: long.signal });
const saved: Uint8Array = await stream.save();
await (await stream.fork()).restore(saved);
const plugin = await attn.loadPlugin(new Uint8Array(8), { name: "mine" });
await plugin.unload();
console.log(plan.cost?.form, plan.facts.length, stream.length, run.milliseconds);

// @ts-expect-error: floats are no halves
await attn.attention(x, x, x, { dim: 8, dtype: "f16" });
// @ts-expect-error: there are no other types in the small one
small.attention(x, x, x, { dim: 8, dtype: "f16" });
// @ts-expect-error: a tensor of the other type
await plan.run({ query: bits, key: x, value: x });
// @ts-expect-error: it is read by a call
console.log(tensor.data);
// @ts-expect-error: its results come by promises
const now: Float32Array = plan.run({ query: x, key: x, value: x }).out;

export default [out, both.scores, halves, lse, rows, AttnError];
export const more = [fresh, copy, weights, error, half, answer.out, now];
