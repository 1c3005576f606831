// Q, K and V of the example that the first page opens with, computed as the page is built: its first view needs no
// model.

import { loadModel } from "libattn-labs/models";
import { opening as asked } from "./src/presets/opening";

const name = "#opening";
const resolved = `\0${name}`;

export function opening() {
    return {
        name: "opening",
        resolveId: (id) => (id === name ? resolved : null),
        load: (id) => (id === resolved ? source() : null),
    };
}

async function source() {
    const model = await loadModel(asked.preset);
    const { query, key, value, shape, tokens } = model.solve(asked.question);
    model.dispose();
    const planes = planesOf([query, key, value]);
    const kept = { tokens: tokens.slice(0, shape[2]), shape: [...shape], planes };
    return `export const opening = ${JSON.stringify(kept)};`;
}

/** Of all numbers their first bytes, their second ones and so on: exponents are much alike, and pack well by themselves. */
function planesOf(arrays) {
    const bytes = arrays.flatMap((array) => [...new Uint8Array(Float32Array.from(array).buffer)]);
    return [0, 1, 2, 3].map((place) =>
        Buffer.from(bytes.filter((_, i) => i % 4 === place)).toString("base64"),
    );
}
