/** Heads of trained models as they answer a question: a layer is a batch. */

import { loadModel } from "libattn/models";
import type { Input } from "../types";

// Each URL is literal: so bundlers see it, and carry the file along.
const models: Record<string, URL> = {
    "lis-softmax": new URL("../../../bench/labs/models/lis-softmax.model", import.meta.url),
    "lis-linear": new URL("../../../bench/labs/models/lis-linear.model", import.meta.url),
    "lis-sparse": new URL("../../../bench/labs/models/lis-sparse.model", import.meta.url),
    "arithmetic-softmax": new URL(
        "../../../bench/labs/models/arithmetic-softmax.model",
        import.meta.url,
    ),
};

export async function trainedInput(id: string, question: string): Promise<Input> {
    const url = models[id];
    if (!url) throw new Error(`there is no model ${id}`);
    const response = await fetch(url);
    if (!response.ok) throw new Error(`the model ${id} does not load: ${response.status}`);
    const model = await loadModel(await response.arrayBuffer());
    try {
        const { tokens, query, key, value, shape } = model.solve(question);
        const [batch = 0, heads = 0, rows = 0, dim = 0] = shape;
        return {
            ...{ query, key, value, nonfinite: 0, tokens: tokens.slice(0, rows) },
            shape: { batch, heads, kvHeads: heads, queries: rows, keys: rows, dim, valueDim: dim },
        };
    } finally {
        model.dispose();
    }
}
