// What a task is made of: which form of attention, and how long each of its arrays is. task.c knows the same.

/** Linear attention by the name of its form: its rule, and the gates that this reads. */
const forms = {
    elu1: { rule: "linear", gates: [] },
    linear: { rule: "linear", gates: [] },
    gated: { rule: "gated", gates: ["decay"] },
    delta: { rule: "delta", gates: ["beta"] },
    gated_delta: { rule: "gated_delta", gates: ["decay", "beta"] },
};

/** {rule, gates} of a task's form; undefined for softmax. */
export const linearOf = ({ form }) => forms[form];

/** The parameters of `sparse`, "NAME=VALUE,...", by their names. */
export const settingsOf = (text) =>
    Object.fromEntries(text.split(",").map((setting) => setting.split("=")));

/** Columns of values and the output, where a task does not say so as many as queries have. */
export const valueDimOf = ({ dim, value_dim: valueDim = dim }) => valueDim;

/** Floats of each array that the task has, in the order (head, row, column). */
export function sizesOf(task) {
    const { heads, kv_heads: shared, queries, keys, dim } = task;
    const tokens = shared * keys;
    const all = {
        query: heads * queries * dim,
        key: tokens * dim,
        value: tokens * valueDimOf(task),
        decay: tokens * dim,
        beta: tokens,
    };
    const names = ["query", "key", "value", ...(linearOf(task)?.gates ?? [])];
    return Object.fromEntries(names.map((name) => [name, all[name]]));
}
