/** Trained models as they answer a question, and their heads: a layer is a batch. */

import { loadModel, type ModelAbout } from "libattn/models";
import type { Input } from "../types";

// Each URL is literal: so bundlers see it, and carry the file along.
const models: Record<string, URL> = {
    "lis-softmax": new URL("../../../bench/labs/models/lis-softmax.model", import.meta.url),
    "lis-linear": new URL("../../../bench/labs/models/lis-linear.model", import.meta.url),
    "lis-sparse": new URL("../../../bench/labs/models/lis-sparse.model", import.meta.url),
    "ed-softmax": new URL("../../../bench/labs/models/ed-softmax.model", import.meta.url),
    "ed_local-softmax": new URL(
        "../../../bench/labs/models/ed_local-softmax.model",
        import.meta.url,
    ),
    "arithmetic-softmax": new URL(
        "../../../bench/labs/models/arithmetic-softmax.model",
        import.meta.url,
    ),
    "arithmetic-linear": new URL(
        "../../../bench/labs/models/arithmetic-linear.model",
        import.meta.url,
    ),
    "arithmetic-sparse": new URL(
        "../../../bench/labs/models/arithmetic-sparse.model",
        import.meta.url,
    ),
};

/** What a model says to a question, and what attention had to do for it. */
export interface Thought {
    about: ModelAbout;
    /** The question's, and then what the model says. */
    tokens: string[];
    /** How many of them are the question's. */
    question: number;
    /** The same as they ought to be. */
    expected: string[];
    /** Bytes that its layers keep after each token but the last. */
    state: number[];
    right: boolean;
    /** Of all tokens but the last. */
    input: Input;
}

export async function think(id: string, question: string): Promise<Thought> {
    const url = models[id];
    if (!url) throw new Error(`there is no model ${id}`);
    const response = await fetch(url);
    if (!response.ok) throw new Error(`the model ${id} does not load: ${response.status}`);
    const model = await loadModel(await response.arrayBuffer());
    try {
        const { query, key, value, shape, ...said } = model.solve(question);
        const [batch = 0, heads = 0, rows = 0, dim = 0] = shape;
        const input = {
            ...{ query, key, value, nonfinite: 0, tokens: said.tokens.slice(0, rows) },
            shape: { batch, heads, kvHeads: heads, queries: rows, keys: rows, dim, valueDim: dim },
        };
        return { ...said, about: model.about, input };
    } finally {
        model.dispose();
    }
}
