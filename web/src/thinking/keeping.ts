/** What has to be kept of tokens that are read one by one, by the streams of a backend. */

import type { Attn } from "libattn/worker";
import type { Candidate } from "../cost/lengths";
import type { Input } from "../state/types";

/** So far it is told what would be kept if the tokens came again and again: states and caches then differ. */
export const longest = 64;

/** Bytes of all layers and heads after each of `longest` tokens, or of all where they are more. */
export async function keeping(
    attn: Attn,
    input: Input,
    { backend, params }: Candidate,
): Promise<number[]> {
    const { batch, heads, keys, dim, valueDim } = input.shape;
    const count = Math.max(longest, keys);
    const sizes = { heads, dim, valueDim, maxKeys: count, causal: true };
    const stream = await attn.stream({ backend, params, ...sizes });
    try {
        const kept = [];
        for (let place = 0; place < count; place++) {
            // Layers are alike: the first one's stand for all.
            const token = place % keys;
            const key = tokenOf(input.key, token, heads, keys, dim);
            await stream.append(key, tokenOf(input.value, token, heads, keys, valueDim));
            kept.push(batch * (await stream.save()).length);
        }
        return kept;
    } finally {
        stream.dispose();
    }
}

/** Rows of all heads for a token. */
function tokenOf(array: Float32Array, token: number, heads: number, rows: number, width: number) {
    const all = new Float32Array(heads * width);
    for (let head = 0; head < heads; head++) {
        const from = (head * rows + token) * width;
        all.set(array.subarray(from, from + width), head * width);
    }
    return all;
}
