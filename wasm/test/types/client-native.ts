/* A program that uses the types of libattn/native: packed.test.mjs compiles it. */
import {
    init,
    AttnError,
    type Attn,
    type NativeAttn,
    type Plugin,
    type RunResult,
} from "libattn/native";
import { init as initWasm } from "libattn";

const native: NativeAttn = await init({ threads: 2, tier: "avx2", fallback: true });
const either: Attn = native.build === "native" ? native : await initWasm();
const reason: string = native.reason ?? "native";
const x = new Float32Array(64);
const out: Float32Array = await either.attentionAsync(x, x, x, { dim: 8, causal: true });
const both = await native.attentionAsync({ query: x, key: x, value: x, dim: 8, lse: true });
const plan = native.plan({ queries: 8, dim: 8 });
await plan.runAsync({ query: x, key: x, value: x, signal: AbortSignal.timeout(5) });
const result: RunResult = await plan.runAsync({ query: x, key: x, value: x, lse: true });

const sparse = native.plan({
    ...{ backend: "sketch", queries: 2, dim: 9, params: { elements: 3 } },
    inputs: ["xIndptr", "xIndices", "xData"],
});
const csr = { xIndptr: [0, 2, 3], xIndices: Int32Array.of(0, 8, 4), xData: new Float32Array(3) };
const attended: Float32Array = sparse.run({ ...csr, value: new Float32Array(18) }).out;
const weights: Float32Array = sparse.weights(csr);
// @ts-expect-error: nothing stands for values
sparse.run(csr);

const plugin: Plugin = await native.loadPlugin("./template.so", { name: "mine" });
const [backend]: readonly string[] = plugin.backends;
plugin.unload();
await native.loadPlugin(new URL("file:///template.so"));
// @ts-expect-error: a path is a text
await native.loadPlugin(5);

// @ts-expect-error: there is no such option
await init({ thread: 2 });
// @ts-expect-error: not a signal
await plan.runAsync({ query: x, key: x, value: x, signal: 1 });

export default [
    backend,
    either,
    reason,
    out,
    result,
    native.threads,
    both.lse,
    attended,
    weights,
    AttnError,
];
