/* A program that uses the types of libattn/inline: packed.test.mjs compiles it. */
import { init, AttnError, type Attn, type Plan } from "libattn/inline";

const attn: Attn = await init();
const plan: Plan = attn.plan({ backend: "sparse", queries: 8, dim: 8 });
const x = new Float32Array(64);
const out: Float32Array = plan.run({ query: x, key: x, value: x }).out;

await init({ source: new Uint8Array(8) });
// @ts-expect-error: there are no threads
await init({ threads: 2 });

export default [out, AttnError];
