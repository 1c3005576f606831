// libattn's addon in Node: `async=1` times runAsync(), with tensors, which it need not copy.

import { init } from "../../../wasm/js/native.js";
import { serve } from "./worker.mjs";

await serve(async ({ heads, kv_heads: kvHeads, queries, keys, causal, threads, ...rest }) => {
    const { dim, value_dim: valueDim } = rest;
    const attn = await init({ threads, fallback: false });
    const plan = attn.plan({ heads, kvHeads, queries, keys, dim, valueDim, causal: causal === 1 });
    const beside = rest.async === "1";
    const place = (array) => (beside ? attn.tensor(array) : array);
    const [query, key, value] = [rest.query, rest.key, rest.value].map(place);
    const io = { query, key, value, out: place(new Float32Array(heads * queries * valueDim)) };
    return {
        about: `libattn ${attn.version}, addon in Node ${process.versions.node}, ${plan.kernel}`,
        run: beside ? () => plan.runAsync(io) : () => plan.run(io),
        output: () => (beside ? io.out.data : io.out),
    };
});
