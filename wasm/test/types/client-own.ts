/* A program that uses a plugin with arrays of its own: packed.test.mjs compiles it. */
import { init, type IntegerArray, type MaskArray } from "libattn";
import { init as initWorker } from "libattn/worker";

declare module "libattn" {
    interface OwnInputs {
        widths: Float32Array;
        blocks: MaskArray;
        offsets: IntegerArray;
    }
    interface OwnOutputs {
        counts: BigInt64Array;
    }
}

const attn = await init();
const x = new Float32Array(64);
const arrays = { query: x, key: x, value: x };
const plan = attn.plan({
    backend: "mine",
    queries: 8,
    dim: 8,
    inputs: ["widths", "mask", "decay"],
});
const { out, counts, stateOut } = plan.run({
    ...{ ...arrays, widths: x, blocks: [true], offsets: { data: [1], shape: [1] } },
    ...{ counts: true, stateOut: new Float32Array(64) },
});
const [first]: BigInt64Array = counts ?? new BigInt64Array(1);
const state: Float32Array | undefined = stateOut;
const called = attn.attention({ ...arrays, dim: 8, backend: "mine", widths: x, counts: true });
const stream = attn.stream({ dim: 8, maxKeys: 8, backend: "mine", inputs: ["widths"] });
stream.append({ key: x, value: x, widths: x });
stream.query(x, { widths: x, counts: true }).counts?.at(0);
for (const { name, dtype, axes, own } of attn.backends().flatMap((one) => one.arrays)) {
    console.log(name, dtype, axes.join(), own);
}
const named: string = "of a plugin that is chosen at run time";
plan.run({ ...arrays, [named]: x });
// @ts-expect-error there is no such array
plan.run({ ...arrays, width: x });
// @ts-expect-error nor such an input
attn.plan({ queries: 8, dim: 8, inputs: ["width"] });
// @ts-expect-error of another class
plan.run({ ...arrays, widths: [true] });
// @ts-expect-error the library's are no stream's
attn.stream({ dim: 8, maxKeys: 8, inputs: ["mask"] });

const worker = await initWorker();
const far = await worker.plan({ backend: "mine", queries: 8, dim: 8, inputs: ["widths"] });
const there = await worker.tensor(x);
const answer = await far.run({ ...arrays, widths: there, counts: true });
const number: bigint | undefined = answer.counts?.[0];
await worker.attention({ ...arrays, dim: 8, widths: { data: there, shape: [8] } });
const tensor = attn.tensor(x);
// @ts-expect-error a tensor of another entry has its elements elsewhere
await worker.attention(tensor, x, x, { dim: 8 });
// @ts-expect-error the same as an input
await far.run({ ...arrays, widths: tensor });
export { called, first, number, out, state };
