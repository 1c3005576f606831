/** What is written along the sides of a heatmap. */

import type { Grid } from "../state/types";
import { words } from "../words/words";

/** The queries or keys of a picture, in cells of so many. */
export interface Axis {
    first: number;
    count: number;
    perCell: number;
}

export function queryAxis({ query, queries, rowsPerCell }: Grid): Axis {
    return { first: query, count: queries, perCell: rowsPerCell };
}

export function keyAxis({ key, keys, columnsPerCell }: Grid): Axis {
    return { first: key, count: keys, perCell: columnsPerCell };
}

export interface Tick {
    /** Place along the axis, counted in queries or keys: the middle of its first one is at half. */
    at: number;
    text: string;
}

const textSpacing = 15; // pixels between two tokens
const textSkipped = 6; // of so many tokens at least one is written, or none are
const indexSpacing = 42;
const mostLetters = 60; // of a token where it is named: a label has room for fewer, a sentence needs no more

/** Is there room for tokens? */
export function hasNames({ count }: Axis, extent: number, tokens: string[] | null): boolean {
    return tokens !== null && Math.ceil((textSpacing * count) / extent) <= textSkipped;
}

/** Tokens where there is room for them, indices otherwise. */
export function ticks(axis: Axis, extent: number, tokens: string[] | null): Tick[] {
    const { first, count } = axis;
    const each = extent / count;
    if (tokens && hasNames(axis, extent, tokens))
        return every(Math.ceil(textSpacing / each), 0, axis, (index) => tokens[index] ?? "");
    const step = roundStep(indexSpacing / each);
    return every(step, Math.ceil(first / step) * step - first, axis, String);
}

/** From so many after the first of the axis on. */
function every(step: number, from: number, { first, count }: Axis, text: (i: number) => string) {
    const total = Math.max(0, Math.ceil((count - from) / step));
    return Array.from({ length: total }, (_, i): Tick => {
        const place = from + i * step;
        return { at: place + 0.5, text: text(first + place) };
    });
}

/** The least of 1, 2, 5, 10, 20, 50, ... that is not below. */
function roundStep(least: number): number {
    const decade = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    return [1, 2, 5, 10].map((n) => n * decade).find((step) => step >= least) ?? 10 * decade;
}

/** How a cell's queries or keys are called: the token, an index, or a range of indices. */
export function bareName(cell: number, axis: Axis, tokens: string[] | null): string {
    const { perCell } = axis;
    const first = axis.first + cell * perCell;
    const end = axis.first + axis.count;
    if (perCell > 1) return `${first}–${Math.min(first + perCell, end) - 1}`;
    const token = tokens?.[first];
    return token === undefined ? String(first) : short(token);
}

/** The same for a sentence: tokens stand in quotes. */
export function quotedName(cell: number, axis: Axis, tokens: string[] | null): string {
    if (axis.perCell === 1) return nameOf(axis.first + cell, tokens);
    return bareName(cell, axis, tokens);
}

/** How a single query or key is called, for a sentence. */
export function nameOf(index: number, tokens: string[] | null): string {
    return tokens
        ? words.picture.quoted(isolated(short(tokens[index] ?? String(index))))
        : String(index);
}

/** A word may have a million letters, and each panel names it in more than one sentence. */
function short(token: string): string {
    if (token.length <= mostLetters) return token;
    return `${token.slice(0, mostLetters).replace(/[\ud800-\udbff]$/, "")}…`; // no half of a pair
}

/** Of scripts that run from right to left: what stands beside such a token keeps its place (UAX #9, isolates). */
function isolated(token: string): string {
    return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(token) ? `\u2068${token}\u2069` : token;
}
