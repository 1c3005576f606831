/** What the bytes of a stream are of: tokens as they came, and a state that they were added to. */

import type { Stream } from "libattn/worker";

const mostTried = 64; // tokens, until some are added to a state

export interface Sizes {
    /** Bytes of a stream without tokens. */
    empty: number;
    /** Bytes more with one. */
    token: number;
    /** Bytes of the state at least, once tokens were added to it; 0: there is none. */
    state: number;
    /** Of tokens that come one by one, how many wait until all are added to the state; with none Infinity. */
    most: number;
}

type Saved = Pick<
    Stream<"f32", "f32", Float32Array<ArrayBuffer> | null>,
    "append" | "query" | "save" | "truncate"
>;

/** Of a stream without tokens, which it is left as, and which takes so many. */
export async function sizesOf(
    stream: Saved,
    dim: number,
    valueDim: number,
    keys: number,
    state: number,
): Promise<Sizes> {
    const empty = (await stream.save()).length;
    let sizes = { empty, token: 0, state, most: Infinity };
    const tried = state > 0 ? Math.min(keys, mostTried) : 1;
    for (let tokens = 1; tokens <= tried; tokens++) {
        await stream.append(new Float32Array(dim), new Float32Array(valueDim));
        await stream.query(new Float32Array(dim));
        const bytes = (await stream.save()).length;
        if (tokens === 1) sizes = { ...sizes, token: bytes - empty };
        const parts = partsOf(bytes, tokens, sizes);
        if (tokens === 1 || parts.state === 0) continue;
        sizes = { ...sizes, state: parts.state, most: tokens - parts.held };
        break;
    }
    await stream.truncate(0);
    return sizes;
}

/** After so many tokens that came one by one. */
export function countedParts(
    tokens: number,
    { empty, token, state, most }: Sizes,
): { bytes: number; state: number; held: number } {
    const added = tokens > most;
    const held = added ? ((tokens - 1) % most) + 1 : tokens;
    const own = added ? state : 0;
    return { bytes: empty + own + held * token, state: own, held };
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
