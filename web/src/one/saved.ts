/** What a view is that is saved as one file. */

import type { ColourChoice } from "../map/colors";
import type { Candidate } from "../cost/lengths";
import type { Pin } from "../row/place";
import type { Input, Problem, Role, Shape, Values } from "../state/types";
import type { Viewport } from "../zoom/zoom";

export interface SavedView {
    shape: Shape;
    tokens: string[] | null;
    problem: Problem;
    /** Its mask, whose elements are base64; null: it has none. */
    mask: { name: string; shape: number[]; letters: string } | null;
    batch: number;
    head: number;
    viewport: Viewport;
    colours: ColourChoice;
    difference: boolean;
    pin: Pin | null;
    /** The backend whose lines, and whose heads, are shown; null: none's. */
    strands: string | null;
    heads: string | null;
    /** What is open beside these, by name. */
    unfolded: string[];
    /** How batches are called. */
    batchName: string;
    /** In the order of panels. */
    backends: { id: string; params: Values }[];
    /** Float32, as base64; the name of another one that is the same. */
    arrays: Record<Role, string>;
    /** Of the page that it is of. */
    address: string;
}

type Chosen = Omit<SavedView, "shape" | "tokens" | "mask" | "backends" | "arrays" | "address">;

export function savedView(
    input: Input,
    candidates: readonly Candidate[],
    chosen: Chosen,
): SavedView {
    const { shape, tokens } = input;
    const { mask, ...problem } = chosen.problem;
    const packed = mask && { name: mask.name, shape: mask.shape, letters: base64(mask.seen) };
    const backends = candidates.map(({ backend, params }) => ({ id: backend, params }));
    const [arrays, address] = [packArrays(input), location.href];
    const own = { shape, tokens, backends, arrays, address, mask: packed ?? null };
    return { ...own, ...chosen, problem };
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

/** With its mask. */
export function unpackProblem({ problem, mask }: SavedView): Problem {
    if (!mask) return problem;
    const { name, shape, letters } = mask;
    return { ...problem, mask: { key: "", name, shape, seen: bytesOf(letters) } };
}

const step = 1 << 14; // bytes at a time: a call has only so many arguments

function base64({ buffer, byteOffset, byteLength }: Float32Array | Uint8Array): string {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    let letters = "";
    for (let i = 0; i < bytes.length; i += step)
        letters += String.fromCharCode(...bytes.subarray(i, i + step));
    return btoa(letters);
}

function floats(text: string): Float32Array {
    return new Float32Array(bytesOf(text).buffer);
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
