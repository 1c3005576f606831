/* Results that are asked for have the types of arrays, and no null: packed.test.mjs compiles it. */
import { init, type RunOptions, type RunResult } from "libattn";
import { init as initInline } from "libattn/inline";
import { init as initNative } from "libattn/native";
import { init as initSoftmax } from "libattn/softmax";
import { init as initWorker, type RunOptions as WorkerOptions } from "libattn/worker";

/** Compiles only where the two types are the same. */
type Same<A, B> =
    (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : never;
declare function same<A>(): <B>(value: B, yes: Same<A, B>) => void;

type Maybe = Float32Array | null;
const x = new Float32Array(64);
const arrays = { query: x, key: x, value: x };
const call = { ...arrays, dim: 8 };
const shaped = { data: x, shape: [8, 8] };
declare const perhaps: boolean;
declare const anything: RunOptions;
declare const sent: WorkerOptions<"f32", "f32", Float32Array>;

/* libattn, and the entries with the same plans. */
for (const attn of [await init(), await initInline(), await initNative()]) {
    const plan = attn.plan({ queries: 8, dim: 8 });
    const run = plan.run({ ...arrays, lse: true, scores: true });
    same<Float32Array>()(run.lse, true);
    same<Float32Array>()(run.scores, true);
    run.lse.fill(0);
    run.scores.fill(0);
    const given = plan.run({ ...arrays, lse: x, scores: shaped });
    same<Float32Array>()(given.lse, true);
    same<Float32Array>()(given.scores, true);
    const one = plan.run({ ...arrays, lse: true, scores: false });
    same<Float32Array>()(one.lse, true);
    same<null>()(one.scores, true);
    const open = plan.run({ ...arrays, lse: perhaps, scores: null });
    same<Maybe>()(open.lse, true);
    const none = plan.run(arrays);
    same<Maybe>()(none.lse, true);
    same<Maybe>()(none.scores, true);
    const whatever = plan.run(anything);
    same<Maybe>()(whatever.lse, true);
    const tensor = plan.run({ ...arrays, out: attn.tensor(x), lse: attn.tensor(x) });
    same<Float32Array>()(tensor.lse, true);
    const beside = await plan.runAsync({ ...arrays, lse: true, scores: x });
    same<Float32Array>()(beside.lse, true);
    same<Float32Array>()(beside.scores, true);

    const called = attn.attention({ ...call, lse: true, scores: "weights" });
    same<Float32Array>()(called.lse, true);
    same<Float32Array>()(called.scores, true);
    const later = await attn.attentionAsync({ ...call, lse: x, scores: true, scoresMode: "raw" });
    same<Float32Array>()(later.lse, true);
    same<Float32Array>()(later.scores, true);
    const kept: RunResult = called;
    same<Maybe>()(kept.lse, true);
    // @ts-expect-error what was not asked for may not be there
    none.lse.fill(0);
    // @ts-expect-error nor may this
    attn.attention(call).scores.fill(0);
    // @ts-expect-error no such way to ask
    plan.run({ ...arrays, lse: 1 });
    // @ts-expect-error a plan's mode is its own
    plan.run({ ...arrays, scores: "weights" });
    // @ts-expect-error no such mode
    attn.attention({ ...call, scores: "weight" });
    // @ts-expect-error a misspelt option beside it
    plan.run({ ...arrays, lse: true, score: true });
}

/* CSR in place of query and key. */
const sparse = (await initNative()).plan({ backend: "sketch", queries: 8, dim: 8 });
const stood = sparse.run({ value: x, xIndptr: [0], xIndices: [0], xData: x, lse: true });
same<Float32Array>()(stood.lse, true);

/* Results in 16 bits have these in 32. */
const bits = new Uint16Array(64);
const half = (await init()).attention({
    ...{ query: bits, key: bits, value: bits, dim: 8 },
    ...{ dtype: "f16" as const, lse: true as const },
});
same<Float32Array>()(half.lse, true);

for (const attn of [await init(), await initNative()]) {
    const run = attn.plan({ queries: 8, dim: 8, gradients: true }).run({ ...arrays, lse: true });
    same<Float32Array>()(run.lse, true);
}

const small = await initSoftmax();
const smallRun = small.plan({ queries: 8, dim: 8 }).run({ ...arrays, lse: true });
same<Float32Array>()(smallRun.lse, true);
const smallCall = small.attention({ ...call, lse: shaped });
same<Float32Array>()(smallCall.lse, true);
const smallNone = small.attention(call);
same<Maybe>()(smallNone.lse, true);

{
    const worker = await initWorker();
    const plan = await worker.plan({ queries: 8, dim: 8 });
    const run = await plan.run({ ...arrays, lse: true, scores: x });
    same<Float32Array>()(run.lse, true);
    run.scores.fill(0);
    const none = await plan.run(arrays);
    same<Maybe>()(none.lse, true);
    same<Maybe>()(none.scores, true);
    const there = await worker.tensor(x);
    const held = await plan.run({ ...arrays, lse: there, scores: false });
    same<typeof there>()(held.lse, true);
    same<null>()(held.scores, true);
    const whatever = await plan.run(sent);
    whatever.lse?.length.toFixed();
    const called = await worker.attention({ ...call, lse: true, scores: "masked" });
    same<Float32Array>()(called.lse, true);
    same<Float32Array>()(called.scores, true);
}
