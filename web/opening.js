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
    const arrays = [query, key, value].map(base64);
    const kept = { tokens: tokens.slice(0, shape[2]), shape: [...shape], arrays };
    return `export const opening = ${JSON.stringify(kept)};`;
}

function base64({ buffer, byteOffset, byteLength }) {
    return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}
