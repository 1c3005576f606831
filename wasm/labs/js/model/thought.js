/* What a model says to a question, and its heads as it does: of libattn-labs/models and libattn-labs/training. */
import { checkText } from "../../../js/problem/check.js";
import { encode } from "../../../js/engine/text.js";

/** `handle`: C's model, of these sizes. */
export function solve(session, handle, { layers, heads, dim }, question) {
    const text = encode(`${checkText(question, "question")}\0`);
    return session.borrow((loan) => {
        const at = loan.input(text, "the question");
        const said = session.describe("attnmodel_solve", handle, at);
        const about = { layers, heads, dim };
        return { ...said, ...readHeads(session, handle, about, said.tokens.length - 1, loan) };
    });
}

/** Queries, keys and values of `tokens`: all but the last of what it said, or those that it knows of a text. */
export function readHeads(session, handle, { layers, heads, dim }, tokens, loan) {
    const shape = [layers, heads, tokens, dim];
    const size = shape.reduce((product, extent) => product * extent, 1);
    const parts = loan.output(Float32Array, 3 * size, "the heads");
    session.run("attnmodel_heads", handle, parts.at, 3 * size);
    const all = parts.take();
    const [query, key, value] = [0, 1, 2].map((i) => all.slice(i * size, (i + 1) * size));
    return { query, key, value, shape };
}
