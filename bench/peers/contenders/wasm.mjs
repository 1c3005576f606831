// libattn's npm package in Node: `build=simd`, relaxed or threads; `entry=softmax` of `libattn/softmax`.

import { initOptions, planOf } from "./libattn_plan.mjs";
import { serve } from "./worker.mjs";

const entries = { all: "node.js", softmax: "softmax-node.js" };

await serve(async (task) => {
    const { init } = await import(`../../wasm/dist/${entries[task.entry ?? "all"]}`);
    const { about, ...contender } = planOf(await init(initOptions(task)), task);
    return { about: `${about}, in Node ${process.versions.node}`, ...contender };
});
