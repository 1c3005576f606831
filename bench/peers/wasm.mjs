// libattn's npm package in Node.

import { init } from "../../wasm/js/node.js";
import { serve } from "./worker.mjs";

await serve(async ({ heads, kv_heads: kvHeads, queries, keys, dim, causal, ...arrays }) => {
    const attn = await init();
    const plan = attn.plan({ heads, kvHeads, queries, keys, dim, causal: causal === 1 });
    const { query, key, value } = arrays;
    const io = { query, key, value, out: new Float32Array(heads * queries * dim) };
    return {
        about: `libattn ${attn.version} in Node ${process.versions.node}, ${plan.kernel}`,
        run: () => plan.run(io),
        output: () => io.out,
    };
});
