/* Weights on a canvas, in the colours of ramp.js or of the page around. */
import { colorize, paletteOf, RAMPS, rootPlace } from "../view-words.js";

/** { palette, broken } of { above, below, broken, paper }, colours #rrggbb or null: the usual ones; `isDark`: of a dark page. */
export function coloursOf({ above, below, broken, paper }, isDark) {
    const usual = isDark ? RAMPS.dark : RAMPS.light;
    const ramp = (own, stops) =>
        own ? [paper ?? stops[0], own] : [paper ?? stops[0], ...stops.slice(1)];
    return {
        palette: paletteOf({ above: ramp(above, usual.above), below: ramp(below, usual.below) }),
        broken: broken ? [1, 3, 5].map((at) => parseInt(broken.slice(at, at + 2), 16)) : undefined,
    };
}

/** Draws weights by rows of `keys`, a pixel each. */
export function paint(canvas, weights, keys, { palette, broken }) {
    const largest = weights.reduce((most, weight) => {
        const size = Math.abs(weight);
        return Number.isFinite(size) ? Math.max(most, size) : most;
    }, 0);
    const max = Math.min(1, largest) || 1; // those of `lin` can be huge: beyond 1 is not told apart
    const rows = weights.length / keys;
    Object.assign(canvas, { width: keys, height: rows });
    const context = canvas.getContext("2d");
    const image = context.createImageData(keys, rows);
    colorize(weights, (weight) => rootPlace(weight, max), palette, image.data, broken);
    context.putImageData(image, 0, 0);
}

/** Marks a cell. */
export function mark(canvas, { query, key }, rows, keys, colour) {
    const context = canvas.getContext("2d");
    Object.assign(canvas, { width: canvas.clientWidth, height: canvas.clientHeight });
    const [width, height] = [canvas.width / keys, canvas.height / rows];
    context.strokeStyle = colour;
    context.strokeRect(0.5, query * height + 0.5, canvas.width - 1, Math.max(1, height - 1));
    context.lineWidth = 2;
    context.strokeRect(key * width, query * height, Math.max(2, width), Math.max(2, height));
}
