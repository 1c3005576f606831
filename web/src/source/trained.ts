/** Trained models as they answer a question, and their heads: a layer is a batch. */

import { loadModel, models, type ModelAbout } from "libattn-labs/models";
import type { Input } from "../state/types";

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
    /** What all questions that it learned are and this is not; or "". */
    unlike: string;
    /** Of all tokens but the last. */
    input: Input;
}

export async function think(id: string, question: string): Promise<Thought> {
    const name = models.find((each) => each === id);
    if (name === undefined) throw new Error(`there is no model ${id}`);
    const model = await loadModel(name);
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
