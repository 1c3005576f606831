// libattn's package at its best, in Node and in a page: its arrays stay in the module's memory.

import { linearOf, settingsOf, sizesOf } from "../measure/task.mjs";

/** Backend, parameters and gates of a task's form; `libattn/softmax` has but one backend. */
function formOf(task) {
    if (task.entry === "softmax") return {};
    const linear = linearOf(task);
    if (task.sparse) return { backend: "sparse", params: settingsOf(task.sparse) };
    if (!linear) return { backend: "softmax" };
    if (task.form === "elu1") return { backend: "linear" };
    return {
        backend: "linear",
        params: { feature_map: "lin", normaliser: "off", rule: linear.rule },
        scale: 1 / Math.sqrt(task.dim),
        inputs: linear.gates,
    };
}

/** `task` as in worker.mjs. Gives {about, run, output}. `libattn/softmax` has no tensors: it copies what it is given. */
export function planOf(attn, task) {
    const { heads, kv_heads: kvHeads, queries, keys, dim, value_dim: valueDim, causal } = task;
    const sizes = { heads, kvHeads, queries, keys, dim, valueDim };
    const plan = attn.plan({ ...formOf(task), ...sizes, causal: causal === 1 });
    const size = heads * queries * valueDim;
    const io = { out: attn.tensor?.(size) ?? new Float32Array(size) };
    for (const name of Object.keys(sizesOf(task)))
        io[name] = attn.tensor?.(task[name]) ?? task[name];
    const pairs = task.sparse ? `, ${plan.cost.pairs} pairs` : "";
    const threads = attn.threads > 1 ? `, ${attn.threads} threads` : "";
    return {
        about: `libattn ${attn.version}, ${plan.kernel ?? "libattn/softmax"}${threads}${pairs}`,
        run: () => plan.run(io),
        output: () => io.out.data ?? io.out,
    };
}

/** The build that is asked for; "threads" takes the task's. */
export const initOptions = ({ build, threads }) =>
    build === "threads" ? { build, threads } : { build };
