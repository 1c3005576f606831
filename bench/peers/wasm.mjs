// libattn's npm package in Node: `build=simd`, relaxed or threads.

import { init } from "../../wasm/js/node.js";
import { initOptions, planOf } from "./libattn_plan.mjs";
import { serve } from "./worker.mjs";

await serve(async (task) => {
    const { about, ...contender } = planOf(await init(null, initOptions(task)), task);
    return { about: `${about}, in Node ${process.versions.node}`, ...contender };
});
