// libattn's package at its best, in Node and in a page: its arrays stay in the module's memory.

/** `task` as in worker.mjs. Gives {about, run, output}. */
export function planOf(
    attn,
    { heads, kv_heads: kvHeads, queries, keys, dim, causal, form, ...arrays },
) {
    const backend = form === "elu1" ? "linear" : "softmax";
    const plan = attn.plan({ backend, heads, kvHeads, queries, keys, dim, causal: causal === 1 });
    const [query, key, value] = ["query", "key", "value"].map((name) => attn.tensor(arrays[name]));
    const io = { query, key, value, out: attn.tensor(heads * queries * dim) };
    const threads = attn.threads > 1 ? `, ${attn.threads} threads` : "";
    return {
        about: `libattn ${attn.version}, ${plan.kernel}${threads}`,
        run: () => plan.run(io),
        output: () => io.out.data,
    };
}

/** The build that is asked for; "threads" takes the task's. */
export const initOptions = ({ build, threads }) =>
    build === "threads" ? { build, threads } : { build };
