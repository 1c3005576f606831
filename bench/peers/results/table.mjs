// The results as CSV and as Markdown. Every row is kept, also those where libattn loses.

/** So many significant digits, never as a power of ten; "" for what is no number. */
export const digits = (value, count = 3) => {
    if (!Number.isFinite(value)) return "";
    const exponent = Math.floor(Math.log10(Math.abs(value) || 1));
    return value.toFixed(Math.max(0, count - 1 - exponent));
};

/** "85%", "8.7%" of a number in per cent; "" for what is no number. */
export const percent = (number) => (Number.isFinite(number) ? `${digits(number, 2)}%` : "");

/** One line a result, its names on top; what is not a number stays empty. */
export function csv(results) {
    const names = [...new Set(results.flatMap(Object.keys))];
    const cell = (value) => {
        const isNone =
            value === undefined || (typeof value === "number" && !Number.isFinite(value));
        const text = isNone ? "" : String(value);
        return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    const lines = results.map((result) => names.map((name) => cell(result[name])).join(","));
    return `${[names.join(","), ...lines].join("\n")}\n`;
}

/** Columns as wide as their longest cell, numbers to the right. */
function table(columns, rows) {
    const cells = [columns.map(({ title }) => title), ...rows];
    const widths = columns.map((_, i) => Math.max(3, ...cells.map((row) => row[i].length)));
    const line = (row) =>
        `| ${row.map((cell, i) => (columns[i].right ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join(" | ")} |`;
    const rule = widths.map((width, i) => "-".repeat(width - 1) + (columns[i].right ? ":" : "-"));
    return [line(cells[0]), line(rule), ...rows.map(line)].join("\n");
}

function familyTable({ unit }, results) {
    const columns = [
        { title: "work" },
        { title: "with" },
        { title: "ms", right: true },
        { title: "95% interval", right: true },
        { title: unit.unit, right: true },
        { title: "% of", right: true },
        { title: "peak", right: true },
        { title: "time / libattn's", right: true },
        { title: "error", right: true },
    ];
    const rows = results.map((one, i) => {
        const work = results[i - 1]?.row === one.row ? "" : one.work;
        if (one.failure) return [work, one.contender, "none", ...columns.slice(3).map(() => "")];
        return [
            work,
            one.contender,
            digits(one.ms),
            `${digits(one.ms_low)} to ${digits(one.ms_high)}`,
            digits(one[unit.quantity]),
            digits(one.percent_of_peak, 2),
            digits(one.peak),
            digits(one.times_libattn),
            Number.isFinite(one.error) ? one.error.toExponential(1) : "",
        ];
    });
    return table(columns, rows);
}

/** What failed or was wrong, and so was not timed; whose peak did, and so has no share of it. */
function failureLines(results) {
    const without = results.filter(({ failure, peak }) => !failure && !Number.isFinite(peak));
    return [
        ...results
            .filter(({ failure }) => failure)
            .map(({ contender, work, failure }) => `- ${contender}, ${work}: ${failure}`),
        ...without.map(
            ({ contender, work, peak_of }) => `- ${contender}, ${work}: no peak: ${peak_of}`,
        ),
    ];
}

function peakLines({ peaks, threads }) {
    const lines = [
        ["float arithmetic, best instructions", peaks.flops, "GFLOP/s"],
        ["float arithmetic, AVX2", peaks.avx2, "GFLOP/s"],
        [`float arithmetic, ${threads} threads at once`, peaks.flops2, "GFLOP/s"],
        ["float arithmetic, WebAssembly SIMD128", peaks.wasm, "GFLOP/s"],
        [`float arithmetic, the same by ${threads} threads at once`, peaks.wasm2, "GFLOP/s"],
        ["float arithmetic, the same in Chromium", peaks.chromium, "GFLOP/s"],
        ["reading, of the most bytes of a row", peaks.read, "GB/s"],
        ["reading and writing, of the largest state", peaks.state, "GB/s"],
        [`reading, ${threads} threads at once`, peaks.read2, "GB/s"],
    ];
    return lines
        .filter(([, value]) => value !== undefined)
        .map(([name, value, unit]) => `- ${name}: ${digits(value)} ${unit}`);
}

/** Who ran, in the contenders' own words, and what of peaks. */
function versionLines(results) {
    const said = new Map(results.filter(({ about }) => about).map((r) => [r.contender, r.about]));
    const peaks = results.filter(({ peak }) => Number.isFinite(peak));
    return [
        ...[...said].map(([name, about]) => `- ${name}: ${about}`),
        ...[...new Set(peaks.map(({ peak_of }) => peak_of))].map((text) => `- a peak: ${text}`),
    ];
}

/** A document: where it was measured, the peaks, a table for each family, who ran. */
export function markdown(about, families, results) {
    const sections = families.map((family) => {
        const own = results.filter((result) => result.family === family.id);
        const failures = failureLines(own);
        return [
            ...[`## ${family.title}`, "", familyTable(family, own), ""],
            ...(failures.length > 0 ? [...failures, ""] : []),
            ...(family.note ? [family.note, ""] : []),
            `![](${family.id}.svg)`,
        ];
    });
    return `${[
        "# libattn beside its peers",
        "",
        `${about.cpu}, ${about.system}, ${about.date}, commit ${about.commit}.`,
        "Medians of float32 attention, batch 1, 8 heads; the error is relative to exact attention in",
        "double precision (Frobenius norm). All of a row computed by turns, on the same arrays.",
        "",
        "A row's peak is the median of what does nothing else, by turns with the row. The most of all rows:",
        "",
        ...peakLines({ peaks: about.peaks, threads: 2 }),
        "",
        "And before it, by `attn bench --calibrate`:",
        "",
        about.calibration,
        ...sections.map((lines) => [...lines, ""]).flat(),
        "## Who ran",
        "",
        ...versionLines(results),
    ].join("\n")}\n`;
}
