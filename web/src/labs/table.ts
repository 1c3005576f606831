/** The numbers behind a figure: as a table, and as a file. */

import type { LabPanel } from "libattn/labs";
import { element } from "../dom";
import { short } from "../format";
import type { Row } from "./figure";

/** What the command line writes too: no counts and flags that stand aside. */
export function csv({ columns }: LabPanel, rows: readonly Row[]): string {
    const kept = columns.flatMap((column, i) => (column.aside ? [] : [i]));
    const lines = [
        kept.map((i) => columns[i]?.name ?? ""),
        ...rows.map((row) => kept.map((i) => text(row[i]))),
    ];
    return lines.map((line) => `${line.join(",")}\n`).join("");
}

function text(value: number | undefined): string {
    return value === undefined || Number.isNaN(value)
        ? "nan"
        : String(value).replace("Infinity", "inf");
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
