/** Weights as a table. */

import type { Grid } from "../state/types";
import type { Table } from "./menu";

/** A line for each: none is pooled. */
export function tableOfWeights(
    { query, key, columns, cells }: Pick<Grid, "query" | "key" | "columns" | "cells">,
    tokens: readonly string[],
): Pick<Table, "columns" | "rows"> {
    const rows = Array.from(cells, (weight, i) => {
        const [from, to] = [query + Math.floor(i / columns), key + (i % columns)];
        return [from, to, tokens[from] ?? "", tokens[to] ?? "", weight];
    });
    return { columns: ["query", "key", "query token", "key token", "weight"], rows };
}
