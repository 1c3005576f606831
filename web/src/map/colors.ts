/** One signed colour scale for the whole page: paper is 0, blue is above, red is below. */

export interface Theme {
    ink: string;
    muted: string;
    paper: string;
    accent: string;
    /** RGBA bytes from -1 to 1, with 0 at the middle entry. */
    palette: Uint8ClampedArray;
}

type Color = [number, number, number];

const half = 255;
const notFinite: Color = [214, 40, 200];

const light = {
    above: ["#fbfaf7", "#d9e6ea", "#98c3d3", "#4a8fb5", "#235c8d", "#16345f", "#0b1730"],
    below: ["#fbfaf7", "#f5ddd0", "#e8aa8b", "#cf6b4c", "#9d3428", "#5e1519"],
};
const dark = {
    above: ["#15181d", "#16314a", "#1b5580", "#2d85b6", "#68b6d9", "#b3dff0", "#f3fcff"],
    below: ["#15181d", "#47231c", "#883a28", "#c8643f", "#efa072", "#ffdfc6"],
};

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
        palette: makePalette(isDark ? dark : light),
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

/**
 * Where a value stands between -1 and 1. The root spreads small weights, which most weights are,
 * over more of the colours.
 */
export function shade(value: number, max: number, law: ColourLaw): number {
    if (law === "kept") return kept * Math.sign(value);
    if (max <= 0) return 0;
    const part = Math.min(1, Math.abs(value) / max);
    const size = law === "log" ? Math.max(0, 1 + Math.log10(part) / decades) : Math.sqrt(part);
    return Math.sign(value) * size;
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
    const colours = inPixels(palette);
    const none = inPixels(new Uint8ClampedArray([...notFinite, 255]))[0] ?? 0;
    const drawn = inPixels(pixels);
    for (let i = 0; i < values.length; i++) {
        const value = values[i] ?? NaN;
        const entry = half + Math.round(half * shade(value, max, law));
        drawn[i] = Number.isFinite(value) ? (colours[entry] ?? 0) : none;
    }
}

/** Four bytes are one number: a picture of 512 x 512 cells is a quarter of a million of them. */
function inPixels({ buffer, byteOffset, byteLength }: Uint8ClampedArray): Uint32Array {
    return new Uint32Array(buffer, byteOffset, byteLength / 4);
}

function makePalette(ramps: { above: string[]; below: string[] }): Uint8ClampedArray {
    const palette = new Uint8ClampedArray(4 * (2 * half + 1));
    const [above, below] = [ramps.above, ramps.below].map(stopsOf) as [Color[], Color[]];
    for (let step = -half; step <= half; step++) {
        const color = along(step < 0 ? below : above, Math.abs(step) / half);
        palette.set([...color, 255], 4 * (half + step));
    }
    return palette;
}

/** In Oklab, in which steps look even. */
const stopsOf = (colours: string[]): Color[] => colours.map((colour) => toOklab(parse(colour)));

/** The colour at `t` in [0, 1] along the stops. */
function along(stops: Color[], t: number): Color {
    const place = t * (stops.length - 1);
    const index = Math.min(stops.length - 2, Math.floor(place));
    const [from, to] = stops.slice(index, index + 2) as [Color, Color];
    const mix = (axis: 0 | 1 | 2) => from[axis] + (to[axis] - from[axis]) * (place - index);
    return toRgb([mix(0), mix(1), mix(2)]);
}

function parse(hex: string): Color {
    const at = (start: number) => parseInt(hex.slice(start, start + 2), 16);
    return [at(1), at(3), at(5)];
}

// Oklab: B. Ottosson, "A perceptual color space for image processing", 2020.
function toOklab(color: Color): Color {
    const [r, g, b] = color.map(linear) as Color;
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
        0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
}

function toRgb([lightness, a, b]: Color): Color {
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
        gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
    ];
}

function linear(byte: number): number {
    const value = byte / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function gamma(value: number): number {
    const clipped = Math.min(1, Math.max(0, value));
    return 255 * (clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055);
}
