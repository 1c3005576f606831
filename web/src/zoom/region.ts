/** Which part of a matrix of weights is looked at. */

import type { Shape } from "../state/types";

/** Queries and keys: the first of each, and how many. */
export interface Region {
    query: number;
    queries: number;
    key: number;
    keys: number;
}

export type Extent = Pick<Shape, "queries" | "keys">;

/** A place in the matrix, between its weights, too. */
export interface Place {
    query: number;
    key: number;
}

const least = 4; // queries and keys that are seen, where there are so many

export function wholeOf({ queries, keys }: Extent): Region {
    return { query: 0, queries, key: 0, keys };
}

export function isSame(one: Region, other: Region): boolean {
    const isSameQueries = one.query === other.query && one.queries === other.queries;
    return isSameQueries && one.key === other.key && one.keys === other.keys;
}

export function contains(outer: Region, inner: Region): boolean {
    const holds = (first: number, count: number, from: number, size: number) =>
        first <= from && first + count >= from + size;
    return (
        holds(outer.query, outer.queries, inner.query, inner.queries) &&
        holds(outer.key, outer.keys, inner.key, inner.keys)
    );
}

export function middleOf({ query, queries, key, keys }: Region): Place {
    return { query: query + queries / 2, key: key + keys / 2 };
}

/** Whole queries and keys. */
export function rounded({ query, queries, key, keys }: Region): Region {
    const [first, last] = [Math.round(query), Math.round(query + queries)];
    const [left, right] = [Math.round(key), Math.round(key + keys)];
    return { query: first, queries: last - first, key: left, keys: right - left };
}

/** `factor` times as much of it; the place stays where it is. */
export function zoomed(region: Region, of: Extent, factor: number, at: Place): Region {
    const [query, queries] = scaled(region.query, region.queries, of.queries, factor, at.query);
    const [key, keys] = scaled(region.key, region.keys, of.keys, factor, at.key);
    return { query, queries, key, keys };
}

export function moved(region: Region, of: Extent, by: Place): Region {
    const query = within(region.query + by.query, of.queries - region.queries);
    const key = within(region.key + by.key, of.keys - region.keys);
    return { ...region, query, key };
}

function scaled(first: number, count: number, all: number, factor: number, at: number) {
    const size = Math.min(all, Math.max(least, count * factor));
    return [within(at - ((at - first) * size) / count, all - size), size] as const;
}

function within(value: number, most: number): number {
    return Math.min(most, Math.max(0, value));
}

/** As links have it, "100-163.0-63": first and last query, first and last key. */
export function regionText({ query, queries, key, keys }: Region): string {
    return `${query}-${query + queries - 1}.${key}-${key + keys - 1}`;
}

/** null: it is no region. */
export function parseRegion(text: string): Region | null {
    const numbers = /^(\d{1,9})-(\d{1,9})\.(\d{1,9})-(\d{1,9})$/.exec(text)?.slice(1).map(Number);
    const [query = NaN, lastQuery = NaN, key = NaN, lastKey = NaN] = numbers ?? [];
    const region = { query, queries: lastQuery - query + 1, key, keys: lastKey - key + 1 };
    return region.queries >= 1 && region.keys >= 1 ? region : null;
}
