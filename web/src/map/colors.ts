/** How weights become colours, of which <attn-view> has the same ones. */

import { colorize as colorizeBy, paletteOf, RAMPS, rootPlace } from "libattn/view/words";

export interface Theme {
    ink: string;
    muted: string;
    paper: string;
    accent: string;
    /** RGBA bytes from -1 to 1, with 0 at the middle entry. */
    palette: Uint8ClampedArray;
}

/** The page's colours as the style sheet and the reader's preference have them now. */
export function readTheme(): Theme {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    return {
        ink: color("--ink"),
        muted: color("--muted"),
        paper: color("--paper"),
        accent: color("--accent"),
        palette: paletteOf(isDark ? RAMPS.dark : RAMPS.light),
    };
}

/** Calls whenever the reader's preference, and with it readTheme(), has become another one. */
export function onTheme(call: () => void): void {
    for (const feature of ["(prefers-color-scheme: dark)", "(forced-colors: active)"])
        matchMedia(feature).addEventListener("change", call);
}

/** How values become colours, as it is asked for: "auto" goes by what a cell is of. */
export const colourChoices = ["auto", "shared", "own", "log", "kept"] as const;
export type ColourChoice = (typeof colourChoices)[number];

/**
 * How values become colours: one scale for all panels, one for each, one for all by powers of ten, or one colour for
 * all that is not 0, which shows what a pattern keeps.
 */
export type ColourLaw = Exclude<ColourChoice, "auto">;

const decades = 6; // of a logarithmic scale: what is less than that looks like 0
const kept = 0.6; // of the colours: that of all that is not 0

/** Where a value stands between -1 and 1. */
export function shade(value: number, max: number, law: ColourLaw): number {
    if (law === "kept") return kept * Math.sign(value);
    if (max <= 0) return 0;
    if (law !== "log") return rootPlace(value, max);
    const part = Math.min(1, Math.abs(value) / max);
    return Math.sign(value) * Math.max(0, 1 + Math.log10(part) / decades);
}

/** The value that stands at a place between -1 and 1. */
export function valueAt(place: number, max: number, law: ColourLaw): number {
    const size = Math.abs(place);
    const part = law === "log" ? 10 ** (decades * (size - 1)) : size * size;
    return Math.sign(place) * part * max;
}

/** Write the colours of `values` as RGBA pixels. */
export function colorize(
    values: Float32Array,
    max: number,
    law: ColourLaw,
    palette: Uint8ClampedArray,
    pixels: Uint8ClampedArray,
): void {
    colorizeBy(values, (value) => shade(value, max, law), palette, pixels);
}
