// Writes js/problem/table.js: the arrays of a run, from their declarations in core/include/attn/arrays.h.
//
// usage: node table.mjs

import { readFileSync, writeFileSync } from "node:fs";

const header = new URL("../core/include/attn/arrays.h", import.meta.url);

const HEAD = `/*
 * The arrays of a run: name, role, presence, element type, and its axes, of which those with "?" may be 1,
 * the same for all. Made of core/include/attn/arrays.h by ../../table.mjs; read by declared.js.
 */
`;

/* X(NAME, member, role, presence, dtype, four axes, broadcast, flags, elements, bit, FEATURE, help) */
const ROW =
    /X\(\w+, (\w+), (\w+), (\w+), (\w+), (\w+), (\w+), (\w+), (\w+), (\d+), \w+, \w+, (\w+),/g;

/** One row of the table as text: of the columns of C, in the words of attn_describe(). */
function rowOf([, member, role, presence, dtype, ...rest]) {
    const axes = rest
        .slice(0, 4)
        .map((axis, k) => camel(axis.toLowerCase()) + ((rest[4] >> k) & 1 ? "?" : ""));
    const type = dtype.replace(/^ATTN_(DTYPE_OF_)?/, "");
    return [camel(member), role, presence, type, ...axes]
        .map((word, i) => (i > 0 && i < 4 ? word.toLowerCase() : word))
        .join(" ");
}

function camel(name) {
    return name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
}

/** The rows of one macro, whose lines but the last end with a backslash. */
function rowsOf(text, macro) {
    const lines = text.slice(text.indexOf(`#define ${macro}(X) `)).split("\n");
    const last = lines.findIndex((line) => !line.endsWith("\\"));
    const body = lines
        .slice(1, last + 1)
        .map((line) => line.replace(/\\$/, ""))
        .join(" ")
        .replace(/\s+/g, " ");
    const rows = [...body.matchAll(ROW)];
    if (rows.length === 0 || rows.length !== body.split("X(").length - 1)
        throw new Error(`${header.pathname}: a row of ${macro} is not of the form ${ROW.source}`);
    return rows.map(rowOf);
}

/** The text of js/problem/table.js. */
export function table() {
    const text = readFileSync(header, "utf8");
    const list = (macro, indent) =>
        rowsOf(text, macro)
            .map((row) => `${indent}"${row}",\n`)
            .join("");
    return `${HEAD}
/** Those of softmax alone. */
export const ROWS_OF_F32 = [\n${list("ATTN_ARRAYS_OF_F32", "    ")}];

/** In the order of their numbers. */
export const ROWS = [\n    ...ROWS_OF_F32,\n${list("ATTN_ARRAYS_MORE", "    ")}];\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname)
    writeFileSync(new URL("js/problem/table.js", import.meta.url), table());
