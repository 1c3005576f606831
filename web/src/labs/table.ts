/** The numbers behind a figure: as a table, and as a file. */

import type { LabPanel } from "libattn-labs";
import { element } from "../dom/dom";
import { short } from "../dom/format";
import type { Table } from "../take/menu";
import type { Row } from "./figure";

/** What the command line's .csv has, too: no counts and flags that stand aside. */
export function saved(
    { columns }: LabPanel,
    rows: readonly Row[],
): Pick<Table, "columns" | "rows"> {
    const kept = columns.flatMap((column, i) => (column.aside ? [] : [i]));
    return {
        columns: kept.map((i) => columns[i]?.name ?? ""),
        rows: rows.map((row) => kept.map((i) => row[i] ?? NaN)),
    };
}

export function table({ columns }: LabPanel, rows: readonly Row[]): HTMLTableElement {
    const heads = columns.map(({ name, label }) =>
        element("th", { scope: "col", title: label }, name),
    );
    const lines = rows.map((row) =>
        element("tr", {}, ...row.map((value) => element("td", {}, short(value, 6)))),
    );
    return element(
        "table",
        {},
        element("thead", {}, element("tr", {}, ...heads)),
        element("tbody", {}, ...lines),
    );
}
