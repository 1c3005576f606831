/** What is written along the sides of a heatmap. */

export interface Tick {
    /** Place along the axis, counted in queries or keys: the middle of one is at half. */
    at: number;
    text: string;
}

const textSpacing = 12; // pixels between two tokens
const textSkipped = 6; // of so many tokens at least one is written, or none are
const indexSpacing = 34;

/** Tokens where there is room for them, indices otherwise. */
export function ticks(count: number, extent: number, tokens: string[] | null): Tick[] {
    const each = extent / count;
    const skip = Math.ceil(textSpacing / each);
    if (tokens && skip <= textSkipped) return every(skip, count, (index) => tokens[index] ?? "");
    return every(roundStep(indexSpacing / each), count, String);
}

function every(step: number, count: number, text: (index: number) => string): Tick[] {
    const total = Math.ceil(count / step);
    return Array.from({ length: total }, (_, i) => ({ at: i * step + 0.5, text: text(i * step) }));
}

/** The least of 1, 2, 5, 10, 20, 50, ... that is not below. */
function roundStep(least: number): number {
    const decade = 10 ** Math.floor(Math.log10(Math.max(1, least)));
    return [1, 2, 5, 10].map((n) => n * decade).find((step) => step >= least) ?? 10 * decade;
}

/** How a cell's queries or keys are called: the token, an index, or a range of indices. */
export function bareName(
    cell: number,
    perCell: number,
    count: number,
    tokens: string[] | null,
): string {
    const first = cell * perCell;
    if (perCell > 1) return `${first}–${Math.min(first + perCell, count) - 1}`;
    return tokens?.[first] ?? String(first);
}

/** The same for a sentence: tokens stand in quotes. */
export function quotedName(
    cell: number,
    perCell: number,
    count: number,
    tokens: string[] | null,
): string {
    const name = bareName(cell, perCell, count, tokens);
    return tokens && perCell === 1 ? `“${isolated(name)}”` : name;
}

/** Of scripts that run from right to left: what stands beside such a token keeps its place (UAX #9, isolates). */
function isolated(token: string): string {
    return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(token) ? `\u2068${token}\u2069` : token;
}
