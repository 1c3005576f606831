/* Weights on a canvas: how much of a colour is laid over what is behind says how large they are. */

const broken = 1; // NaN and what is infinite: all of its colour

/**
 * Draws weights by rows of `keys`, a pixel each, with colours { above, below, broken }. The root spreads small ones,
 * which most are, over more of the scale.
 */
export function paint(canvas, weights, keys, colours) {
    const largest = weights.reduce((most, weight) => {
        const size = Math.abs(weight);
        return Number.isFinite(size) ? Math.max(most, size) : most;
    }, 0);
    const shade = (weight) => Math.sqrt(Math.abs(weight) / (largest || 1));
    const rows = weights.length / keys;
    Object.assign(canvas, { width: keys, height: rows });
    const context = canvas.getContext("2d");
    const layers = {
        above: (weight) => (Number.isFinite(weight) && weight > 0 ? shade(weight) : 0),
        below: (weight) => (Number.isFinite(weight) && weight < 0 ? shade(weight) : 0),
        broken: (weight) => (Number.isFinite(weight) ? 0 : broken),
    };
    for (const [name, opacity] of Object.entries(layers))
        context.drawImage(layer(weights, keys, rows, opacity, colours[name]), 0, 0);
}

/** A picture in one colour. */
function layer(weights, keys, rows, opacity, colour) {
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: keys, height: rows });
    const context = canvas.getContext("2d");
    const image = context.createImageData(keys, rows);
    weights.forEach((weight, i) => (image.data[4 * i + 3] = Math.round(255 * opacity(weight))));
    context.putImageData(image, 0, 0);
    context.globalCompositeOperation = "source-in";
    context.fillStyle = colour;
    context.fillRect(0, 0, keys, rows);
    return canvas;
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
