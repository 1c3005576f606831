/* A program that uses the types, and one that misuses them: packed.test.mjs compiles it. */
import {
    init,
    AttnError,
    type Attn,
    type Backend,
    type HalfArray,
    type Param,
    type Plan,
    type Plugin,
    type RunResult,
    type Stream,
    type Tensor,
} from "libattn";
import { embed, readNpy } from "libattn/data";

const attn: Attn = await init();
declare const somewhere: { readonly href: string; readonly protocol: string };
const other: Attn = await init({ source: somewhere, build: "scalar", threads: null });
declare const bytes: Uint8Array;
await init({ source: bytes });
await init({ source: bytes.buffer });
await init({ source: "https://example.org/libattn.wasm" });

const x = new Float32Array(64);
const options = {
    heads: 2,
    dim: 8,
    causal: "bottom-right",
    params: { block: 4, method: "ams" },
} as const;
const out: Float32Array = attn.attention(x, x, x, options);

{
    using plugin: Plugin = await attn.loadPlugin(bytes, { name: "mine" });
    await attn.loadPlugin(somewhere);
    const ids: readonly string[] = plugin.backends;
    ids.includes(plugin.name);
    plugin.unload();
    // @ts-expect-error there is no such option
    await attn.loadPlugin(bytes, { origin: "mine" });
}

using plan: Plan = attn.plan({ backend: "sparse", queries: 4, dim: 16, causal: true });
const result: RunResult = plan.run({ query: x, key: x, value: x, out, lse: true, layout: "bnhd" });
const rows: number = result.degenerateRows + (result.lse?.length ?? 0);
const weights: Float32Array = plan.weights({ query: x, key: x, head: 0, first: 1, count: 2 });
const error: number = plan.error({ query: x, key: x, value: x, out, stride: 10 });
const flops: number = plan.cost?.flops ?? 0;
const facts: string = plan.facts.map(({ label, value }) => `${label} ${value ?? "none"}`).join();

const ruled: Float32Array = attn.attention(x, x, x, {
    dim: 8,
    past: 3,
    window: [4, 0],
    softcap: 30,
    bias: { data: x, shape: [1, 1, 8, 8] },
    mask: new Uint8Array(64),
    kvLengths: [5],
    sinks: new Float32Array(1),
});
using masked: Plan = attn.plan({
    queries: 8,
    dim: 8,
    inputs: ["mask", "slopes"],
    scoresMode: "masked",
});
const scores: Float32Array | null = masked.run({
    ...{ query: x, key: x, value: x, scores: true },
    mask: new Uint8Array(64),
    slopes: new Float32Array(1),
}).scores;

using stream: Stream = attn.stream({ heads: 2, dim: 8, maxKeys: 100, causal: true });
const answer = stream.append(x, x).query(x, { layout: "bnhd" });
using fork: Stream = stream.fork().restore(stream.truncate(1).save());
using sums = attn.stream({
    backend: "linear",
    dim: 8,
    maxKeys: 9,
    params: { feature_map: "relu" },
});
const noLse: Float32Array | null = sums.query(x).lse;
const held: number =
    fork.length +
    answer.lse.length +
    (noLse?.length ?? 0) +
    stream.sizes.maxKeys +
    sums.memoryBytes;

/** What a form is made of. */
function describe(param: Param): string {
    switch (param.type) {
        case "integer":
        case "number":
            return `${param.min + param.default} of ${param.max} ${param.unit}`;
        case "boolean":
            return param.default ? "on" : "off";
        case "choice":
            return param.choices.join(param.default);
    }
}
const forms: string[] = attn.backends().flatMap((backend: Backend) => backend.params.map(describe));

const bits = new Uint16Array(64);
const half: HalfArray = attn.attention(bits, bits, bits, { dim: 8, dtype: "f16" });
using kept: Tensor<Int8Array> = attn.tensor(new Int8Array(64), "i8");
using zeros: Tensor = attn.tensor(64);
const fromKept: Float32Array = attn.attention(zeros, kept, kept, {
    ...{ dim: 8, kvDtype: "i8", keyScales: x, valueScales: x },
});
const quantised: Float32Array = attn.attention(x, new Int8Array(64), new Int8Array(64), {
    ...{ dim: 8, kvDtype: "i8", keyScales: x, valueScales: x },
    strides: { query: [0, 0, 8, 1] },
});
using halves: Plan<"bf16"> = attn.plan({ queries: 4, dim: 8, dtype: "bf16" });
const halfOut: Uint16Array<ArrayBuffer> = halves.run({ query: bits, key: bits, value: bits }).out;
using cache: Stream<"f32", "i8"> = attn.stream({ dim: 8, maxKeys: 100, kvDtype: "i8" });
cache.append(new Int8Array(8), new Int8Array(8), { keyScales: x, valueScales: x });

/* By one object, with shapes; null is absent. */
const shaped = { data: x, shape: [2, 4, 8] };
const named = attn.attention({
    query: shaped,
    key: shaped,
    value: shaped,
    lse: true,
    scores: "weights",
});
const mine: Float32Array<ArrayBuffer> = named.out;
const positional: Float32Array<ArrayBuffer> = attn.attention(shaped, shaped, shaped);
const into: Float32Array = attn.attention(x, x, x, { dim: 8, out: zeros, mask: null });
const namedInto: Float32Array = attn.attention({
    query: x,
    key: x,
    value: x,
    dim: 8,
    out: zeros,
}).out;
attn.attention(await readNpy(bytes), zeros, { data: zeros, shape: [1, 8, 8] }, { causal: null });
attn.attention(x, x, x, { dim: 8, mask: [true, false], kvLengths: null });
attn.attention(x, x, x, { dim: 8, mask: { data: [true, false], shape: [2] } });
const bits16: Uint16Array<ArrayBuffer> = attn.attention({
    ...{ query: bits, key: bits, value: bits, dim: 8 },
    dtype: "bf16",
}).out;
attn.attention(bits, kept, kept, { dim: 8, dtype: "f16", kvDtype: "i8", keyScales: x });
cache.append({ key: kept, value: kept, keyScales: shaped }).query({ query: shaped });
plan.error({ query: x, key: x, value: x, out, stride: 2 });
const blocks: boolean = attn.blocking;
const always: true = (await init()).blocking;

const { tokens, dim }: { tokens: string[]; dim: number } = await embed("text", 8);
const { data, shape }: { data: Float32Array; shape: number[] } = await readNpy(bytes);
const code: "ATTN_ERROR_SHAPE" | string = new AttnError("ATTN_ERROR_SHAPE", "text").code;
export const all = [
    other.tier,
    rows,
    weights,
    error,
    flops,
    facts,
    forms,
    tokens,
    dim,
    data,
    shape,
    code,
    ruled,
    scores,
    held,
    half,
    quantised,
    halfOut,
    fromKept,
    mine,
    positional,
    into,
    namedInto,
    bits16,
    blocks,
    always,
];

// @ts-expect-error a number is no source
await init(5);
// @ts-expect-error no such build
await init({ build: "fast" });
// @ts-expect-error an array of doubles
attn.attention(new Float64Array(4), x, x, { dim: 8 });
// @ts-expect-error dim is missing
attn.plan({ queries: 4 });
// @ts-expect-error a misspelt option
attn.plan({ queries: 4, dim: 4, casual: true });
// @ts-expect-error no such layout
plan.run({ query: x, key: x, value: x, layout: "hnd" });
// @ts-expect-error sizes are fixed
plan.sizes.dim = 3;
// @ts-expect-error no such code
new AttnError("ATTN_ERROR_NONE", "text");
// @ts-expect-error a window has two sides
attn.plan({ queries: 4, dim: 4, window: [1] });
// @ts-expect-error no such input
attn.plan({ queries: 4, dim: 4, inputs: ["biases"] });
// @ts-expect-error a mask is of bytes
masked.run({ query: x, key: x, value: x, mask: x });
// @ts-expect-error no such element type
attn.plan({ queries: 4, dim: 4, dtype: "f64" });
// @ts-expect-error queries are no i8
attn.plan({ queries: 4, dim: 4, dtype: "i8" });
// @ts-expect-error a result in 16 bits is no Float32Array
export const wrong: Float32Array = attn.attention(bits, bits, bits, { dim: 8, dtype: "f16" });
// @ts-expect-error floats are no halves
attn.attention(x, x, x, { dim: 8, dtype: "f16" });
// @ts-expect-error halves are no floats
attn.attention(bits, bits, bits, { dim: 8 });
// @ts-expect-error keys in i8 beside values in f32
attn.attention(x, new Int8Array(64), x, { dim: 8, kvDtype: "i8" });
// @ts-expect-error floats where keys are in i8
attn.attention({ query: x, key: x, value: x, dim: 8, kvDtype: "i8" });
// @ts-expect-error an out of another type
attn.attention(x, x, x, { dim: 8, out: bits });
// @ts-expect-error floats for a plan in bf16
halves.run({ query: x, key: x, value: x });
// @ts-expect-error floats for a stream in i8
cache.append(x, x);
// @ts-expect-error a shape is of numbers
attn.attention({ data: x, shape: ["2"] }, x, x, { dim: 8 });
// @ts-expect-error results by name only
attn.attention(x, x, x, { dim: 8, lse: true });
// @ts-expect-error strides are of four axes
attn.attention(x, x, x, { dim: 8, strides: { key: [1, 2] } });
// @ts-expect-error a stream has an end
attn.stream({ dim: 4 });
// @ts-expect-error its past is what it holds
attn.stream({ dim: 4, maxKeys: 4, past: 2 });
