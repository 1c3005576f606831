/** The heads of the language model's layer that it needs most, as they read the page's first sentence. */

import { dim, heads, key, query, tokens, value } from "../presets/text.json";
import type { Input } from "../state/types";

const unit = 32767; // the whole number that stands for the largest of an array

export function languageInput(): Input {
    const rows = tokens.length;
    const shape = {
        ...{ batch: 1, heads, kvHeads: heads, queries: rows, keys: rows },
        ...{ dim, valueDim: dim },
    };
    const arrays = { query: floats(query), key: floats(key), value: floats(value) };
    return { ...arrays, nonfinite: 0, tokens, shape };
}

function floats({ most, numbers }: { most: number; numbers: string }): Float32Array {
    const { buffer } = Uint8Array.from(atob(numbers), (letter) => letter.charCodeAt(0));
    return Float32Array.from(new Int16Array(buffer), (whole) => (whole / unit) * most);
}
