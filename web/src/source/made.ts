/** The inputs of presets that are made by hand, each of a few lines: same numbers wherever they are made. */

import { generator } from "../engine/sample";
import type { Input } from "../state/types";

/** Tokens with vectors for each: what its query, key and value are. */
interface Head {
    tokens: string[];
    dim: number;
    query(place: number): number[];
    key(place: number): number[];
    /** By default each token has numbers of its own. */
    value?(place: number): number[];
}

const sharp = 12; // logits between what a head looks at and the rest: e^-12 is 6e-6
const width = 32;

const makers: Record<string, () => Head> = {
    previous: () => ({
        tokens: letters(32),
        dim: width,
        query: (i) => times(gain(width), unit(Math.max(0, i - 1), width)),
        key: (j) => unit(j, width),
    }),

    induction() {
        const order = [3, 8, 0, 5, 13, 2, 11, 6, 15, 9, 1, 12, 4, 14, 7, 10];
        const codes = [...order, ...order];
        return {
            tokens: codes.map(letter),
            dim: width,
            query: (i) => times(gain(width), unit(codes[i], width)),
            key: (j) => unit(codes[j - 1], width),
        };
    },

    copy: () => copying(16, (place) => unit(place, width), gain(width)),

    /** More random directions than the state has room for. */
    saturated() {
        const dim = 16;
        const random = normals(2);
        const directions = Array.from({ length: 64 }, () => direction(dim, random));
        return copying(64, (place) => directions[place] ?? unit(undefined, dim), 5 * gain(dim));
    },

    sink() {
        const random = normals(3);
        const words = ["⟨start⟩", ...letters(47)];
        const queries = words.map(() => plus(times(8, unit(0, width)), noise(width, random)));
        const keys = words.map((_, j) =>
            j === 0 ? times(6, unit(0, width)) : times(0.5, noise(width, random)),
        );
        return { tokens: words, dim: width, query: at(queries), key: at(keys) };
    },

    needle() {
        const place = 42; // 2 modulo 8: none of the keys that all queries see
        const last = 127;
        const random = normals(4);
        const asked = unit(0, width);
        const tokens = Array.from({ length: last + 1 }, (_, i) => `hay ${i}`);
        tokens[place] = "needle";
        tokens[last] = "needle?";
        const hay = tokens.map(() => noise(width, random).with(0, 0));
        const keys = hay.map((key, j) => (j === place ? asked : key));
        const queries = hay.map((key, i) => (i === last ? times(gain(width), asked) : key));
        return { tokens, dim: width, query: at(queries), key: at(keys) };
    },

    identical() {
        const dim = 16;
        const random = normals(5);
        const key = noise(dim, random);
        const queries = Array.from({ length: 64 }, () => noise(dim, random));
        return { tokens: letters(64), dim, query: at(queries), key: () => key };
    },

    outliers() {
        const [dim, outlier] = [64, 7];
        const random = normals(6);
        const vectors = () =>
            Array.from({ length: 64 }, () => noise(dim, random).with(outlier, 30));
        const [queries, keys] = [vectors(), vectors()];
        return { tokens: letters(64), dim, query: at(queries), key: at(keys) };
    },

    repeated: () => ({
        tokens: ["answer", ...Array<string>(127).fill("again")],
        dim: width,
        query: () => times(Math.log(127) * Math.sqrt(width), unit(0, width)),
        key: (j) => unit(j === 0 ? 0 : 1, width),
        value: (j) => unit(j === 0 ? 0 : 1, width),
    }),

    normaliser() {
        const dim = 16;
        const random = normals(7);
        const queries = Array.from({ length: 64 }, () => noise(dim, random));
        const keys = Array.from({ length: 32 }, () => noise(dim, random));
        const key = (j: number) => times(j % 2 === 0 ? 1 : -1, keys[j >> 1] ?? []);
        return { tokens: letters(64), dim, query: at(queries), key };
    },
};

export function madeInput(id: string): Input {
    const head = makers[id]?.();
    if (!head) throw new Error(`there is no preset ${id}`);
    const { tokens, dim, query, key } = head;
    const random = normals(1);
    const value = head.value ?? at(tokens.map(() => noise(dim, random)));
    const rows = (of: (place: number) => number[]) =>
        Float32Array.from(tokens.flatMap((_, place) => of(place)));
    const sizes = { batch: 1, heads: 1, kvHeads: 1, dim, valueDim: dim };
    return {
        ...{ query: rows(query), key: rows(key), value: rows(value), tokens, nonfinite: 0 },
        shape: { ...sizes, queries: tokens.length, keys: tokens.length },
    };
}

/** So many tokens with these keys, and as many slots, each of which asks for one of them. */
function copying(count: number, code: (place: number) => number[], gain: number): Head {
    const dim = code(0).length;
    return {
        tokens: [...letters(count), ...Array.from({ length: count }, (_, i) => `→ ${letter(i)}`)],
        dim,
        query: (i) => times(gain, code(i % count)),
        key: (j) => (j < count ? code(j) : unit(undefined, dim)),
    };
}

/** What a query is multiplied by, so that its logit with a key of length 1 is `sharp`. */
function gain(dim: number): number {
    return sharp * Math.sqrt(dim);
}

function letters(count: number): string[] {
    return Array.from({ length: count }, (_, i) => letter(i));
}

/** a, b, ..., z, a1, b1, ... */
function letter(index: number): string {
    const round = Math.floor(index / 26);
    return String.fromCharCode(97 + (index % 26)) + (round > 0 ? String(round) : "");
}

/** 1 at a place, 0 elsewhere; nothing but zeros without one. */
function unit(place: number | undefined, dim: number): number[] {
    return Array.from({ length: dim }, (_, c) => Number(c === place));
}

function times(factor: number, vector: number[]): number[] {
    return vector.map((number) => factor * number);
}

function plus(one: number[], other: number[]): number[] {
    return one.map((number, c) => number + (other[c] ?? 0));
}

function noise(dim: number, random: () => number): number[] {
    return Array.from({ length: dim }, random);
}

function direction(dim: number, random: () => number): number[] {
    const vector = noise(dim, random);
    return times(1 / Math.hypot(...vector), vector);
}

function at(rows: number[][]): (place: number) => number[] {
    return (place) => rows[place] ?? [];
}

/** Sums of twelve uniform numbers less 6: their variance is 1. */
function normals(seed: number): () => number {
    const random = generator(seed);
    return () => Array.from({ length: 12 }, random).reduce((sum, part) => sum + part, -6);
}
