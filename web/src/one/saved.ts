/** What a view is that is saved as one file. */

import type { ColourLaw } from "../colors";
import type { Candidate } from "../cost/lengths";
import type { Input, Problem, Role, Shape, Values } from "../types";
import type { Viewport } from "../zoom/zoom";

export interface SavedView {
    shape: Shape;
    tokens: string[] | null;
    problem: Problem;
    batch: number;
    head: number;
    viewport: Viewport;
    colours: ColourLaw;
    difference: boolean;
    /** In the order of panels. */
    backends: { id: string; params: Values }[];
    /** Float32, as base64; the name of another one that is the same. */
    arrays: Record<Role, string>;
    /** Of the page that it is of. */
    address: string;
}

type Chosen = Omit<SavedView, "shape" | "tokens" | "backends" | "arrays" | "address">;

export function savedView(
    input: Input,
    candidates: readonly Candidate[],
    chosen: Chosen,
): SavedView {
    const { shape, tokens } = input;
    const backends = candidates.map(({ backend, params }) => ({ id: backend, params }));
    const [arrays, address] = [packArrays(input), location.href];
    return { shape, tokens, backends, arrays, address, ...chosen };
}

function packArrays({ query, key, value }: Input): Record<Role, string> {
    const q = base64(query);
    const k = key === query ? "query" : base64(key);
    return { query: q, key: k, value: value === query ? "query" : base64(value) };
}

export function unpackArrays(arrays: Record<Role, string>): Record<Role, Float32Array> {
    const query = floats(arrays.query);
    const [key, value] = [arrays.key, arrays.value].map((text) => {
        return text === "query" ? query : floats(text);
    });
    return { query, key: key ?? query, value: value ?? query };
}

const step = 1 << 14; // bytes at a time: a call has only so many arguments

function base64({ buffer, byteOffset, byteLength }: Float32Array): string {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    let letters = "";
    for (let i = 0; i < bytes.length; i += step)
        letters += String.fromCharCode(...bytes.subarray(i, i + step));
    return btoa(letters);
}

function floats(text: string): Float32Array {
    const letters = atob(text);
    return new Float32Array(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)).buffer);
}
