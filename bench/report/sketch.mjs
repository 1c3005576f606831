// What attn_sketch_rows and beside.py print, as tables of a run.

/** "12.3 ms" as a number. */
const msOf = (cell) => Number(/^([\d.e+-]+) ms/.exec(cell)?.[1] ?? NaN);
const numberOrNull = (value) => (Number.isFinite(value) ? value : null);

/** {title, columns, rows} of one Markdown table of theirs; `said`: the line above it. */
function tableOf(block, said) {
    const rows = block.slice(2).map((line) => line.split("|").slice(1, -1));
    const cells = rows.map((row) => row.map((cell) => cell.trim()));
    if (block[0].includes("asked"))
        return {
            topic: "sketch",
            title: "attn sketch and the backend, one core",
            columns: ["work", "ms", "asked, ms", "reached", "beside"],
            rows: cells.map(([work, time, asked, beside]) => [
                ...[work, msOf(time), numberOrNull(msOf(asked))],
                ...[asked.includes("reached") ? "yes" : asked && "missed", beside],
            ]),
            note: said,
        };
    return {
        topic: "sketch",
        title: "NumPy and SciPy, the same work",
        columns: ["work", "ms"],
        rows: cells.map(([work, time]) => [work, msOf(time)]),
        note: said,
    };
}

/** {tables} of their output: each table with the line of text before it. */
export function sketchTables(output) {
    const blocks = output.split(/\n\s*\n/).map((block) => block.trim().split("\n"));
    const tables = blocks.flatMap((block, i) => {
        if (!block[0].startsWith("|")) return [];
        const before = blocks[i - 1]?.join(" ") ?? "";
        return [tableOf(block, before.startsWith("|") ? "" : before)];
    });
    return { tables };
}
