/* The colours of weights: paper is 0, blue is above, red is below; the strongest are far from the paper. */

const HALF = 255; // steps from 0 to the strongest
const BROKEN = [214, 40, 200]; // NaN and what is infinite

/** By what the page is like. */
export const RAMPS = {
    light: {
        above: ["#fbfaf7", "#d9e6ea", "#98c3d3", "#4a8fb5", "#235c8d", "#16345f", "#0b1730"],
        below: ["#fbfaf7", "#f5ddd0", "#e8aa8b", "#cf6b4c", "#9d3428", "#5e1519"],
    },
    dark: {
        above: ["#15181d", "#16314a", "#1b5580", "#2d85b6", "#68b6d9", "#b3dff0", "#f3fcff"],
        below: ["#15181d", "#47231c", "#883a28", "#c8643f", "#efa072", "#ffdfc6"],
    },
};

/** RGBA bytes from -1 to 1, with 0 at the middle entry, of colours #rrggbb along both ways from the paper. */
export function paletteOf({ above, below }) {
    const palette = new Uint8ClampedArray(4 * (2 * HALF + 1));
    const [up, down] = [above, below].map((colours) => colours.map((hex) => toOklab(parse(hex))));
    for (let step = -HALF; step <= HALF; step++) {
        const colour = along(step < 0 ? down : up, Math.abs(step) / HALF);
        palette.set([...colour, 255], 4 * (HALF + step));
    }
    return palette;
}

/** Writes the colours of `values` as RGBA pixels; `place` says where a value stands between -1 and 1. */
export function colorize(values, place, palette, pixels, broken = BROKEN) {
    const colours = inPixels(palette);
    const [none] = inPixels(Uint8ClampedArray.of(...broken, 255));
    const drawn = inPixels(pixels);
    for (let i = 0; i < values.length; i++) {
        const value = values[i];
        drawn[i] = Number.isFinite(value) ? colours[HALF + Math.round(HALF * place(value))] : none;
    }
}

/** The root spreads small weights, which most are, over more of the colours. */
export function rootPlace(value, max) {
    return Math.sign(value) * Math.sqrt(Math.min(1, Math.abs(value) / max));
}

/** Four bytes are one number: a picture of 512 x 512 cells is a quarter of a million of them. */
function inPixels({ buffer, byteOffset, byteLength }) {
    return new Uint32Array(buffer, byteOffset, byteLength / 4);
}

/** The colour at `t` in [0, 1] along the stops, in Oklab, in which steps look even. */
function along(stops, t) {
    const place = t * (stops.length - 1);
    const index = Math.min(stops.length - 2, Math.floor(place));
    const [from, to] = stops.slice(index, index + 2);
    return toRgb(from.map((one, axis) => one + (to[axis] - one) * (place - index)));
}

function parse(hex) {
    return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}

// Oklab: B. Ottosson, "A perceptual color space for image processing", 2020.
function toOklab(colour) {
    const [r, g, b] = colour.map(linear);
    const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return [
        0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
    ];
}

function toRgb([lightness, a, b]) {
    const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
    const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
    const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
    return [
        gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
        gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
        gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
    ];
}

function linear(byte) {
    const value = byte / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function gamma(value) {
    const clipped = Math.min(1, Math.max(0, value));
    return 255 * (clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055);
}
