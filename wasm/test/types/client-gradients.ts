/* A program that uses the types of gradients, natively and in a worker too: packed.test.mjs compiles it. */
import { AttnError, init, type Gradients, type GradientsPlan } from "libattn";
import { init as initNative } from "libattn/native";
import { init as initWorker, type Tensor } from "libattn/worker";

const x = new Float32Array(64);
const attn = await init({ source: new Uint8Array(8), build: "relaxed" });
const loss = { query: x, key: x, value: x, outGradient: x };
const all = attn.gradients({ ...loss, dim: 8, causal: true, backend: "linear" });
const query: Float32Array<ArrayBuffer> = all.query;
const decay: Float32Array<ArrayBuffer> | undefined = all.decay;
const bias: Float32Array = attn.gradients({ ...loss, bias: x, dim: 8, by: ["bias"] }).bias;
const listed: Gradients = attn.gradients(x, x, { data: x, shape: [8, 8] }, x, {
    dim: 8,
    mask: [true],
});
const plan: GradientsPlan = attn.plan({ queries: 8, dim: 8, gradients: true });
const { out, lse } = plan.run({ query: x, key: x, value: x, lse: true });
const kept: Float32Array = plan.gradients({ ...loss, out, lse, by: ["key", "value"] }).key;
const plain = attn.plan({ queries: 8, dim: 8 });
// @ts-expect-error: a plan that was not asked for them has none
plain.gradients(loss);
// @ts-expect-error: no gradient of the query was asked for
const missing: Float32Array = attn.gradients({ ...loss, dim: 8, by: ["value"] }).query;
// @ts-expect-error: the loss's gradient is needed
attn.gradients({ query: x, key: x, value: x, dim: 8 });
const bits = new Uint16Array(64);
const halves = { query: bits, key: bits, value: bits, outGradient: bits };
const half: ArrayBufferView = attn.gradients({ ...halves, dim: 8, dtype: "bf16" }).value;
const tensor = attn.tensor(x);
attn.gradients({ ...loss, query: tensor, dim: 8 });
attn.dispose();

const native = await initNative({ threads: 2, fallback: false });
const reason: string | null = native.reason;
native.plan({ queries: 8, dim: 8, gradients: true }).gradients(loss).value.fill(0);
await native.attentionAsync(x, x, x, { dim: 8 });

const worker = await initWorker({ build: "simd" });
const held: Tensor = await worker.tensor(x);
const remote = await worker.plan({ queries: 8, dim: 8, gradients: true });
const found: Float32Array = (await remote.gradients({ ...loss, query: held })).key;
const signal = AbortSignal.timeout(1000);
const sent: Gradients = await worker.gradients({ ...loss, dim: 8, signal });
const more = await worker.gradients(held, x, x, x, { dim: 8, by: ["query"] });
more.query.fill(0);
console.log(AttnError, query, decay, bias, listed, kept, missing, half, reason, found, sent);
