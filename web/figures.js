// The figures that bench/labs/figures has.

import { readFile, readdir } from "node:fs/promises";

const folder = new URL("../bench/labs/figures/", import.meta.url);

/** What a run has written of each panel: see `attn lab run --help`. */
export async function readFigures() {
    const files = (await readdir(folder)).filter((name) => name.endsWith(".json"));
    const names = files.map((file) => file.replace(/\.json$/, "")).sort(); // 3a before 3a-inside
    return Promise.all(
        names.map(async (name) => {
            const text = await readFile(new URL(`${name}.json`, folder), "utf8");
            return { ...JSON.parse(text), name, heights: await heightsOf(name) };
        }),
    );
}

/** Of a figure's picture: all of it, and without what is written under it, which the cards say in HTML. */
async function heightsOf(name) {
    const picture = await readFile(new URL(`${name}.svg`, folder), "utf8");
    const [, whole] = /^<svg [^>]*height="(\d+)"/.exec(picture) ?? [];
    const [, first] = /class="claim" x="\d+" y="([\d.]+)"/.exec(picture) ?? [];
    if (!whole || !first) throw new Error(`${name}.svg is no figure with its claim under it`);
    return { whole, shown: Math.floor(Number(first)) - 18 };
}
