// Attention on tfjs, in Node and in a page: two products and a softmax for each head. 2-D products
// are its fast path; one batched product for all heads is several times slower.

/** softmax(scale Q K^T + mask) V; `task` as in worker.mjs. Gives {run, output}. */
export function attentionOf(tf, task) {
    const { heads, kv_heads: shared, queries, keys, dim, value_dim: valueDim } = task;
    const rows = (array, head, count, columns) => {
        const size = count * columns;
        return tf.tensor2d(array.subarray(head * size, (head + 1) * size), [count, columns]);
    };
    const scale = tf.scalar(1 / Math.sqrt(dim));
    const mask = task.causal ? causalMask(tf, queries, keys) : null;
    const inputs = Array.from({ length: heads }, (_, h) => {
        const kv = Math.floor((h * shared) / heads);
        const query = tf.tidy(() => tf.mul(rows(task.query, h, queries, dim), scale));
        return [query, rows(task.key, kv, keys, dim), rows(task.value, kv, keys, valueDim)];
    });
    const one = ([query, key, value]) => {
        const logits = tf.matMul(query, key, false, true);
        return tf.matMul(tf.softmax(mask ? tf.add(logits, mask) : logits), value);
    };
    let results = [];
    return {
        run() {
            results.forEach((result) => result.dispose());
            results = inputs.map((input) => tf.tidy(() => one(input)));
            results.forEach((result) => result.dataSync());
        },
        output() {
            const size = queries * valueDim;
            const out = new Float32Array(heads * size);
            results.forEach((result, h) => out.set(result.dataSync(), h * size));
            return out;
        },
    };
}

/** 0 where key j <= i + keys - queries, else far below every logit. */
function causalMask(tf, queries, keys) {
    const mask = new Float32Array(queries * keys);
    for (let i = 0; i < queries; i++)
        mask.fill(-1e30, i * keys + Math.min(keys, i + 1 + keys - queries), (i + 1) * keys);
    return tf.tensor2d(mask, [queries, keys]);
}
