// libattn's addon in Node: `async=1` times runAsync().

import { init } from "../../wasm/js/native.js";
import { serve } from "./worker.mjs";

await serve(async ({ heads, kv_heads: kvHeads, queries, keys, dim, causal, threads, ...rest }) => {
    const attn = await init({ threads, fallback: false });
    const plan = attn.plan({ heads, kvHeads, queries, keys, dim, causal: causal === 1 });
    const { query, key, value } = rest;
    const io = { query, key, value, out: new Float32Array(heads * queries * dim) };
    const beside = rest.async === "1";
    return {
        about: `libattn ${attn.version}, addon in Node ${process.versions.node}, ${plan.kernel}`,
        run: beside ? () => plan.runAsync(io) : () => plan.run(io),
        output: () => io.out,
    };
});
