/** The heads of the language model's layer that it needs most, as they read any text. */

import { loadWriter, type Writer } from "libattn-labs/models";
import { languageLayer } from "../presets/opening";
import type { Input } from "../state/types";

let writer: Promise<Writer> | null = null;

export async function writtenInput(text: string): Promise<Input> {
    writer ??= loadWriter("softmax").catch((error: unknown) => {
        writer = null; // the next text asks for its file again
        throw error;
    });
    return readBy(await writer, text);
}

function readBy(model: Writer, text: string): Input {
    const { count, tokens } = model.begin(text);
    const { query, key, value, shape } = model.heads();
    const [, heads = 0, rows = 0, dim = 0] = shape;
    const size = heads * rows * dim;
    const layer = (part: Float32Array) =>
        part.slice((languageLayer - 1) * size, languageLayer * size);
    return {
        ...{ query: layer(query), key: layer(key), value: layer(value) },
        ...{ nonfinite: 0, tokens, unread: count - tokens.length },
        shape: { batch: 1, heads, kvHeads: heads, queries: rows, keys: rows, dim, valueDim: dim },
    };
}
