// In the page: opens a contender and leaves it as globalThis.contender.

import { timeCalls } from "../timing.mjs";

const floatsOf = async (name) => new Float32Array(await bytesOf(name));

export async function bytesOf(name) {
    const response = await fetch(`/array/${name}`);
    return response.arrayBuffer();
}

/** Floats as base64, as that passes between processes fast. */
function textOf({ buffer, byteOffset, byteLength }) {
    const bytes = new Uint8Array(buffer, byteOffset, byteLength);
    let text = "";
    for (let i = 0; i < bytes.length; i += 32768)
        text += String.fromCharCode(...bytes.subarray(i, i + 32768));
    return btoa(text);
}

/** `sizes`: the task without its arrays. Gives a line about what runs. */
export async function start(name, sizes) {
    const [query, key, value] = await Promise.all(["query", "key", "value"].map(floatsOf));
    const { open } = await import(`../../page/${name}.mjs`);
    const { about, run, output } = await open({ ...sizes, query, key, value });
    globalThis.contender = {
        run: async () => void (await run()),
        outputText: () => textOf(output()),
        time: (seconds) => timeCalls(run, seconds),
    };
    return about;
}
