/** What the bytes of a stream are of: tokens as they came, and a state that they were added to. */

import type { Stream } from "libattn/worker";

export interface Sizes {
    /** Bytes of a stream without tokens. */
    empty: number;
    /** Bytes more with one. */
    token: number;
    /** Bytes of the state at least, once tokens were added to it; 0: there is none. */
    state: number;
}

type Saved = Pick<
    Stream<"f32", "f32", Float32Array<ArrayBuffer> | null>,
    "append" | "save" | "truncate"
>;

/** Of a stream without tokens, which it is left as. */
export async function sizesOf(
    stream: Saved,
    dim: number,
    valueDim: number,
    state: number,
): Promise<Sizes> {
    const empty = (await stream.save()).length;
    await stream.append(new Float32Array(dim), new Float32Array(valueDim));
    const token = (await stream.save()).length - empty;
    await stream.truncate(0);
    return { empty, token, state };
}

/** Of the bytes after so many tokens. */
export function partsOf(
    bytes: number,
    tokens: number,
    { empty, token, state }: Sizes,
): { state: number; held: number } {
    const rest = bytes - empty;
    if (token === 0) return { state: rest, held: 0 };
    if (state === 0 || rest === tokens * token) return { state: 0, held: Math.round(rest / token) };
    const held = Math.floor((rest - state) / token);
    return { state: rest - held * token, held };
}
